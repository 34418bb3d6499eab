package linear

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSpreadOfANumberWithAnIndicator checks that the entries of one column are combined. Here half of 400 records has
// the entries (x, 0), x = 1 and -1 in turn, and the other half is missing, (1/2, a): with coefficients 2 and -3, a =
// .4, they contribute 2, -2 and -.2.
func TestSpreadOfANumberWithAnIndicator(t *testing.T) {
	const (
		n = 400
		a = .4
	)
	second := mat.NewSymDense(3, []float64{
		n/2 + n/8, n / 2 * a / 2, Kappa * n / 4,
		n / 2 * a / 2, n / 2 * a * a, Kappa * n / 2 * a,
		Kappa * n / 4, Kappa * n / 2 * a, Kappa * Kappa * n,
	})
	fit := Solution{[]float64{2, -3, 0}, mat.NewSymDense(3, nil)}
	s := NewDistribution(second, 0).numberSpread(fit, 0, 2)
	want := 2 + .5*.04 - .01
	if math.Abs(s.Variance-want) > 1e-12 ||
		s.CountError != 0 ||
		s.NullError != 0 {
		t.Errorf(
			"%+v, want a variance of %v",
			s, want,
		)
	}
	alone := NewDistribution(second, 2).numberSpread(
		Solution{[]float64{2, 0, 0}, covarianceOf(3)},
		0,
		1,
	)
	variance, noise, known := NewDistribution(second, 2).Variance(0)
	if !known ||
		math.Abs(alone.CountError-4*noise) > 1e-12 ||
		math.Abs(alone.Variance-(4-covarianceOf(3).At(0, 0))*variance) > 1e-12 {
		t.Errorf(
			"%+v, of an entry with variance %v ± %v",
			alone, variance, noise,
		)
	}
}
