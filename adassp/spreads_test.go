package adassp

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/method"
	"github.com/dptrain/dptrain/regression"
)

// TestSpreadsHoldTheirMean: the intervals are for privacy noise, so the interval of
// what a column adds holds its mean over many runs, near which the noise moves it; the
// penalty's pull is in both. Of 180 intervals that hold it with a chance of .92 each
// 140 or fewer do with probability below 1e-7.
func TestSpreadsHoldTheirMean(t *testing.T) {
	tab, columns, ranges := linearTable(t, 20000, .5)
	const fits, least = 60, 140
	for name, trainer := range map[string]method.Trainer{"joint-gram": JointGram{}, "adassp": AdaSSP{}} {
		var mean [3]float64
		var lower, upper [fits][3]float64
		for i := range fits {
			f, err := trainer.Fit(context.Background(), sessionFor(t, trainer, columns, 2, budget.AddRemove), dataOf(columns, tab.All(), ranges))
			if err != nil {
				t.Fatal(err)
			}
			for j, s := range f.Spreads[0] {
				var value float64
				value, lower[i][j], upper[i][j] = s.Root(1.96)
				mean[j] += value / fits
			}
		}
		held := 0
		for i := range fits {
			for j, m := range mean {
				if lower[i][j] <= m && m <= upper[i][j] {
					held++
				}
			}
		}
		if held <= least {
			t.Errorf("%s: %d of %d intervals hold the mean", name, held, 3*fits)
		}
		for j, want := range []float64{2 / math.Sqrt(3), 1 / math.Sqrt(3), .25} {
			if math.Abs(mean[j]-want) > .2*want {
				t.Errorf("%s: column %d: %v, want about %v", name, j, mean[j], want)
			}
		}
	}
}

// TestSpreadsOfNothing: without records nothing is known, and every number is finite.
func TestSpreadsOfNothing(t *testing.T) {
	tab, columns, ranges := linearTable(t, 0, 0)
	for range 20 {
		f := fit(t, 1, budget.AddRemove, tab, columns, ranges)
		for _, x := range regression.Importances(f.Model.Inputs(), f.Spreads, .95) {
			if math.IsNaN(x.Value+x.Lower+x.Upper) || math.IsInf(x.Upper, 0) || !(x.Lower <= x.Value && x.Value <= x.Upper) {
				t.Errorf("%+v", x)
			}
		}
	}
}

// TestSpreadOfANumberWithAnIndicator: the entries of one column are taken together.
// Here half of 400 records has the entries (x, 0), x = 1 and -1 in turn, and half is
// missing, (1/2, a): with coefficients 2 and -3, a = .4, they add 2, -2 and -.2.
func TestSpreadOfANumberWithAnIndicator(t *testing.T) {
	const n, a = 400, .4
	second := mat.NewSymDense(3, []float64{
		n/2 + n/8, n / 2 * a / 2, Kappa * n / 4,
		n / 2 * a / 2, n / 2 * a * a, Kappa * n / 2 * a,
		Kappa * n / 4, Kappa * n / 2 * a, Kappa * Kappa * n,
	})
	fit := solution{[]float64{2, -3, 0}, mat.NewSymDense(3, nil)}
	s := NewDistribution(second, 0).numberSpread(fit, 0, 2)
	if want := 2 + .5*.04 - .01; math.Abs(s.Variance-want) > 1e-12 || s.CountError != 0 || s.NullError != 0 {
		t.Errorf("%+v, want a variance of %v", s, want)
	}
	alone := NewDistribution(second, 2).numberSpread(solution{[]float64{2, 0, 0}, covarianceOf(3)}, 0, 1)
	if variance, noise, known := NewDistribution(second, 2).Variance(0); !known || math.Abs(alone.CountError-4*noise) > 1e-12 ||
		math.Abs(alone.Variance-(4-covarianceOf(3).At(0, 0))*variance) > 1e-12 {
		t.Errorf("%+v, of an entry with variance %v ± %v", alone, variance, noise)
	}
}
