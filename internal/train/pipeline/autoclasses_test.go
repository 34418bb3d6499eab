package pipeline

import (
	"context"
	"sort"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// TestAutoClasses checks that two classes are separated by a linear score with few records and by curves with more,
// and that the skipped branch released no value.
func TestAutoClasses(t *testing.T) {
	for _, c := range []struct {
		n              int
		branch, method string
	}{
		{300, logisticBranch, "logistic"},
		{4000, allBranch, "boosted-kernel"},
	} {
		tab := loansTable(t, c.n, "no", "yes")
		res, err := gradePipeline(tab).Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Method != c.method || len(res.Selected) != 3 {
			t.Errorf(
				"%d rows: %s of %d features",
				c.n, res.Method,
				len(res.Selected),
			)
		}
		for _, e := range res.Events {
			names := strings.Split(e.Path, "/")
			want := 0
			if names[1] != trainNode || names[2] == countLeaf {
				continue
			}
			if names[2] == c.branch {
				want = e.Law.Draws
			}
			if e.Released != want {
				t.Errorf(
					"%d rows: %s released %d of %d",
					c.n, e.Path, e.Released,
					e.Law.Draws,
				)
			}
		}
		right := exactAccuracy(t, res.Model, tab)
		if c.n == 4000 && right < .85 {
			t.Errorf(
				"%d rows: accuracy %.3f",
				c.n, right,
			)
		}
	}
}

// TestAutoClassesRule checks that curves are learned from fewForCurves × w / mu records on, and that there is no
// choice if a stage is named, under basic composition, or for more than two classes.
func TestAutoClassesRule(t *testing.T) {
	plan, err := gradePipeline(loansTable(t, 0, "no", "yes")).Plan()
	if err != nil {
		t.Fatal(err)
	}
	// Two numbers and a column of two categories and the others: w = 2.9; mu is about .21.
	n := sort.Search(1<<30, func(low int) bool {
		return plan.pickBranch(low, plan.facts.Columns).name == allBranch
	})
	if n < 550 || n > 850 {
		t.Errorf("curves from %d records on", n)
	}
	two := loansTable(t, 0, "no", "yes")
	selected := gradePipeline(two)
	named := gradePipeline(two)
	basic := gradePipeline(two)
	selected.Selector = selection.Kendall{K: 2}
	named.Model = adassp.JointGram{}
	basic.Budget.Composition = budget.Basic
	for name, c := range map[string]struct {
		*Pipeline
		method string
	}{
		"a named selection": {selected, "boosted-kernel"},
		"a named model":     {named, "joint-gram"},
		"basic composition": {basic, "joint-gram"},
		"three classes": {
			gradePipeline(loansTable(t, 0, "a", "b", "c")),
			"prototypes",
		},
	} {
		plan, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		_, ok := plan.Law("fit/train/count")
		if ok || plan.Method() != c.method {
			t.Errorf(
				"%s: %s, a count: %v",
				name, plan.Method(), ok,
			)
		}
	}
}
