package adassp

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// TestSpreadsHoldTheirMean checks the intervals of the columns' contributions. They cover privacy noise only, so each
// should contain the mean over many runs; both include the bias of the penalty. If each of 180 intervals contains it
// with probability .92, 140 or fewer do with probability below 1e-7.
func TestSpreadsHoldTheirMean(t *testing.T) {
	tab, columns, ranges := linearTable(t, 20000, .5)
	const (
		fits  = 60
		least = 140
	)
	for name, trainer := range map[string]method.Trainer{
		"joint-gram": JointGram{},
		"adassp":     AdaSSP{},
	} {
		var mean [3]float64
		var lower, upper [fits][3]float64
		for i := range fits {
			f, err := trainer.Fit(
				context.Background(),
				sessionFor(t, trainer, columns, 2, budget.AddRemove),
				dataOf(columns, tab.View(), ranges),
			)
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
			t.Errorf(
				"%s: %d of %d intervals hold the mean",
				name, held, 3*fits,
			)
		}
		for j, want := range []float64{
			2 / math.Sqrt(3),
			1 / math.Sqrt(3), .25,
		} {
			if math.Abs(mean[j]-want) > .2*want {
				t.Errorf(
					"%s: column %d: %v, want about %v",
					name, j, mean[j], want,
				)
			}
		}
	}
}

// TestSpreadsWithoutRecordsAreFinite checks that without records every interval is finite and contains its value.
func TestSpreadsWithoutRecordsAreFinite(t *testing.T) {
	tab, columns, ranges := linearTable(t, 0, 0)
	for range 20 {
		f := fitJointGram(t, 1, budget.AddRemove, tab, columns, ranges)
		for _, x := range regression.Importances(
			f.Model.Inputs(), f.Spreads,
			.95,
		) {
			if math.IsNaN(x.Value+x.Lower+x.Upper) ||
				math.IsInf(x.Upper, 0) ||
				!(x.Lower <= x.Value && x.Value <= x.Upper) {
				t.Errorf("%+v", x)
			}
		}
	}
}
