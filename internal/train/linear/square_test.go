package linear

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSquare compares the entries with those of the plain product.
func TestSquare(t *testing.T) {
	for _, k := range []int{1, 2, 7, 70} {
		s := mat.NewSymDense(k, nil)
		for i := range k {
			for j := i; j < k; j++ {
				s.SetSym(i, j, math.Sin(float64(3*i+7*j)))
			}
		}
		var want mat.Dense
		want.Mul(s, s)
		got := Square(s)
		if !mat.EqualApprox(got, &want, 1e-12*float64(k)) {
			t.Errorf("%d rows: %v", k, got)
		}
	}
}

// BenchmarkSquare compares the product with gonum's product of two symmetric matrices.
func BenchmarkSquare(b *testing.B) {
	s := mat.NewSymDense(500, nil)
	for i := range 500 {
		for j := i; j < 500; j++ {
			s.SetSym(i, j, math.Sin(float64(3*i+7*j)))
		}
	}
	b.Run("square", func(b *testing.B) {
		for b.Loop() {
			Square(s)
		}
	})
	b.Run("product", func(b *testing.B) {
		for b.Loop() {
			var p mat.Dense
			p.Mul(s, s)
		}
	})
}
