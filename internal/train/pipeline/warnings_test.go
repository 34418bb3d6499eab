package pipeline

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/regression"
)

// TestWarnings checks the warnings of a run, which follow from its plan and its released values.
func TestWarnings(t *testing.T) {
	model := &regression.Linear{}
	quality := func(value, lower, upper float64) *evaluate.R2 {
		return &evaluate.R2{
			Quality:        evaluate.Quality{Value: value, Lower: lower, Upper: upper},
			AllErrorsLower: lower - .2,
			Records:        evaluate.Count{Value: 1000, Sigma: 9},
			Missing:        evaluate.Count{Value: 12, Sigma: 3},
		}
	}
	good := quality(.8, .7, .9)
	far := quality(.8, .7, .9)
	large := quality(.8, .7, .9)
	missing := quality(.8, .7, .9)
	far.Far = true
	large.AllErrorsLower = .4
	missing.Missing.Value = 40
	guarantee := func(epsilon float64) budget.Guarantee {
		return budget.Guarantee{Epsilon: epsilon}
	}
	for _, tt := range []struct {
		name string
		res  Result
		want []string
	}{
		{"good", Result{Model: model, R2: good, Guarantee: guarantee(10)}, nil},
		{"large epsilon", Result{Model: model, R2: good, Guarantee: guarantee(10.5)},
			[]string{"large-epsilon"}},
		{"no holdout", Result{Model: model, Guarantee: guarantee(1)}, []string{"no-metric"}},
		{"no signal", Result{Model: model, R2: quality(-.1, -.3, 0), Guarantee: guarantee(1)},
			[]string{"no-signal"}},
		{"wide", Result{Model: model, R2: quality(.5, .3, .6), Guarantee: guarantee(1)},
			[]string{"wide-interval"}},
		{"unknown", Result{Model: model, R2: quality(.5, -.5, .6), Guarantee: guarantee(1)},
			[]string{"wide-interval"}},
		{"far", Result{Model: model, R2: far, Guarantee: guarantee(1)}, []string{"far-targets"}},
		{"large errors", Result{Model: model, R2: large, Guarantee: guarantee(1)},
			[]string{"large-errors"}},
		{"missing", Result{Model: model, R2: missing, Guarantee: guarantee(1)},
			[]string{"missing-targets"}},
		{"abstained", Result{Abstained: true, Guarantee: guarantee(1)}, []string{"abstained"}},
		{"fallback", Result{Abstained: true, Model: model, R2: good, Guarantee: guarantee(20)},
			[]string{"fallback", "large-epsilon"}},
	} {
		var codes []string
		for _, w := range (&Pipeline{}).warnings(&tt.res) {
			codes = append(codes, w.Code)
			if w.Text == "" ||
				!slices.Contains([]Severity{Critical, Theoretical, Negligible}, w.Severity) {
				t.Errorf("%s: %+v", tt.name, w)
			}
		}
		if want := append([]string{"no-ledger"}, tt.want...); !slices.Equal(codes, want) {
			t.Errorf("%s: %q, want %q", tt.name, codes, want)
		}
	}
}
