package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/regression"
)

// loansTable returns a table of n rows whose target has the given classes: the larger the income, the later the class. One row
// in twenty has no class.
func loansTable(t testing.TB, n int, classes ...string) *dataset.Table {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "income"},
		{
			Name:   "age",
			Ranged: true,
			Lower:  0,
			Upper:  100,
		},
		{
			Name:       "home",
			Kind:       dataset.Category,
			Categories: []string{"rent", "own"},
			Other:      true,
		},
		{
			Name:       "grade",
			Kind:       dataset.Category,
			Categories: classes,
		},
	}}
	data := make([]dataset.ColumnData, 4)
	p := sequence(7)
	for i := range n {
		income := p.next()
		home := int32(0)
		if p.next() > 0 {
			home = 1
		}
		data[0].Floats = append(data[0].Floats, 40+25*income)
		data[1].Floats = append(data[1].Floats, 50+40*p.next())
		data[2].Codes = append(data[2].Codes, home)
		z := (income+1)/2 + .15*float64(home) - .075 + .06*p.next()
		grade := int32(min(
			max(z*float64(len(classes)), 0),
			float64(len(classes)-1),
		))
		if i%20 == 0 {
			grade = int32(len(classes))
		}
		data[3].Codes = append(data[3].Codes, grade)
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func gradePipeline(tab *dataset.Table) *Pipeline {
	return &Pipeline{
		Task:    regression.TaskClassification,
		Schema:  tab.Schema(),
		Target:  "grade",
		Holdout: DefaultHoldout,
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6},
	}
}

