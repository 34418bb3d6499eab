package audit

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// TestLeavesNameTheirStatistic checks that leaves with misleading names are audited by the statistic that they
// release.
func TestLeavesNameTheirStatistic(t *testing.T) {
	sis := func(form mechanism.TopKForm) func(*pipeline.Pipeline) {
		return func(p *pipeline.Pipeline) {
			p.Selector = selection.SIS{
				K:     2,
				Score: selection.ScoreTau,
				TopK:  form,
			}
		}
	}
	for _, c := range []struct {
		recipe, leaf string
		want         budget.Statistic
		change       func(*pipeline.Pipeline)
	}{
		{"logistic-output", "output", "minimizer", nil},
		{"boosted-additive", "residuals", "histogram", nil},
		{"boosted-kernel", "residuals", "histogram", nil},
		{"boosted-kernel", "boosted-kernel/sums", "cross", nil},
		{"sublasso", "sublasso", "peeling", nil},
		{"brc-paper", "agreement", "agreement ratio", nil},
		{"private-columns", "gram", "private blocks", nil},
		{"private-columns", "confusion", "tally", nil},
		{"private-target", "greedy-gram/gram", "label sums", nil},
		{"private-target", "model/gram", "label sums", nil},
		{"private-target-classes", "stats", "private class statistics", nil},
		{"private-target-classes", "start", "label sums", nil},
		{"sis", "choice", "one-shot", sis(mechanism.OneShot)},
		{"sis", "choice", "peeling", sis(mechanism.Peeling)},
		{"sis", "choice", "lipschitz", sis(mechanism.Lipschitz)},
		{"sis", "choice", "lipschitz-exponential", sis(mechanism.LipschitzExponential)},
	} {
		p := examplePipeline(t, c.recipe)
		if c.change != nil {
			c.change(p)
		}
		plan, err := pricePipeline(p)
		if err != nil {
			t.Fatal(c.recipe, err)
		}
		found := false
		for _, l := range plan.Leaves() {
			if !strings.HasSuffix(l.Path, "/"+c.leaf) {
				continue
			}
			found = true
			x, err := statisticOf(l, p.Budget.Relation)
			if err != nil || x.Statistic != c.want {
				t.Errorf(
					"%s: %s is audited as %q, it releases %q: %v",
					c.recipe,
					l.Path,
					x.Statistic,
					c.want,
					err,
				)
			}
		}
		if !found {
			t.Errorf(
				"%s has no leaf %s",
				c.recipe, c.leaf,
			)
		}
	}
}

// TestEveryLeafIsAudited checks that every leaf of the plan of an example recipe names a statistic that the audit can
// measure under the relation of the recipe. The session ensures that a run releases the statistic named by the leaf,
// because it refuses any other.
func TestEveryLeafIsAudited(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example recipes: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		p := examplePipeline(t, name)
		plan, err := pricePipeline(p)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, l := range plan.Leaves() {
			if _, err := statisticOf(l, p.Budget.Relation); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	_, err = statisticOf(
		budget.PricedLeaf{
			Path: "fit/train/new",
			Law:  budget.Law{Kind: budget.Gaussian},
		},
		budget.AddRemove)
	if err == nil {
		t.Error("a leaf without a statistic is audited")
	}
}
