package rescale

import (
	"math"
	"testing"
)

// Every number has a finite transformed value, NaN stays NaN, and the order is kept.
func TestRulesAreTotal(t *testing.T) {
	numbers := []float64{math.Inf(-1), -math.MaxFloat64, -1, math.Copysign(0, -1), 0,
		math.SmallestNonzeroFloat64, Floor / 2, Floor, .5, 1, 7, 1e9, math.MaxFloat64}
	for _, r := range []Rule{{Transform: Log}, {Transform: Log, Ranged: true, Lower: 2},
		{Transform: Sqrt}, {Transform: Sqrt, Ranged: true, Lower: 4}, {}} {
		last := math.Inf(-1)
		for _, y := range numbers {
			z := r.Apply(y)
			if r.Transform != None && (math.IsNaN(z) || math.IsInf(z, 0)) {
				t.Errorf("%+v of %v is %v", r, y, z)
			}
			if z < last {
				t.Errorf("%+v of %v is %v, below that of a smaller number", r, y, z)
			}
			last = z
			if back := r.Transform.Inverse(z); y >= Floor && y < 1e300 && !r.Ranged &&
				math.Abs(back-y) > 1e-12*y {
				t.Errorf("%+v of %v goes back to %v", r, y, back)
			}
		}
		if z := r.Apply(math.NaN()); z == z {
			t.Errorf("%+v of a missing cell is %v", r, z)
		}
	}
}

// The inverse transformation is finite, grows with the prediction and stays within the limits.
func TestBackStaysWithinLimits(t *testing.T) {
	for _, b := range []*Back{
		{Log, 0, 1, 0, 0, 1e300}, {Log, .1, .8, .4, 2, 50}, {Log, 0, 2, MostLogVariance, 0, 1e308},
		{Sqrt, 0, 1, 0, 0, 100}, {Sqrt, -3, 1.2, 3, 0, 1e307},
		{Sqrt, 0, 0, 1e300, 5, 5}, {None, .3, .9, 0, -4, 7},
	} {
		for _, limits := range [][2]float64{{-14, 20}, {0, 0}, {-1e308, 1e308}, {700, 720}} {
			last := math.Inf(-1)
			for _, share := range []float64{0, .1, .5, .9, 1} {
				y := b.Mean(limits[0]*(1-share)+limits[1]*share, limits[0], limits[1])
				if !(y >= b.Lower && y <= b.Upper) || math.IsInf(y, 0) || y < last {
					t.Errorf("%+v in %v at %v: %v after %v", b, limits, share, y, last)
				}
				last = y
			}
		}
	}
	if y := (*Back)(nil).Mean(7, 0, 1); y != 7 {
		t.Errorf("no way back makes %v of 7", y)
	}
}

// For normal errors the mean of exp(z + e) is exp(z + v/2), and for any errors the mean of (z + e)² is z² + v.
func TestBackIsTheMean(t *testing.T) {
	const (
		steps = 4000
		sd    = .6
	)
	var logs, squares, weights float64
	for i := range steps {
		e := -6 + 12*(float64(i)+.5)/steps
		w := math.Exp(-e * e / 2)
		weights += w
		logs += w * math.Exp(2+sd*e)
		squares += w * (2 + sd*e) * (2 + sd*e)
	}
	if got, want := (&Back{Log, 1, .5, sd * sd, 0, 1e9}).Mean(2, -100, 100),
		logs/weights; math.Abs(got-want) > 1e-6*want {
		t.Errorf("log: %v, the mean is %v", got, want)
	}
	if got, want := (&Back{Sqrt, 0, 1, sd * sd, 0, 1e9}).Mean(2, 0, 100),
		squares/weights; math.Abs(got-want) > 1e-6*want {
		t.Errorf("sqrt: %v, the mean is %v", got, want)
	}
}
