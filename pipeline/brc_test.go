package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// TestBRCForms: each form spends the law and the number of rounds that it says,
// and all of them learn.
func TestBRCForms(t *testing.T) {
	tab := loans(t, 6000, "no", "yes")
	for _, c := range []struct {
		form   string
		rounds int
		kind   budget.Kind
		draws  int
	}{
		{"", 0, budget.Gaussian, boosting.DefaultBRCRounds},
		{BRCGaussian, 30, budget.Gaussian, 30},
		{BRCLaplace, 0, budget.Laplace, boosting.DefaultBRCRounds},
		{BRCPaper, 0, budget.Laplace, boosting.PublishedBRCRounds},
		{BRCPaper, 40, budget.Laplace, 40},
	} {
		p := classify(tab)
		p.Budget.Relation, p.Model, p.Form, p.Rounds = budget.Substitute, BRC, c.form, c.rounds
		res, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range res.Events {
			if strings.HasSuffix(e.Path, "/agreement") {
				found = true
				if e.Law.Kind != c.kind || e.Law.Draws != c.draws || e.Released != c.draws {
					t.Errorf("%q, %d rounds: %+v", c.form, c.rounds, e)
				}
			}
		}
		if a := accuracy(t, res.Model, tab); !found || a < .7 {
			t.Errorf("%q, %d rounds: accuracy %v", c.form, c.rounds, a)
		}
	}
}

// TestBRCPure: with declared ranges and no held-out part the form with Laplace
// noise has a plan at delta 0, and the others have none.
func TestBRCPure(t *testing.T) {
	tab := loans(t, 0, "no", "yes")
	p := classify(tab)
	p.Model, p.Holdout, p.DeclaredScaling, p.Budget.Delta = BRC, 0, true, 0
	p.Schema.Columns = append([]dataset.Column(nil), p.Schema.Columns...)
	p.Schema.Columns[0].Ranged, p.Schema.Columns[0].Lower, p.Schema.Columns[0].Upper = true, 0, 100
	for form, want := range map[string]bool{BRCGaussian: false, BRCLaplace: true} {
		p.Form = form
		plan, err := p.Plan()
		if (err == nil) != want {
			t.Errorf("%s: %v", form, err)
		}
		if err == nil && (plan.Guarantee().Delta != 0 || plan.Guarantee().Epsilon > p.Budget.Epsilon) {
			t.Errorf("%s: %+v", form, plan.Guarantee())
		}
	}
}

// TestBRCFormsRefused: an unknown form, too many rounds, and the published form
// where the number of records is private, before a row is read.
func TestBRCFormsRefused(t *testing.T) {
	for _, c := range []struct {
		form   string
		rounds int
		want   error
	}{{"uniform", 0, ErrForm}, {BRCPaper, 0, boosting.ErrPublished}, {"", boosting.MaxRounds + 1, boosting.ErrRounds}} {
		p := classify(loans(t, 0, "no", "yes"))
		p.Model, p.Form, p.Rounds = BRC, c.form, c.rounds
		if _, err := p.Plan(); !errors.Is(err, c.want) {
			t.Errorf("%q, %d rounds: %v", c.form, c.rounds, err)
		}
	}
}
