package gram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAddProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := r.IntN(100)
		p := r.IntN(9)
		x := drawColumns(r, n, p)
		theta := make([]float64, p)
		f := make([]float64, n)
		for i := range f {
			f[i] = r.NormFloat64()
		}
		for k := range theta {
			theta[k] = r.NormFloat64() * math.Ldexp(1, r.IntN(40)-20)
			if r.IntN(4) == 0 {
				theta[k] = 0
			}
		}
		want := slices.Clone(f)
		addProductsGo(want, x, theta, 0)
		AddProducts(f, x, theta)
		if !slices.Equal(f, want) {
			t.Fatal(n, p, f, want)
		}
	}
}

func TestSquaredNorms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 300 {
		n := r.IntN(100)
		p := r.IntN(9)
		if k == 0 {
			p = 5000
		}
		x := drawColumns(r, n, p)
		norms := make([]uint64, n)
		for i := range norms {
			norms[i] = r.Uint64()
		}
		want := make([]uint64, n)
		for _, column := range x {
			for i, v := range column {
				want[i] += uint64(int64(v) * int64(v))
			}
		}
		if !SquaredNorms(norms, x) || !slices.Equal(norms, want) {
			t.Fatal(n, p, norms, want)
		}
		for _, long := range []int16{
			MaxAbs + 1, math.MaxInt16,
			-MaxAbs - 1, math.MinInt16,
		} {
			if n == 0 || p == 0 {
				break
			}
			i := r.IntN(p)
			j := r.IntN(n)
			before := x[i][j]
			x[i][j] = long
			if SquaredNorms(norms, x) {
				t.Fatal(
					n, p, long,
					"is taken for a number within bounds",
				)
			}
			x[i][j] = before
		}
	}
}

// drawColumns returns random columns with many numbers of the largest size.
func drawColumns(r *rand.Rand, n, p int) [][]int16 {
	out := make([][]int16, p)
	for k := range out {
		out[k] = make([]int16, n)
		for i := range out[k] {
			switch r.IntN(4) {
			case 0:
				out[k][i] = MaxAbs
			case 1:
				out[k][i] = -MaxAbs
			default:
				out[k][i] = int16(r.IntN(2*MaxAbs+1) - MaxAbs)
			}
		}
	}
	return out
}
