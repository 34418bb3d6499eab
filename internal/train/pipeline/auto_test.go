package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// wideTable returns a table of n rows and d features. One feature determines the target.
func wideTable(t testing.TB, n, d int) *dataset.Table {
	t.Helper()
	var schema dataset.Schema
	data := make([]dataset.ColumnData, d+1)
	p := sequence(11)
	for j := range data {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: fmt.Sprint("x", j)},
		)
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

// TestAutoChooses checks that with few records for the number of columns features are selected first, and that with
// more records all features are used. Both branches are in the plan, and the skipped one released no value.
func TestAutoChooses(t *testing.T) {
	for _, c := range []struct {
		n      int
		branch string
		chosen int
	}{{1700, kendallBranch, 5}, {20000, allBranch, 20}} {
		tab := wideTable(t, c.n, 20)
		res, err := pricePipeline(tab).Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := len(res.Selected) + len(res.Unread)
		if n != c.chosen { // few records may hide a range
			t.Errorf(
				"%d rows: %d features selected, want %d",
				c.n, n, c.chosen,
			)
		}
		counted := false
		for _, e := range res.Events {
			names := strings.Split(e.Path, "/")
			switch {
			case names[1] == trainNode && names[2] == countLeaf:
				counted = e.Released == 1 && e.Sensitivity == 1
			case names[1] == trainNode &&
				names[2] == c.branch &&
				e.Released != e.Law.Draws:
				t.Errorf(
					"%d rows: %s released %d of %d",
					c.n, e.Path, e.Released,
					e.Law.Draws,
				)
			case names[1] == trainNode && names[2] != c.branch && e.Released != 0:
				t.Errorf(
					"%d rows: %s released %d though its branch was not taken",
					c.n,
					e.Path,
					e.Released,
				)
			}
		}
		if !counted {
			t.Errorf(
				"%d rows: the count was not released",
				c.n,
			)
		}
	}
}

// TestAutoMethod checks that the automatic choice trains curves where a large number of small releases is as good as
// one, and otherwise releases second moments once, and that a named method is kept.
func TestAutoMethod(t *testing.T) {
	for _, d := range []int{3, 20} {
		for _, selector := range []selection.Selector{
			nil,
			selection.None{},
			selection.Kendall{K: 2},
			selection.SubLasso{K: 2},
		} {
			for _, c := range []struct {
				composition   budget.Composition
				named, method string
			}{
				{budget.Tight, "", "boosted-kernel"},
				{budget.Tight, Auto, "boosted-kernel"},
				{budget.Basic, Auto, "joint-gram"},
				{budget.Tight, "adassp", "adassp"},
			} {
				p := pricePipeline(wideTable(t, 0, d))
				p.Selector = selector
				p.Model = defaultTrainer(c.named)
				p.Budget.Composition = c.composition
				plan, err := p.Plan()
				if err != nil {
					t.Fatal(err)
				}
				if plan.Method() != c.method {
					t.Errorf(
						"%v composition, model %q: %s",
						c.composition,
						c.named,
						plan.Method(),
					)
				}
			}
		}
	}
}

// TestAutoRule checks that the number of records from which all features are kept grows with the columns and falls
// with the budget, and that a category weighs less than a number.
func TestAutoRule(t *testing.T) {
	turn := func(p *Pipeline) int {
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		return sort.Search(1<<30, func(low int) bool {
			return plan.pickBranch(low, plan.facts.Columns).name == allBranch
		})
	}
	of := func(d int, epsilon float64) int {
		p := pricePipeline(wideTable(t, 0, d))
		p.Budget.Epsilon = epsilon
		return turn(p)
	}
	// mu of the model at epsilon 1, delta 1e-6 is about .21.
	n := of(20, 1)
	if n < 1500 || n > 2500 {
		t.Errorf(
			"20 columns at epsilon 1: all from %d records on",
			n,
		)
	}
	a := of(6, 1)
	b := of(20, 1)
	c := of(20, .1)
	if !(3*a < b && 5*b < c) {
		t.Errorf(
			"all from %d, %d, %d records on",
			a, b, c,
		)
	}
	categories := pricePipeline(oneHot(t, 0))
	n = turn(categories)
	if n <= of(20, 1) || n >= of(80, 1) {
		t.Errorf(
			"20 categories of 4: all from %d records on",
			n,
		)
	}
}

// oneHot is a table of n rows with 20 category columns whose effects add up to the target.
func oneHot(t testing.TB, n int) *dataset.Table {
	t.Helper()
	var schema dataset.Schema
	data := make([]dataset.ColumnData, 21)
	p := sequence(5)
	categories := []string{"a", "b", "c", "d"}
	var effect [20][4]float64
	for j := range effect {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{
				Name:       fmt.Sprint("x", j),
				Kind:       dataset.Category,
				Categories: categories,
			},
		)
		data[j].Codes = make([]int32, n)
		for k := range effect[j] {
			effect[j][k] = p.next()
		}
	}
	schema.Columns = append(schema.Columns, dataset.Column{Name: "price"})
	data[20].Floats = make([]float64, n)
	for i := range n {
		y := p.next()
		for j := range effect {
			k := int32(math.Floor(2 + 2*p.next()))
			data[j].Codes[i] = k
			y += effect[j][k]
		}
		data[20].Floats[i] = 300 + 10*y
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestAutoOnCategories uses 4000 records with 20 declared categories, all with an effect, at epsilon ln 3.
func TestAutoOnCategories(t *testing.T) {
	tab := oneHot(t, 4000)
	p := pricePipeline(tab)
	p.Budget = budget.Target{Epsilon: math.Log(3), Delta: 1e-5}
	p.Holdout = 0
	var values []float64
	for range 5 {
		res, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		prediction, err := res.Model.Predict(
			nil,
			method.RowsOfColumns(
				tab.View().Block(0, tab.Len()),
				tab.Schema().Columns[:20],
				nil,
			),
		)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, regression.R2(prediction, tab.Float(20)))
	}
	slices.Sort(values)
	t.Logf("R² %.2f", values)
	// The true function has about .95 (20 effects of variance 1/3 plus noise of 1/3).
	if values[2] < .6 {
		t.Errorf("median R² %.3f", values[2])
	}
}

