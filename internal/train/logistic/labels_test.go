package logistic

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// TestPrivateLabels checks that with a private target and a large budget the scores are those of logistic regression,
// for two and for three classes, from one release of the labels.
func TestPrivateLabels(t *testing.T) {
	for classes, names := range map[int][]string{
		2: {"no", "yes"},
		3: {"no", "maybe", "yes"},
	} {
		columns := []dataset.Column{
			{
				Name:   "a",
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
			{
				Name:   "b",
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
			{
				Name:       "class",
				Kind:       dataset.Category,
				Categories: names,
				Private:    true,
			},
		}
		data := make([]dataset.ColumnData, 3)
		const n = 20000
		for i := range n {
			a := math.Mod(float64(i)*.618033988749895, 1)*2 - 1
			b := math.Mod(float64(i)*.7548776662466927, 1)*2 - 1
			u := math.Mod(float64(i)*.5698402909980532, 1)
			p := 1 / (1 + math.Exp(-3*a+b-.5)) // of the last class
			code := 0
			if u < p {
				code = classes - 1
			} else if classes == 3 && u < p+(1-p)/2 {
				code = 1
			}
			data[0].Floats = append(data[0].Floats, a)
			data[1].Floats = append(data[1].Floats, b)
			data[2].Codes = append(data[2].Codes, int32(code))
		}
		tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		facts := method.Facts{
			Columns:   columns,
			Relation:  budget.SubstitutePrivateColumns,
			LabelOnly: true,
		}
		node, err := Logistic{}.Plan(facts)
		if err != nil {
			t.Fatal(err)
		}
		ranges := []scaling.Range{
			{Lower: -1, Upper: 1, Declared: true},
			{Lower: -1, Upper: 1, Declared: true},
			{},
		}
		fit, err := Logistic{}.Fit(
			context.Background(),
			testrows.Session(t, node, 50, facts.Relation),
			method.Data{
				Facts:   facts,
				Records: memory.NewRecords(tab.View()),
				Ranges:  ranges,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		scores := fit.Model.(*regression.Classifier).Scores
		m := regression.LinearPart(scores[len(scores)-1])
		for k, want := range []float64{3, -1} {
			got := m.Terms[k].Coefficient
			if math.Abs(got-want) > .12 {
				t.Errorf(
					"%d classes: coefficient %d is %v, want %v",
					classes, k, got, want,
				)
			}
		}
		if math.Abs(m.Intercept-.5) > .12 {
			t.Errorf(
				"%d classes: intercept %v, want .5",
				classes, m.Intercept,
			)
		}
	}
}
