package boosting

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// truthOfCurves returns, for each column of a curvedSample, the standard deviation of its true contribution to the
// target over the records.
func truthOfCurves(x sample) []float64 {
	out := make([]float64, 4)
	for j, f := range []func(float64) float64{
		func(a float64) float64 {
			return 2 * math.Sin(3*a)
		},
		func(b float64) float64 {
			return 3 * b * b
		},
		func(c float64) float64 {
			return c / 2
		},
	} {
		sum := 0.
		squares := 0.
		for _, v := range x.tab.Float(j) {
			sum += f(v)
			squares += f(v) * f(v)
		}
		n := float64(x.tab.Len())
		out[j] = math.Sqrt(squares/n - sum*sum/n/n)
	}
	out[3] = .5
	return out
}

// TestSpreadsHoldTheTruth checks that in a table of known curves the interval of a column's contribution covers its
// standard deviation over the records. Smoothing and the curve of the score, which the intervals leave out, take a
// little of the 95% (measured: 94%). If each of 200 intervals covers it with probability .9, then 150 or fewer do
// with probability below 1e-9.
func TestSpreadsHoldTheTruth(t *testing.T) {
	x := curvedSample(t, 10000, .1)
	want := truthOfCurves(x)
	held := 0
	of := 0
	for range 50 {
		fit, _ := x.trainAdditive(t, 1, budget.AddRemove)
		for j, s := range fit.Spreads[0] {
			_, lower, upper := s.Root(1.96)
			if of++; lower <= want[j] && want[j] <= upper {
				held++
			}
		}
	}
	if held <= 150 {
		t.Errorf(
			"%d of %d intervals hold the truth",
			held, of,
		)
	}
}

// TestAdditiveStandardErrors checks over repeated fits of one table that the spread of the coefficients of a
// category, of a two-valued number and of the intercept does not exceed their standard errors, which include the part
// that curves may take over. The standard errors are first-order approximations (measured: a variance of 1.3 times
// the claimed one). The variance of 120 normal draws exceeds 2.4/1.3 times its mean with probability below 1e-6.
func TestAdditiveStandardErrors(t *testing.T) {
	x := curvedSample(t, 4000, .1)
	const fits = 120
	var sum, squares, claimed [3]float64
	for range fits {
		fit, _ := x.trainAdditive(t, 3, budget.AddRemove)
		m := fit.Linear()
		for i, v := range [][2]float64{
			{m.Intercept, m.InterceptStdError},
			{m.Terms[2].Coefficient, m.Terms[2].StdError},
			{m.Terms[3].Coefficient, m.Terms[3].StdError},
		} {
			sum[i] += v[0]
			squares[i] += v[0] * v[0]
			claimed[i] += v[1] * v[1] / fits
		}
	}
	for i := range sum {
		variance := (squares[i] - sum[i]*sum[i]/fits) / (fits - 1)
		if variance > 2.4*claimed[i] {
			t.Errorf(
				"number %d: observed variance is %.2f times the claimed one",
				i,
				variance/claimed[i],
			)
		}
	}
}
