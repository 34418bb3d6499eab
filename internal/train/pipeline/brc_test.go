package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/method"
)

// TestBRCForms checks that each form spends the mechanism and the number of rounds that it declares, and that all
// forms learn. A single fit of the published form, the least exact, is below .7 in at most 1 of 100 runs (lowest of
// 60: .748), so its median of nine fits is with odds below 2e-8.
func TestBRCForms(t *testing.T) {
	tab := loansTable(t, 6000, "no", "yes")
	for _, c := range []struct {
		form   string
		rounds int
		kind   budget.Kind
		draws  int
	}{
		{"", 0, budget.Gaussian, boosting.DefaultBRCRounds},
		{boosting.Gaussian, 30, budget.Gaussian, 30},
		{boosting.Laplace, 0, budget.Laplace, boosting.DefaultBRCRounds},
		{boosting.Paper, 0, budget.Laplace, boosting.PublishedBRCRounds},
		{boosting.Paper, 40, budget.Laplace, 40},
	} {
		p := gradePipeline(tab)
		p.Budget.Relation = budget.Substitute
		p.Model = boosting.BRC{Form: c.form, Rounds: c.rounds}
		var fits [9]float64
		for k := range fits {
			res, err := p.Fit(context.Background(), tab, Options{})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(res.Events, func(e mechanism.Event) bool {
				return strings.HasSuffix(e.Path, "/agreement")
			})
			if i < 0 {
				t.Fatalf(
					"%q, %d rounds: no release of agreements",
					c.form, c.rounds,
				)
			}
			e := res.Events[i]
			if e.Law.Kind != c.kind ||
				e.Law.Draws != c.draws ||
				e.Released != c.draws {
				t.Errorf(
					"%q, %d rounds: %+v",
					c.form, c.rounds, e,
				)
			}
			fits[k] = exactAccuracy(t, res.Model, tab)
		}
		if slices.Sort(fits[:]); fits[4] < .7 {
			t.Errorf(
				"%q, %d rounds: accuracies %v",
				c.form, c.rounds, fits,
			)
		}
	}
}

// TestBRCPure checks that with declared ranges and without a held-out part only the form with Laplace noise has a
// plan at delta 0.
func TestBRCPure(t *testing.T) {
	tab := loansTable(t, 0, "no", "yes")
	p := gradePipeline(tab)
	p.Model = boosting.BRC{}
	p.Holdout = 0
	p.DeclaredScaling = true
	p.Budget.Delta = 0
	p.Schema.Columns = append([]dataset.Column(nil), p.Schema.Columns...)
	p.Schema.Columns[0].Ranged = true
	p.Schema.Columns[0].Lower = 0
	p.Schema.Columns[0].Upper = 100
	for form, want := range map[string]bool{
		boosting.Gaussian: false,
		boosting.Laplace:  true,
	} {
		p.Model = boosting.BRC{Form: form}
		plan, err := p.Plan()
		if (err == nil) != want {
			t.Errorf("%s: %v", form, err)
		}
		if err == nil &&
			(plan.Guarantee().Delta != 0 || plan.Guarantee().Epsilon > p.Budget.Epsilon) {
			t.Errorf(
				"%s: %+v",
				form, plan.Guarantee(),
			)
		}
	}
}

// TestBRCFormsRefused checks that an unknown form, too large a number of rounds, and the published form with a
// private number of records are refused before a row is read.
func TestBRCFormsRefused(t *testing.T) {
	for _, c := range []struct {
		form   string
		rounds int
		want   error
	}{
		{"uniform", 0, method.ErrForm},
		{boosting.Paper, 0, boosting.ErrPublished},
		{"", boosting.MaxRounds + 1, boosting.ErrRounds},
	} {
		p := gradePipeline(loansTable(t, 0, "no", "yes"))
		p.Model = boosting.BRC{Form: c.form, Rounds: c.rounds}
		_, err := p.Plan()
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%q, %d rounds: %v",
				c.form, c.rounds, err,
			)
		}
	}
}
