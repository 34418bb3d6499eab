package pipeline

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// TestOrderedScoresAreASignal checks that a model whose answers are all of the frequent class is reported as one without a
// signal only if its scores do not order records either.
func TestOrderedScoresAreASignal(t *testing.T) {
	for _, c := range []struct {
		name            string
		balanced, auc   float64 // lower ends; no AUC if it is negative
		signal, ordered bool
	}{
		{"neither", .49, .5, false, false},
		{"no scores", .49, -1, false, false},
		{"scores", .49, .69, true, true},
		{"answers", .51, .5, true, false},
		{"both", .51, .69, true, true},
	} {
		x := &evaluate.Confusion{Classes: []string{"no", "yes"}}
		x.Balanced.Lower = c.balanced
		x.Largest.GainLower = -.01
		if c.auc >= 0 {
			x.Scores = &evaluate.Scores{AUC: &evaluate.Share{Value: .7, Lower: c.auc, Upper: .8}}
		}
		text := map[string]string{}
		for _, w := range classWarnings(x, false) {
			text[w.Code] = w.Text
		}
		_, none := text[stage.CodeNoSignal]
		majority, warned := text[stage.CodeMajorityClass]
		if none == c.signal || warned != c.signal || strings.HasSuffix(majority, OrderedScores) != c.ordered {
			t.Errorf("%s: %v", c.name, text)
		}
	}
}
