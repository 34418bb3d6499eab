package pipeline

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// misreadTable returns a table of n records with two numbers x and z, columns that contain no number, and a target: y = 30 + 10
// x, or the class "yes" where x > 0. With none, x, z and y are unreadable too.
func misreadTable(t testing.TB, n int, classes, none bool) *dataset.Table {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "id"},
		{Name: "x"},
		{Name: "date"},
		{Name: "z"},
		{Name: "y"},
	}}
	data := make([]dataset.ColumnData, 5)
	p := sequence(5)
	for range n {
		x := p.next()
		z := p.next()
		data[4].Floats = append(data[4].Floats, 30+10*x)
		class := int32(0)
		if x > 0 {
			class = 1
		}
		data[4].Codes = append(data[4].Codes, class)
		if none {
			x = math.NaN()
			z = math.NaN()
		}
		data[1].Floats = append(data[1].Floats, x)
		data[3].Floats = append(data[3].Floats, z)
		data[0].Floats = append(data[0].Floats, math.NaN())
		data[2].Floats = append(data[2].Floats, math.NaN())
	}
	if classes {
		schema.Columns[4].Kind = dataset.Category
		schema.Columns[4].Categories = []string{"no", "yes"}
		data[4].Floats = nil
	} else {
		data[4].Codes = nil
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// runRetrying plans and carries out a run on the table, up to four times while one of the empty columns is selected: a bin
// without records passes somewhere in at most one run of 1,000 (docs/proofs/scaling.md), so in four of four with odds
// below 1e-12.
func (c unreadCase) runRetrying(
	t *testing.T,
	tab *dataset.Table,
	empty ...string,
) *Result {
	t.Helper()
	var res *Result
	for range 4 {
		res = c.runOnce(t, tab)
		if !slices.ContainsFunc(res.Selected, func(name string) bool {
			return slices.Contains(empty, name)
		}) {
			break
		}
	}
	return res
}

func (c unreadCase) runOnce(t *testing.T, tab *dataset.Table) *Result {
	t.Helper()
	p := &Pipeline{
		Schema:   tab.Schema(),
		Target:   "y",
		Holdout:  DefaultHoldout,
		Budget:   budget.Target{Epsilon: 3, Delta: 1e-6},
		Selector: c.selector,
		Model:    trainerInForm(c.model, c.form),
		Fallback: defaultTrainer(c.fallback),
	}
	if c.classes {
		p.Task = regression.TaskClassification
	}
	res, err := p.Fit(context.Background(), tab, Options{})
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	if res.Model == nil {
		t.Fatalf("%+v: no model", c)
	}
	switch m := res.Model.(type) {
	case interface{ Validate() error }:
		if err := m.Validate(); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
	default:
		t.Fatalf("%T has no checks", m)
	}
	return res
}

type unreadCase struct {
	classes     bool
	selector    selection.Selector
	model, form string
	fallback    string
}

// everyWay lists every method, at every point where features can be chosen.
func everyWay() []unreadCase {
	var out []unreadCase
	for _, m := range Methods(regression.TaskRegression) {
		fallback := ""
		if MayAbstain(m) {
			fallback = "joint-gram"
		}
		out = append(out, unreadCase{model: m, fallback: fallback})
	}
	for _, m := range Methods(regression.TaskClassification) {
		if !MayAbstain(m) { // its budget is too small after paying for ranges
			out = append(out, unreadCase{classes: true, model: m})
		}
	}
	return append(
		out,
		unreadCase{
			classes: true,
			model:   "logistic",
			form:    logistic.Output,
		},
		unreadCase{
			classes: true,
			model:   "brc",
			form:    boosting.Laplace,
		},
		unreadCase{selector: selection.Kendall{K: 3}, model: "joint-gram"},
		unreadCase{selector: selection.SubLasso{K: 3}, model: "joint-gram"},
		unreadCase{
			selector: selection.SIS{K: 3, Score: selection.ScoreProduct},
			model:    "joint-gram",
		},
		unreadCase{
			selector: selection.SIS{K: 1, Score: selection.ScoreCorrelation},
			model:    "boosted-additive",
		},
		unreadCase{
			selector: selection.SIS{K: 3, Score: selection.ScoreTau},
			model:    "adassp",
		},
		unreadCase{
			classes:  true,
			selector: selection.DPFSDR{},
			model:    "joint-gram",
		},
		unreadCase{
			classes:  true,
			selector: selection.DPFS{K: 3, Exact: true},
			model:    "logistic",
		},
		unreadCase{
			classes:  true,
			selector: selection.CRFS{Sizes: []int{1, 3}},
			model:    "logistic",
		},
	)
}

// inputNames lists the columns that a model uses.
func inputNames(m regression.Model) []string {
	var names []string
	for _, c := range m.Inputs() {
		names = append(names, c.Name)
	}
	return names
}

// TestUnreadColumnsLeave checks that a column without a number is in no model and is named by a warning, for every
// method and at every point where features are chosen. A bin of at least 7,000 records is at least 40 standard
// deviations of its noise above the threshold.
func TestUnreadColumnsLeave(t *testing.T) {
	for _, c := range everyWay() {
		res := c.runRetrying(
			t,
			misreadTable(t, 20000, c.classes, false),
			"id", "date",
		)
		used := inputNames(res.Model)
		if slices.Contains(used, "id") ||
			slices.Contains(used, "date") ||
			!slices.Contains(used, "x") ||
			!slices.Equal(used, res.Selected) {
			t.Errorf(
				"%+v: the model uses %q, %q were selected",
				c, used, res.Selected,
			)
		}
		if len(res.Unread) == 0 && c.selector == nil ||
			slices.ContainsFunc(res.Unread, func(u Unread) bool {
				return u.Column != "id" && u.Column != "date" || u.Faint
			}) {
			t.Errorf(
				"%+v: unread %v",
				c, res.Unread,
			)
		}
		for _, u := range res.Unread {
			if !slices.ContainsFunc(res.Warnings, func(w Warning) bool {
				return w.Code == "no-range" &&
					w.Severity == Critical &&
					strings.Contains(w.Text, `"`+u.Column+`"`)
			}) {
				t.Errorf(
					"%+v: no warning names %q",
					c, u.Column,
				)
			}
		}
	}
}

// TestNoFeatureLeft checks that every method ends with a model that predicts a constant if no feature has a number.
func TestNoFeatureLeft(t *testing.T) {
	for _, c := range everyWay() {
		res := c.runRetrying(
			t,
			misreadTable(t, 12000, c.classes, true),
			"id",
			"x",
			"date",
			"z",
		)
		used := inputNames(res.Model)
		if len(used) > 0 || len(res.Selected) > 0 {
			t.Errorf(
				"%+v: the model uses %q, %q were selected",
				c, used, res.Selected,
			)
		}
		at, err := res.Model.Predict(nil, regression.Rows{N: 2})
		if err != nil || at[0] != at[1] {
			t.Errorf(
				"%+v: predictions %v, %v",
				c, at, err,
			)
		}
		// The mean is 30; the noise of a sum of 10,000 is below 1% of it.
		if !c.classes && !(math.Abs(at[0]-30) < 3) {
			t.Errorf(
				"%+v predicts %v where the mean is 30",
				c, at[0],
			)
		}
	}
}

// TestTargetUnread checks that without the range of the target the model is a constant, the warning names the target,
// and no feature is selected. The table is so small that the check of the target, whose noise is 11 records, cannot
// be sure that the target is unreadable: it would take some 211 empty cells.
func TestTargetUnread(t *testing.T) {
	tab := misreadTable(t, 150, false, false)
	schema := tab.Schema()
	data := make([]dataset.ColumnData, 5)
	for j := range data {
		data[j].Floats = slices.Clone(tab.Float(j))
	}
	for i := range data[4].Floats {
		data[4].Floats[i] = math.NaN()
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range everyWay() {
		if c.classes {
			continue
		}
		res := c.runRetrying(
			t, tab, "id", "x",
			"date", "z",
		)
		if len(res.Selected) > 0 || len(inputNames(res.Model)) > 0 {
			t.Errorf(
				"%+v: %q were selected",
				c, res.Selected,
			)
		}
		if !slices.ContainsFunc(res.Warnings, func(w Warning) bool {
			return w.Code == "no-range" &&
				strings.Contains(w.Text, `target "y"`) &&
				strings.Contains(w.Text, "constant")
		}) {
			t.Errorf(
				"%+v: warnings %+v",
				c, res.Warnings,
			)
		}
	}
}

// TestFewRecordsCauseNoUnreadWarning checks that, if the budget is too small to detect any column, no message claims
// that its cells are not numbers.
func TestFewRecordsCauseNoUnreadWarning(t *testing.T) {
	p := pricePipeline(housesTable(t, 60))
	p.Budget.Epsilon = .1
	p.Model = adassp.JointGram{}
	res, err := p.Fit(context.Background(), housesTable(t, 60), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The noise of a bin is above 700: no bin passes with probability .99, and one that passes does not affect this
	// test.
	for _, u := range res.Unread {
		if !u.Faint {
			t.Errorf("%+v with 60 records", u)
		}
	}
	for _, w := range res.Warnings {
		if strings.Contains(w.Text, "As far as can be told") {
			t.Errorf(
				"%s: %s",
				w.Code, w.Text,
			)
		}
	}
}

// TestNarrowerRowsHaveLessNoise checks that the other columns gain from dropping an unread one: the sensitivities are
// those of a table without it, and the price is that of the plan.
func TestNarrowerRowsHaveLessNoise(t *testing.T) {
	c := unreadCase{model: "joint-gram"}
	tab := misreadTable(t, 20000, false, false)
	short, err := dataset.NewTable(
		dataset.Schema{Columns: selectItems(
			tab.Schema().Columns,
			[]int{1, 3, 4},
		)},
		[]dataset.ColumnData{
			{Floats: tab.Float(1)},
			{Floats: tab.Float(3)},
			{Floats: tab.Float(4)},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	with := c.runRetrying(t, tab, "id", "date")
	without := c.runRetrying(t, short)
	for i, e := range with.Events {
		o := without.Events[i]
		if e.Path != o.Path ||
			math.Abs(e.Law.Mu-o.Law.Mu) > 1e-12 {
			t.Fatalf("%+v beside %+v", e, o)
		}
		more := e.Sensitivity > o.Sensitivity
		if more != strings.HasSuffix(e.Path, "exponents") {
			t.Errorf(
				"%s: sensitivity %v with the unread columns, %v without",
				e.Path,
				e.Sensitivity,
				o.Sensitivity,
			)
		}
	}
}

// TestPublicColumnsThatAreNotRead checks that under private columns a public column without a number is dropped with
// certainty, and that BRC without a private column has its public classifier.
func TestPublicColumnsThatAreNotRead(t *testing.T) {
	for _, private := range []string{"date", "x"} {
		for _, model := range []string{"joint-gram", "brc"} {
			tab := misreadTable(t, 6000, true, false)
			schema := tab.Schema()
			data := make([]dataset.ColumnData, 5)
			for j := range data {
				data[j] = dataset.ColumnData{
					Floats: tab.Float(j),
					Codes:  tab.Codes(j),
				}
				schema.Columns[j].Private = schema.Columns[j].Name == private
			}
			tab, err := dataset.NewTable(schema, data, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := &Pipeline{
				Task:    regression.TaskClassification,
				Schema:  schema,
				Target:  "y",
				Holdout: .1,
				Model:   defaultTrainer(model),
				Budget: budget.Target{
					Epsilon:  3,
					Delta:    1e-6,
					Relation: budget.SubstitutePrivateColumns,
				},
			}
			var res *Result
			for range 4 { // as in unreadCase.run
				if res, err = p.Fit(context.Background(), tab, Options{}); err != nil {
					t.Fatal(err)
				}
				if len(res.Unread) == 2 {
					break
				}
			}
			if !slices.Equal(res.Selected, []string{"x", "z"}) ||
				len(res.Unread) != 2 ||
				res.Confusion.Accuracy.Value < .8 {
				t.Errorf(
					"%s, private %s: selected %q, unread %v, accuracy %+v",
					model,
					private,
					res.Selected,
					res.Unread,
					res.Confusion.Accuracy,
				)
			}
		}
	}
}

// TestSearchWithUnread checks that tries of a search leave unread columns out too.
func TestSearchWithUnread(t *testing.T) {
	tab := misreadTable(t, 20000, false, false)
	p := &Pipeline{
		Schema:  tab.Schema(),
		Target:  "y",
		Holdout: .2,
		Budget:  budget.Target{Epsilon: 6, Delta: 1e-6},
		Search: &Search{
			Runs:    2,
			Holdout: .2,
			Candidates: []Candidate{
				{Model: adassp.JointGram{}},
				{Model: adassp.AdaSSP{}},
			},
		},
	}
	var res *Result
	var err error
	for range 4 { // as in unreadCase.run
		if res, err = p.Fit(context.Background(), tab, Options{}); err != nil {
			t.Fatal(err)
		}
		if len(res.Unread) == 2 {
			break
		}
	}
	if !slices.Equal(res.Selected, []string{"x", "z"}) ||
		len(res.Unread) != 2 {
		t.Errorf(
			"selected %q, unread %v",
			res.Selected, res.Unread,
		)
	}
}
