package pipeline

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/selection"
)

// wide is a table of n rows and d features of which one makes the target.
func wide(t testing.TB, n, d int) *dataset.Table {
	t.Helper()
	var schema dataset.Schema
	data := make([]dataset.ColumnData, d+1)
	p := sequence(11)
	for j := range data {
		schema.Columns = append(schema.Columns, dataset.Column{Name: fmt.Sprint("x", j)})
		data[j].Floats = make([]float64, n)
		for i := range n {
			data[j].Floats[i] = p.next()
		}
	}
	schema.Columns[d].Name = "price"
	for i := range n {
		data[d].Floats[i] = 3*data[2].Floats[i] + .3*data[d].Floats[i]
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestAutoChooses: few records for the number of columns choose features
// first, many use all of them; both branches are in the plan, and the one that
// was not taken released nothing.
func TestAutoChooses(t *testing.T) {
	for _, c := range []struct {
		n      int
		branch string
		chosen int
	}{{500, kendallBranch, 5}, {20000, allBranch, 20}} {
		tab := wide(t, c.n, 20)
		res, err := describe(tab).Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Selected) != c.chosen {
			t.Errorf("%d rows: %d features selected, want %d", c.n, len(res.Selected), c.chosen)
		}
		counted := false
		for _, e := range res.Events {
			names := strings.Split(e.Path, "/")
			switch {
			case names[1] == trainNode && names[2] == countLeaf:
				counted = e.Released == 1 && e.Sensitivity == 1
			case names[1] == trainNode && names[2] == c.branch && e.Released != e.Law.Draws:
				t.Errorf("%d rows: %s released %d of %d", c.n, e.Path, e.Released, e.Law.Draws)
			case names[1] == trainNode && names[2] != c.branch && e.Released != 0:
				t.Errorf("%d rows: %s released %d though its branch was not taken", c.n, e.Path, e.Released)
			}
		}
		if !counted {
			t.Errorf("%d rows: the count was not released", c.n)
		}
	}
}

// TestAutoPrice: n_lo costs its share of epsilon, and each branch is worth no
// more than what is left.
func TestAutoPrice(t *testing.T) {
	plan, err := describe(wide(t, 0, 20)).Plan()
	if err != nil {
		t.Fatal(err)
	}
	count, ok := plan.Law("fit/train/count")
	if !ok || math.Abs(count.Epsilon-countShare) > 1e-12 {
		t.Errorf("count %+v", count)
	}
	var laws []budget.Law
	for _, l := range plan.Leaves() {
		if strings.HasPrefix(l.Path, "fit/train/all/") {
			laws = append(laws, l.Law)
		}
	}
	curve, err := budget.Compose(laws...)
	if err != nil {
		t.Fatal(err)
	}
	if spent := curve.Epsilon(1e-6); spent > 1-countShare+1e-9 || spent < .99*(1-countShare) {
		t.Errorf("the branch of all features spends %v, want just below %v", spent, 1-countShare)
	}
}

// TestAutoOnlyWhereThereIsAChoice: five candidates or a named method leave
// nothing to choose, and nothing is spent on a count.
func TestAutoOnlyWhereThereIsAChoice(t *testing.T) {
	named := describe(wide(t, 0, 20))
	named.Model = JointGram
	for name, p := range map[string]*Pipeline{"five candidates": describe(wide(t, 0, 5)), "named model": named} {
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := plan.Law("fit/train/count"); ok {
			t.Errorf("%s: a count is priced", name)
		}
	}
}

// TestSelectionShare: the selection spends the share it was given, whether
// ranges are released or declared.
func TestSelectionShare(t *testing.T) {
	for _, declared := range []bool{false, true} {
		p := describe(wide(t, 0, 20))
		p.Schema = p.Schema.Clone()
		for j := range p.Schema.Columns {
			c := &p.Schema.Columns[j]
			c.Ranged, c.Lower, c.Upper = declared, -1, 1
		}
		p.Selector, p.SelectionShare = selection.Kendall{K: 3}, .3
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		total, spent := 0.0, 0.0
		for _, l := range plan.Leaves() {
			if strings.HasPrefix(l.Path, "fit/train/") {
				total += l.Share
			}
			if strings.HasPrefix(l.Path, "fit/train/selection/") {
				spent += l.Share
			}
		}
		if math.Abs(spent/total-.3) > 1e-12 {
			t.Errorf("declared ranges %v: the selection has %v of the budget", declared, spent/total)
		}
	}
}
