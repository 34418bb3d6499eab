package gram

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPinNeedsNoGuess checks that for any guess the interval contains the smallest eigenvalue, even of matrices as
// large as sums can be.
func TestPinNeedsNoGuess(t *testing.T) {
	for _, c := range []struct {
		entries []float64 // upper triangle
		want    float64
	}{
		{[]float64{2, 1, 2}, 1},
		{[]float64{1, 0, 1}, 1},
		{[]float64{4, 4, 4}, 0},
		{[]float64{0, 0, 0}, 0},
		{[]float64{0x1p30 + 3, 0x1p30, 0x1p30 + 3}, 3},
		{[]float64{0x1p31, 0, 0x1p31}, 0x1p31},
	} {
		a := mat.NewSymDense(
			2,
			[]float64{
				c.entries[0],
				c.entries[1], 0,
				c.entries[2],
			},
		)
		for _, guess := range []float64{c.want, 0, -5, math.NaN(), math.Inf(1), c.want * 1.1,
			c.want * .9, 1e300} {
			const width, rounding = 1. / 4096, 1e-5
			got := pinEigenvalue(a, width, guess)
			if got > c.want+rounding || got < c.want-width-rounding || got < 0 {
				t.Errorf(
					"%v with guess %v: %v, want %v",
					c.entries, guess, got, c.want,
				)
			}
		}
	}
}
