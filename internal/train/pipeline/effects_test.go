package pipeline

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// housesOf reads the houses of the fixture with the column ocean as a category.
func housesOf(t testing.TB, ocean dataset.Column) *dataset.Table {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "area"},
		{Name: "age"},
		{Name: "distance"},
		{Name: "quality"},
		ocean,
		{Name: "price"},
	}}
	tab, _, err := dataset.Read(
		context.Background(),
		"../../../testdata/houses.csv",
		schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// effectsIn returns the terms of the category columns of a model.
func effectsIn(t testing.TB, m regression.Model) (terms []regression.Term) {
	t.Helper()
	var linear *regression.Linear
	switch m := m.(type) {
	case *regression.Linear:
		linear = m
	case *regression.ClippedLinear:
		linear = &m.Linear
	case *regression.Additive:
		linear = &m.Linear
	}
	for _, term := range linear.Terms {
		if linear.Columns[term.Column].Type == regression.Category {
			terms = append(terms, term)
		}
	}
	return terms
}

// TestEmptyLevelIsNotSignificant checks that a level without records gets an effect that is significant by its
// standard error in no more than about 5% of runs. Of 200 runs with that chance more than 30 do so with probability
// below 1e-7; with a chance of 28% 30 or fewer do with probability below 1e-4. Without fresh noise there are 60 runs, of
// which more than 13 do with probability 1e-6; see [isExhaustive].
func TestEmptyLevelIsNotSignificant(t *testing.T) {
	runs := 60
	most := 13
	if isExhaustive() {
		runs = 200
		most = 30
	}
	for _, method := range []string{
		"joint-gram", "boosted-additive",
		"adassp", "boosted-adassp",
	} {
		for _, other := range []bool{false, true} {
			ocean := dataset.Column{
				Name:       "ocean",
				Kind:       dataset.Category,
				Categories: []string{"inland", "lake", "near bay", "near ocean"},
				Other:      other,
			}
			tab := housesOf(t, ocean)
			p := &Pipeline{
				Schema: tab.Schema(),
				Target: "price",
				Model:  defaultTrainer(method),
				Budget: budget.Target{Epsilon: 1, Delta: 1e-6},
			}
			plan, err := p.Plan()
			if err != nil {
				t.Fatal(err)
			}
			significant := 0
			for range runs {
				res, err := p.FitPlan(
					context.Background(), plan.Again(), tab,
					Options{},
				)
				if err != nil {
					t.Fatal(err)
				}
				for _, term := range effectsIn(t, res.Model) {
					if term.Category == "lake" &&
						math.Abs(term.Coefficient) > 1.96*term.StdError {
						significant++
					}
				}
			}
			if significant > most {
				t.Errorf(
					"%s: a level without records is significant in %d of %d runs",
					method,
					significant,
					runs,
				)
			}
		}
	}
}

// TestImportancesOfMethods checks that every method that releases the spread of columns reports their importances,
// for numbers and for classes, and that the other methods report no importances.
func TestImportancesOfMethods(t *testing.T) {
	numbers := housesTable(t, 4000)
	for method, want := range map[string]int{
		"joint-gram":       3,
		"adassp":           3,
		"boosted-adassp":   3,
		"boosted-additive": 3,
		"boosted-kernel":   3,
		"tukey":            0,
	} {
		p := pricePipeline(numbers)
		p.Model = defaultTrainer(method)
		p.Budget.Epsilon = 8
		res, err := p.Fit(context.Background(), numbers, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Importances) != want {
			t.Errorf("%s: %+v", method, res.Importances)
		}
		for i, x := range res.Importances {
			if !(0 <= x.Lower &&
				x.Lower <= x.Value &&
				x.Value <= x.Upper &&
				x.Level == .95) ||
				i > 0 && x.Value > res.Importances[i-1].Value {
				t.Errorf("%s: %+v", method, res.Importances)
			}
		}
		if want > 0 && res.Importances[0].Column != "area" {
			t.Errorf(
				"%s: the column that matters most is %+v",
				method, res.Importances[0],
			)
		}
	}
	for _, classes := range [][]string{
		{"no", "yes"},
		{"low", "middle", "high"},
	} {
		loans := loansTable(t, 4000, classes...)
		for method, want := range map[string]int{
			"joint-gram":       3,
			"boosted-additive": 3,
			"boosted-kernel":   3,
			"svm":              0,
			"logistic":         0,
			"brc":              0,
		} {
			p := gradePipeline(loans)
			p.Model = defaultTrainer(method)
			p.Budget.Epsilon = 8
			res, err := p.Fit(context.Background(), loans, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Importances) != want ||
				want > 0 && res.Importances[0].Column != "income" {
				t.Errorf(
					"%s, %d classes: %+v",
					method, len(classes), res.Importances,
				)
			}
		}
	}
}