// exactAccuracy returns the exact share of the rows with a class that a model classifies correctly.
func exactAccuracy(t testing.TB, m regression.Model, tab *dataset.Table) float64 {
	t.Helper()
	guess, err := m.Predict(
		nil,
		method.RowsOfColumns(
			tab.View().Block(0, tab.Len()),
			tab.Schema().Columns[:3], nil,
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	right := 0.
	all := 0.
	for i, k := range tab.Codes(3) {
		if int(k) < len(tab.Schema().Columns[3].Categories) {
			all++
			if guess[i] == float64(k) {
				right++
			}
		}
	}
	return right / all
}

// TestClassifiersBeatConstant checks that every classification method is far more accurate than a constant with two
// classes, and those that support more than two also with three.
func TestClassifiersBeatConstant(t *testing.T) {
	for _, c := range []struct {
		classes []string
		least   float64
		methods []string
	}{
		{
			[]string{"no", "yes, sir"},
			.85, Methods(regression.TaskClassification),
		},
		{
			[]string{"low", "middle", "high"},
			.55,
			slices.DeleteFunc(Methods(regression.TaskClassification), TwoClasses),
		},
	} {
		tab := loansTable(t, 30000, c.classes...)
		for _, method := range c.methods {
			p := gradePipeline(tab)
			p.Model = defaultTrainer(method)
			if method == "tukey" {
				p.Budget.Epsilon = 8
				p.Selector = selection.Fixed{Features: []string{"income"}}
			}
			res, err := p.Fit(context.Background(), tab, Options{})
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			m, ok := res.Model.(*regression.Classifier)
			if !ok {
				t.Fatalf(
					"%s: the model is %T",
					method, res.Model,
				)
			}
			o := m.Output()
			if o.Target != "grade" ||
				!slices.Equal(o.Classes, c.classes) ||
				o.Task != regression.TaskClassification ||
				m.Guarantee == nil ||
				m.Guarantee.Epsilon != p.Budget.Epsilon {
				t.Errorf(
					"%s: %+v, guarantee %+v",
					method, o, m.Guarantee,
				)
			}
			exact := exactAccuracy(t, m, tab)
			if exact < c.least {
				t.Errorf(
					"%s of %d classes: accuracy %.3f",
					method, len(c.classes), exact,
				)
			}
			// 3000 records are held out: .1 is eight standard deviations of the sampling error and of the noise.
			x := res.Confusion
			if x == nil ||
				res.R2 != nil ||
				math.Abs(x.Accuracy.Value-exact) > .1 ||
				len(x.Counts) != len(c.classes)+1 {
				t.Errorf(
					"%s: confusion %+v, exact accuracy %.3f",
					method, x, exact,
				)
			}
			if len(res.Events) == 0 || res.Task != regression.TaskClassification {
				t.Errorf(
					"%s: %d events, task %q",
					method, len(res.Events), res.Task,
				)
			}
		}
	}
}

// TestClassesPlan checks that L fits of one class against the others share the model's budget, and that the joint
// Gram matrix of several classes is one release.
func TestClassesPlan(t *testing.T) {
	tab := loansTable(t, 10, "a", "b", "c", "d")
	p := gradePipeline(tab)
	p.Model = adassp.AdaSSP{}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	one := *p
	one.Schema = p.Schema.Clone()
	one.Schema.Columns[3].Categories = []string{"a", "b"}
	single, err := one.Plan()
	if err != nil {
		t.Fatal(err)
	}
	total := func(plan *Plan) (sum float64, leaves int) {
		for _, l := range plan.Leaves() {
			if strings.Contains(l.Path, "/model/") {
				sum += l.Law.Mu * l.Law.Mu * float64(l.Law.Draws)
				leaves++
			}
		}
		return sum, leaves
	}
	four, leaves := total(plan)
	two, few := total(single)
	// The cutoff of two classes adds one leaf.
	if math.Abs(four/two-1) > .01 ||
		leaves != 4*(few-1) {
		t.Errorf(
			"mu^2 of four fits is %v, of one %v; %d and %d leaves",
			four,
			two,
			leaves,
			few,
		)
	}
	p.Model = adassp.JointGram{}
	if plan, err = p.Plan(); err != nil {
		t.Fatal(err)
	}
	if _, leaves = total(plan); leaves != 1 {
		t.Errorf("joint-gram has %d leaves", leaves)
	}
}

// TestClassesSpend checks that the releases are those of the plan.
func TestClassesSpend(t *testing.T) {
	for _, classes := range [][]string{
		{"a", "b"},
		{"a", "b", "c"},
	} {
		for _, method := range []string{
			"joint-gram", "adassp",
			"boosted-additive",
		} {
			tab := loansTable(t, 300, classes...)
			p := gradePipeline(tab)
			p.Model = defaultTrainer(method)
			p.Budget.Relation = budget.Substitute
			if len(classes) == 2 {
				p.Selector = selection.Kendall{K: 2}
			}
			plan, err := p.Plan()
			if err != nil {
				t.Fatal(err)
			}
			res, err := p.Fit(context.Background(), tab, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range plan.Leaves() {
				// Columns of known ranges may be chosen; the other ranges are then paid for too.
				none := strings.Contains(l.Path, "/scaling/") &&
					!slices.Contains(res.Selected, "income")
				e := res.Events[i]
				if e.Path != l.Path ||
					e.Law != l.Law ||
					e.Released != e.Law.Draws && !none {
					t.Errorf(
						"%s: leaf %+v, event %+v",
						method, l, e,
					)
				}
			}
		}
	}
}

// TestSelectionForClasses checks that a selector of numbers receives two classes as -1 and +1, and that more classes
// are refused.
func TestSelectionForClasses(t *testing.T) {
	tab := loansTable(t, 20000, "no", "yes")
	for _, s := range []selection.Selector{
		selection.Kendall{K: 1},
		selection.SIS{K: 1},
		selection.SubLasso{K: 1},
	} {
		p := gradePipeline(tab)
		p.Selector = s
		p.Budget.Epsilon = 4
		res, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(res.Selected, []string{"income"}) {
			t.Errorf(
				"%s chose %v",
				s.Name(), res.Selected,
			)
		}
		q := *p
		q.Schema = p.Schema.Clone()
		q.Schema.Columns[3].Categories = []string{"no", "yes", "maybe"}
		if _, err := q.Plan(); !errors.Is(err, ErrTwoClasses) {
			t.Errorf(
				"%s of three classes: %v",
				s.Name(), err,
			)
		}
	}
}

// classReader is a selector that reads classes.
type classReader struct{ selection.None }

func (classReader) NeedsClasses() bool {
	return true
}

// TestClassedSelector checks that a selector that declares that it needs classes receives them, for any number of
// classes, and that another one receives a number.
func TestClassedSelector(t *testing.T) {
	tab := loansTable(t, 50, "a", "b", "c")
	plan, err := gradePipeline(tab).Plan()
	if err != nil {
		t.Fatal(err)
	}
	last := len(plan.facts.Columns)
	all := memory.NewRecords(tab.View().Columns(plan.columns))
	for _, c := range []struct {
		selector selection.Selector
		kind     dataset.Kind
		classes  int
	}{
		{classReader{}, dataset.Category, 3},
		{selection.None{}, dataset.Numeric, 0},
	} {
		planned := factsFor(c.selector, plan.facts).Target
		seen := viewFor(c.selector, plan.facts, all).Schema().Columns[last]
		for _, target := range []dataset.Column{planned, seen} {
			if target.Kind != c.kind || len(target.Categories) != c.classes {
				t.Errorf(
					"%T: the target is %+v",
					c.selector, target,
				)
			}
		}
	}
}

func TestClassesRefused(t *testing.T) {
	tab := loansTable(t, 10, "a", "b", "c")
	for name, c := range map[string]struct {
		change func(*Pipeline)
		want   error
	}{
		"unknown task": {func(p *Pipeline) {
			p.Task = "ranking"
		}, ErrTask},
		"numeric target": {func(p *Pipeline) {
			p.Target = "income"
		}, ErrClasses},
		"absent target": {func(p *Pipeline) {
			p.Target = "?"
		}, ErrClasses},
		"class target": {func(p *Pipeline) {
			p.Task = ""
		}, ErrTarget},
		"one class": {
			func(p *Pipeline) {
				p.Schema.Columns[3].Categories = []string{"a"}
			},
			ErrClasses,
		},
		"other": {func(p *Pipeline) {
			p.Schema.Columns[3].Other = true
		}, ErrClasses},
		"tukey": {func(p *Pipeline) {
			p.Model = tukey.Tukey{}
		}, ErrTwoClasses},
		"tukey, fallback": {
			func(p *Pipeline) {
				p.Model = tukey.Tukey{}
				p.Fallback = adassp.JointGram{}
			},
			ErrTwoClasses,
		},
		"kendall": {
			func(p *Pipeline) {
				p.Selector = selection.Kendall{K: 1}
			},
			ErrTwoClasses,
		},
		"unknown model": {
			func(p *Pipeline) {
				p.Model = defaultTrainer("oracle")
			},
			ErrModel,
		},
	} {
		p := gradePipeline(tab)
		p.Schema = p.Schema.Clone()
		c.change(p)
		_, err := p.Plan()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClassesTotal checks that no table is an error: an empty one, one with a single class, one without records in a
// class, or one with records outside the classes.
func TestClassesTotal(t *testing.T) {
	schema := loansTable(t, 0, "no way", "yes way").Schema()
	for name, codes := range map[string][]int32{
		"none":       nil,
		"one record": {1},
		"one class":  {1, 1, 1, 1, 1, 1},
		"no class":   {2, 2, 2, 9, -4},
		"unseen":     {0, 0, 2, 0, 2},
	} {
		data := []dataset.ColumnData{{}, {}, {}, {Codes: codes}}
		for i := range codes {
			data[0].Floats = append(
				data[0].Floats,
				math.Inf(i%3-1),
			)
			data[1].Floats = append(data[1].Floats, math.NaN())
			data[2].Codes = append(data[2].Codes, int32(i))
		}
		tab, err := dataset.NewTable(schema, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"joint-gram", "adassp", "boosted-adassp",
			"boosted-additive", "boosted-kernel"} {
			p := gradePipeline(tab)
			p.Model = defaultTrainer(method)
			p.Holdout = .5
			res, err := p.Fit(context.Background(), tab, Options{})
			if err != nil || res.Model == nil || res.Confusion == nil {
				t.Errorf(
					"%s, %s: %v",
					name, method, err,
				)
			}
		}
	}
}
