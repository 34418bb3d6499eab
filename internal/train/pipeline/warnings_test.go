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
			Quality: evaluate.Quality{
				Value: value,
				Lower: lower,
				Upper: upper,
			},
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
	empty := quality(.5, -.5, .6)
	empty.Missing.Value = 990
	empty.Records.Value = 10
	guarantee := func(epsilon float64) budget.Guarantee {
		return budget.Guarantee{Epsilon: epsilon}
	}
	for _, tt := range []struct {
		name string
		res  Result
		want []string
	}{
		{"good", Result{
			Model:     model,
			R2:        good,
			Guarantee: guarantee(10),
		}, nil},
		{
			"large epsilon",
			Result{
				Model:     model,
				R2:        good,
				Guarantee: guarantee(10.5),
			},
			[]string{"large-epsilon"},
		},
		{
			"no holdout",
			Result{Model: model, Guarantee: guarantee(1)},
			[]string{"no-metric"},
		},
		{
			"no signal",
			Result{
				Model:     model,
				R2:        quality(-.1, -.3, 0),
				Guarantee: guarantee(1),
			},
			[]string{"no-signal"},
		},
		{
			"wide",
			Result{
				Model:     model,
				R2:        quality(.5, .3, .6),
				Guarantee: guarantee(1),
			},
			[]string{"wide-interval"},
		},
		{
			"unknown",
			Result{
				Model:     model,
				R2:        quality(.5, -.5, .6),
				Guarantee: guarantee(1),
			},
			[]string{"wide-interval"},
		},
		{
			"far",
			Result{
				Model:     model,
				R2:        far,
				Guarantee: guarantee(1),
			},
			[]string{"far-targets"},
		},
		{
			"large errors",
			Result{
				Model:     model,
				R2:        large,
				Guarantee: guarantee(1),
			},
			[]string{"large-errors"},
		},
		{
			"missing",
			Result{
				Model:     model,
				R2:        missing,
				Guarantee: guarantee(1),
			},
			[]string{"missing-targets"},
		},
		{
			"empty",
			Result{
				Model:     model,
				R2:        empty,
				Guarantee: guarantee(1),
			},
			[]string{"missing-targets", "no-ledger", "wide-interval"},
		},
		{
			"abstained",
			Result{Abstained: true, Guarantee: guarantee(1)},
			[]string{"abstained"},
		},
		{
			"fallback",
			Result{
				Abstained: true,
				Model:     model,
				R2:        good,
				Guarantee: guarantee(20),
			},
			[]string{"fallback", "large-epsilon"},
		},
	} {
		var codes []string
		for _, w := range (&Pipeline{}).warnings(&tt.res) {
			codes = append(codes, w.Code)
			if w.Text == "" ||
				!slices.Contains([]Severity{Critical, Theoretical, Negligible}, w.Severity) {
				t.Errorf("%s: %+v", tt.name, w)
			}
		}
		want := tt.want
		if !slices.Contains(want, "no-ledger") {
			want = append([]string{"no-ledger"}, want...)
		}
		if !slices.Equal(codes, want) {
			t.Errorf(
				"%s: %q, want %q",
				tt.name, codes, want,
			)
		}
	}
}

// TestUnknownClasses checks that a run whose labels are mostly outside the declared classes states that as the cause,
// with the remedy, and that found classes keep their own warning.
func TestUnknownClasses(t *testing.T) {
	share := func(lower float64) evaluate.Share {
		return evaluate.Share{
			Value: lower + .01,
			Lower: lower,
			Upper: lower + .02,
		}
	}
	for _, tt := range []struct {
		lower float64
		found bool
		want  string
	}{
		{.001, false, ""},
		{.02, false, "unknown-classes"},
		{.4, false, "unknown-classes"},
		{.9, false, "no-classes"},
		{.9, true, "unknown-classes"},
	} {
		code := ""
		for _, w := range unknownClasses(share(tt.lower), tt.found) {
			code = w.Code
		}
		if code != tt.want {
			t.Errorf("%+v: %q", tt, code)
		}
	}
}
