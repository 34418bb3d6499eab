package pipeline

import (
	"errors"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// TestWrongNamesFields checks that every violated rule is listed with the recipe key that violates it, and a rule
// violated by a candidate with the key of the candidate.
func TestWrongNamesFields(t *testing.T) {
	columns := []dataset.Column{
		{Name: "a"},
		{Name: "b c", Private: true},
		{Name: "y"},
	}
	for name, c := range map[string]struct {
		p    Pipeline
		want map[string]error
	}{
		"nothing": {Pipeline{Target: "y"}, nil},
		"single": {
			Pipeline{
				Target:         "b c",
				Holdout:        .7,
				Selector:       selection.Kendall{K: 1},
				SelectionShare: 2,
				Model:          tukey.Tukey{},
				Fallback:       tukey.Tukey{},
				Budget: budget.Target{
					Relation: budget.SubstitutePrivateColumns,
					Unit:     budget.Unit{Column: "u", MaxRows: 2},
				},
			},
			map[string]error{
				"holdout":          ErrHoldout,
				"selection.share":  ErrShare,
				"model.fallback":   ErrFallback,
				"privacy.relation": ErrUnit,
			},
		},
		"search": {
			Pipeline{
				Target: "y",
				Budget: budget.Target{Composition: budget.Basic},
				Model:  adassp.JointGram{},
				Search: &Search{Candidates: []Candidate{
					{Model: svm.SVM{}},
					{Model: tukey.Tukey{}},
					{Model: svm.SVM{}},
					{SelectionShare: -1},
				}},
			},
			map[string]error{
				"model":                                ErrSearch,
				"search.runs":                          ErrSearch,
				"search.holdout":                       ErrSearch,
				"privacy.composition":                  ErrSearch,
				"privacy.delta":                        ErrSearch,
				"search.candidates[0].model.method":    ErrModel,
				"search.candidates[1].model.method":    ErrSearch,
				"search.candidates[2]":                 ErrSearch,
				"search.candidates[3].selection.share": ErrShare,
			},
		},
	} {
		c.p.Schema = dataset.Schema{Columns: columns, Unit: c.p.Budget.Unit.Column}
		got := map[string]error{}
		for _, wrong := range c.p.Wrong() {
			got[wrong.Field] = wrong
			if wrong.Message == "" || fault.KindOf(wrong) != fault.Recipe {
				t.Errorf("%s: %+v", name, wrong)
			}
		}
		for field, err := range c.want {
			if !errors.Is(got[field], err) {
				t.Errorf(
					"%s: %s: %v, want %v",
					name, field, got[field], err,
				)
			}
			delete(got, field)
		}
		if len(got) > 0 {
			t.Errorf("%s: also %v", name, got)
		}
	}
}