// TestAutoPrice checks that n_lo costs its share of epsilon, and that neither branch costs more than the remaining
// budget.
func TestAutoPrice(t *testing.T) {
	plan, err := pricePipeline(wideTable(t, 0, 20)).Plan()
	if err != nil {
		t.Fatal(err)
	}
	count, ok := plan.Law("fit/train/count")
	if !ok || math.Abs(count.Epsilon-DefaultCountShare) > 1e-12 {
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
	// The coin of the held-out part and the count's place in the same curve raise it.
	spent := curve.Epsilon(1e-6)
	if spent > 1.15 || spent < 1 {
		t.Errorf(
			"the branch of all features spends %v by itself, want a little above 1",
			spent,
		)
	}
}

// TestAutoOnlyWhereThereIsAChoice checks that no count is priced if there is no choice, because there are only five
// candidates or the method is named.
func TestAutoOnlyWhereThereIsAChoice(t *testing.T) {
	named := pricePipeline(wideTable(t, 0, 20))
	named.Model = adassp.JointGram{}
	for name, p := range map[string]*Pipeline{
		"five candidates": pricePipeline(wideTable(t, 0, 5)),
		"named model":     named,
	} {
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := plan.Law("fit/train/count"); ok {
			t.Errorf("%s: a count is priced", name)
		}
	}
}

// TestSelectionShare checks that the selection spends the given share, whether ranges are released or declared.
func TestSelectionShare(t *testing.T) {
	for _, declared := range []bool{false, true} {
		p := pricePipeline(wideTable(t, 0, 20))
		p.Schema = p.Schema.Clone()
		for j := range p.Schema.Columns {
			c := &p.Schema.Columns[j]
			c.Ranged = declared
			c.Lower = -1
			c.Upper = 1
		}
		p.Selector = selection.Kendall{K: 3}
		p.SelectionShare = .3
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		spent := 0.0
		for _, l := range plan.Leaves() {
			if strings.HasPrefix(l.Path, "fit/train/") {
				total += l.Share
			}
			if strings.HasPrefix(l.Path, "fit/train/selection/") {
				spent += l.Share
			}
		}
		if math.Abs(spent/total-.3) > 1e-12 {
			t.Errorf(
				"declared ranges %v: the selection has %v of the budget",
				declared,
				spent/total,
			)
		}
	}
}

// TestWithoutKernel checks that boosted-additive replaces boosted-kernel wherever the latter would be trained, and
// that the run continues to choose automatically.
func TestWithoutKernel(t *testing.T) {
	for _, c := range []struct {
		composition  budget.Composition
		model, want  string
		other, count bool
	}{
		{budget.Tight, Auto, "boosted-additive", true, true},
		{budget.Tight, "boosted-kernel", "boosted-additive", true, false},
		{budget.Tight, "joint-gram", "joint-gram", false, false},
		{budget.Basic, Auto, "joint-gram", false, true},
	} {
		p := pricePipeline(wideTable(t, 0, 7))
		p.Model = defaultTrainer(c.model)
		p.Budget.Composition = c.composition
		q, other := p.WithoutKernel()
		plan, err := q.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if plan.Method() != c.want ||
			other != c.other ||
			(len(plan.branches) > 1) != c.count {
			t.Errorf(
				"%v, %s: %s, %v, %d branches",
				c.composition,
				c.model,
				plan.Method(),
				other,
				len(plan.branches),
			)
		}
	}
	p := pricePipeline(wideTable(t, 0, 3))
	p.Search = &Search{
		Runs:    2,
		Holdout: .2,
		Candidates: []Candidate{
			{Model: boosting.Kernel{}},
			{Model: boosting.Kernel{}, Selector: selection.None{}},
			{Model: boosting.Additive{}},
		},
	}
	q, other := p.WithoutKernel()
	_, err := q.Plan()
	if err != nil ||
		!other ||
		q.Search.Candidates[0].Model != method.Trainer(boosting.Kernel{}) ||
		q.Search.Candidates[1].Model != method.Trainer(boosting.Additive{}) {
		t.Errorf(
			"%v, %v: %+v",
			other, err, q.Search.Candidates,
		)
	}
	if p.Search.Candidates[1].Model != method.Trainer(boosting.Kernel{}) {
		t.Error("the candidates of the pipeline itself changed")
	}
}

// TestModelMuOfAlternatives checks that a plan with alternatives, where a run takes one, does not add up the budgets
// of all models.
func TestModelMuOfAlternatives(t *testing.T) {
	tab := wideTable(t, 1700, 20)
	var mu [2]float64
	for i, found := range []bool{false, true} {
		p := pricePipeline(tab)
		for j := range p.Schema.Columns[:20] {
			p.Schema.Columns[j].Found = found
		}
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		mu[i] = plan.modelMu(allBranch)
	}
	if !(mu[1] <= mu[0]) ||
		mu[1] < .9*mu[0] {
		t.Errorf(
			"the model has mu %v, with columns that may hold words %v",
			mu[0], mu[1],
		)
	}
}
