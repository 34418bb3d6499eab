//go:build replay

package pipeline

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// TestConfidenceOfRuns checks that a run has the probabilities of all columns if its selector releases scores, a gap
// if it does not, and neither without a private choice. With a large budget the four columns that separate the
// classes are nearly certain. Keys are fixed.
func TestConfidenceOfRuns(t *testing.T) {
	p, tab := gradedPipeline(t, 3000)
	p.Budget.Epsilon = 8
	for _, tt := range []struct {
		x            selection.Selector
		probable, on bool
	}{
		{selection.DPFSDR{Sizes: []int{1, 4, 8}}, true, true},
		{selection.DPFS{K: 4, Exact: true}, true, true},
		{selection.GreedyGram{K: 4}, true, true},
		{selection.SIS{K: 4}, false, true},
		{selection.Kendall{K: 4}, false, true},
		{selection.None{}, false, false},
	} {
		run := *p
		if run.Selector = tt.x; tt.x.Name() != "dpfsdr" {
			run.SizeRuns = 0
		}
		plan, err := run.Plan()
		if err != nil {
			t.Fatal(err)
		}
		res, err := run.FitRecorded(
			context.Background(),
			plan,
			tab,
			Options{},
			mechanism.NewRecorder(3),
		)
		if err != nil {
			t.Fatal(err)
		}
		c := res.Confidence
		if (c != nil) != tt.on {
			t.Fatalf(
				"%s: confidence %+v",
				tt.x.Name(), c,
			)
		}
		if c == nil {
			continue
		}
		if (len(c.Columns) > 0) != tt.probable ||
			(c.Gap == nil) != tt.probable ||
			c.Selector != tt.x.Name() {
			t.Errorf(
				"%s: %+v",
				tt.x.Name(), c,
			)
		}
		sum := 0.
		for j, x := range c.Columns {
			sum += x.Probability
			if x.Column != tab.Schema().Columns[j].Name {
				t.Errorf(
					"%s: column %d is %q",
					tt.x.Name(), j, x.Column,
				)
			}
			if len(res.Selected) == 4 &&
				slices.Contains(res.Selected, x.Column) &&
				!(x.Probability > .9) {
				t.Errorf(
					"%s: %q has the probability %.2f",
					tt.x.Name(),
					x.Column,
					x.Probability,
				)
			}
		}
		if tt.probable &&
			math.Abs(sum-float64(len(res.Selected))) > 1e-9 {
			t.Errorf(
				"%s: probabilities add up to %v for %v",
				tt.x.Name(), sum, res.Selected,
			)
		}
	}
}
