package pipeline

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/fixture"
	"github.com/dptrain/dptrain/regression"
)

// housesOf reads the houses of the fixture with the column ocean as a category.
func housesOf(t testing.TB, ocean dataset.Column) *dataset.Table {
	t.Helper()
	var file bytes.Buffer
	if err := fixture.WriteHouses(&file); err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "area"}, {Name: "age"}, {Name: "distance"}, {Name: "quality"}, ocean, {Name: "price"}}}
	tab, _, err := dataset.ReadFrom(context.Background(), &file, "houses.csv", schema, dataset.ReadOptions{})
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

// TestEmptyLevelIsNotSignificant: a level that no record has gets no effect that
// its standard error calls significant in more than about 5% of runs. Of 200 runs
// with that chance more than 30 do so with probability below 1e-7; with a chance of
// 28% 30 or fewer do with probability below 1e-4.
func TestEmptyLevelIsNotSignificant(t *testing.T) {
	const runs, most = 200, 30
	for _, method := range []string{JointGram, BoostedAdditive, AdaSSP, BoostedAdaSSP} {
		for _, other := range []bool{false, true} {
			ocean := dataset.Column{Name: "ocean", Kind: dataset.Category, Categories: []string{"inland", "lake", "near bay", "near ocean"}, Other: other}
			tab := housesOf(t, ocean)
			p := &Pipeline{Schema: tab.Schema(), Target: "price", Model: method, Budget: budget.Target{Epsilon: 1, Delta: 1e-6}}
			significant := 0
			for range runs {
				res, err := p.Fit(context.Background(), tab, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, term := range effectsIn(t, res.Model) {
					if term.Category == "lake" && math.Abs(term.Coefficient) > 1.96*term.StdError {
						significant++
					}
				}
			}
			if significant > most {
				t.Errorf("%s: a level without records is significant in %d of %d runs", method, significant, runs)
			}
		}
	}
}
