package pipeline

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/evaluate"
	"github.com/dptrain/dptrain/regression"
)

// TestWarnings: which remarks a run earns, from its plan and its released values.
func TestWarnings(t *testing.T) {
	model := &regression.Linear{}
	good := &evaluate.R2{Value: .8, Lower: .7, Upper: .9}
	guarantee := func(epsilon float64) budget.Guarantee { return budget.Guarantee{Epsilon: epsilon} }
	for _, tt := range []struct {
		name string
		res  Result
		want []string
	}{
		{"good", Result{Model: model, R2: good, Guarantee: guarantee(10)}, nil},
		{"large epsilon", Result{Model: model, R2: good, Guarantee: guarantee(10.5)}, []string{"large-epsilon"}},
		{"no holdout", Result{Model: model, Guarantee: guarantee(1)}, []string{"no-metric"}},
		{"no signal", Result{Model: model, R2: &evaluate.R2{Value: -.1, Lower: -.3, Upper: 0}, Guarantee: guarantee(1)}, []string{"no-signal"}},
		{"wide", Result{Model: model, R2: &evaluate.R2{Value: .5, Lower: .3, Upper: .6}, Guarantee: guarantee(1)}, []string{"wide-interval"}},
		{"abstained", Result{Abstained: true, Guarantee: guarantee(1)}, []string{"abstained"}},
		{"fallback", Result{Abstained: true, Model: model, R2: good, Guarantee: guarantee(20)}, []string{"fallback", "large-epsilon"}},
	} {
		var codes []string
		for _, w := range (&Pipeline{}).warnings(&tt.res) {
			codes = append(codes, w.Code)
			if w.Text == "" || !slices.Contains([]Severity{Critical, Theoretical, Negligible}, w.Severity) {
				t.Errorf("%s: %+v", tt.name, w)
			}
		}
		if want := append([]string{"no-ledger"}, tt.want...); !slices.Equal(codes, want) {
			t.Errorf("%s: %q, want %q", tt.name, codes, want)
		}
	}
}
