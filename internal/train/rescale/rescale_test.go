package rescale

import (
	"math"
	"testing"
)

// Every number has a finite transformed value, NaN stays NaN, and the order is kept.
func TestRulesAreTotal(t *testing.T) {
	numbers := []float64{math.Inf(-1), -math.MaxFloat64, -1, math.Copysign(0, -1), 0,
		math.SmallestNonzeroFloat64, Floor / 2, Floor, .5, 1, 7, 1e9, math.MaxFloat64}
	for _, r := range []Rule{
		{Transform: Log},
		{Transform: Log, Ranged: true, Lower: 2},
		{Transform: Sqrt},
		{Transform: Sqrt, Ranged: true, Lower: 4},
		{},
	} {
		last := math.Inf(-1)
		for _, y := range numbers {
			z := r.Apply(y)
			if r.Transform != None &&
				(math.IsNaN(z) || math.IsInf(z, 0)) {
				t.Errorf(
					"%+v of %v is %v",
					r, y, z,
				)
			}
			if z < last {
				t.Errorf(
					"%+v of %v is %v, below that of a smaller number",
					r, y, z,
				)
			}
			last = z
			back := r.Transform.Inverse(z)
			if y >= Floor &&
				y < 1e300 &&
				!r.Ranged &&
				math.Abs(back-y) > 1e-12*y {
				t.Errorf(
					"%+v of %v goes back to %v",
					r, y, back,
				)
			}
		}
		z := r.Apply(math.NaN())
		if z == z {
			t.Errorf(
				"%+v of a missing cell is %v",
				r, z,
			)
		}
	}
}
