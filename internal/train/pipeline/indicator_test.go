package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// indicatorTable returns a table of n records where three in ten have no x, and these have the larger targets: y = 5 + x, or 8
// where x is missing; or the class "yes" above 5.5.
func indicatorTable(t testing.TB, n int, classes bool) *dataset.Table {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "x", Indicator: true},
		{Name: "z"},
		{
			Name:   "y",
			Ranged: true,
			Lower:  0,
			Upper:  10,
		},
	}}
	data := make([]dataset.ColumnData, 3)
	p := sequence(17)
	for i := range n {
		x := p.next()
		y := 8.
		if i%10 < 3 {
			x = math.NaN()
		} else {
			y = 5 + x
		}
		data[0].Floats, data[1].Floats, data[2].Floats = append(data[0].Floats, x),
			append(
				data[1].Floats, p.next(),
			), append(data[2].Floats, y)
	}
	if classes {
		schema.Columns[2] = dataset.Column{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		}
		for _, y := range data[2].Floats {
			class := int32(0)
			if y > 5.5 {
				class = 1
			}
			data[2].Codes = append(data[2].Codes, class)
		}
		data[2].Floats = nil
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestIndicator checks that every method that supports an indicator learns the effect of a missing cell: the
// prediction for it is that for the median plus a term. The noise of 20,000 records at epsilon 8 moves a mean by less
// than .1, a tenth of the tolerance.
func TestIndicator(t *testing.T) {
	square := scaling.MissingEntry *
		scaling.MissingEntry
	if math.Abs(square-regression.MissingSquare) > 1e-15 {
		t.Errorf(
			"training has the square %v, models %v",
			square, regression.MissingSquare,
		)
	}
	for _, method := range []string{"joint-gram", "adassp", "boosted-adassp", "boosted-additive",
		"boosted-kernel", "tukey", "svm", "logistic"} {
		classes := method == "svm" || method == "logistic"
		tab := indicatorTable(t, 30000, classes)
		p := &Pipeline{
			Schema:  tab.Schema(),
			Target:  "y",
			Holdout: .1,
			Model:   defaultTrainer(method),
			Budget:  budget.Target{Epsilon: 8, Delta: 1e-5},
		}
		if classes {
			p.Task = regression.TaskClassification
		}
		if method == "tukey" {
			p.Selector = selection.Fixed{Features: []string{"x"}}
		}
		res, err := p.Fit(context.Background(), tab, Options{})
		if err != nil || res.Model == nil {
			t.Fatalf(
				"%s: %v, %v",
				method, res, err,
			)
		}
		at, err := res.Model.Predict(
			nil,
			regression.Rows{
				N: 3,
				Numeric: map[string][]float64{
					"x": {math.NaN(), 0, -.9},
					"z": {0, 0, 0},
				},
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		if classes {
			if at[0] != 1 || at[2] != 0 {
				t.Errorf("%s: classes %v", method, at)
			}
		} else if math.Abs(at[0]-8) > 1 ||
			math.Abs(at[1]-5) > 1 {
			t.Errorf(
				"%s: predictions %v, want 8 and 5",
				method, at,
			)
		}
		if !slices.ContainsFunc(modelTerms(res.Model), func(x regression.Term) bool {
			return x.Missing && x.StdError >= 0
		}) {
			t.Errorf("%s: no term for missing cells", method)
		}
	}
}

// modelTerms lists the terms of a model.
func modelTerms(m regression.Model) []regression.Term {
	switch m := m.(type) {
	case *regression.Linear:
		return m.Terms
	case *regression.ClippedLinear:
		return m.Terms
	case *regression.Additive:
		return m.Terms
	case *regression.Kernel:
		return m.Terms
	case *regression.Classifier:
		return modelTerms(m.Scores[0])
	}
	return nil
}

// TestIndicatorIsKept checks that selectors choose a column with its indicator, and that BRC refuses a plan for
// columns with an indicator.
func TestIndicatorIsKept(t *testing.T) {
	tab := indicatorTable(t, 20000, true)
	p := &Pipeline{
		Task:   regression.TaskClassification,
		Schema: tab.Schema(),
		Target: "y",
		Model:  boosting.BRC{},
		Budget: budget.Target{Epsilon: 8, Delta: 1e-5},
	}
	_, err := p.Plan()
	if !errors.Is(err, boosting.ErrIndicator) {
		t.Errorf("brc: %v", err)
	}
	for _, s := range []selection.Selector{
		selection.DPFSDR{},
		selection.SIS{K: 1, Score: selection.ScoreCorrelation},
		selection.Kendall{K: 1},
	} {
		p.Model = adassp.JointGram{}
		p.Selector = s
		res, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatalf(
				"%s: %v",
				s.Name(), err,
			)
		}
		if slices.Contains(res.Selected, "x") != slices.ContainsFunc(modelTerms(res.Model),
			func(x regression.Term) bool {
				return x.Missing
			}) {
			t.Errorf(
				"%s: selected %q, terms %+v",
				s.Name(),
				res.Selected,
				modelTerms(res.Model),
			)
		}
	}
}
