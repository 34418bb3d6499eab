package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFractions compares with one division after the other, bit by bit.
func TestFractions(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	for count := range 40 {
		x, n := make([]float64, count), make([]float64, count)
		for i := range x {
			x[i], n[i] = math.Exp(6*r.Float64()-2), float64(1+r.IntN(40))
		}
		want := make([]float64, count)
		for i := range x {
			want[i] = x[i]
			for k := n[i]; k > 0; k-- {
				want[i] = x[i] + k/want[i]
			}
		}
		got := append([]float64{}, x...)
		done := Fractions(got, n)
		if done != groups(count) {
			t.Errorf("%d of %d were taken, want %d", done, count, groups(count))
		}
		for i, v := range got {
			if w := want[i]; i < done && math.Float64bits(v) != math.Float64bits(w) || i >= done && v != x[i] {
				t.Errorf("number %d of %d, x %v and %v terms: %v, want %v", i, count, x[i], n[i], v, w)
			}
		}
	}
}
