package logistic

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// Package svm tests the accuracy and everything that is shared with the support vector machine.

// TestRowOrder checks that the order of the rows does not change the noise-free gradients, which are sums of
// integers.
func TestRowOrder(t *testing.T) {
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
			Other:      true,
		},
		{
			Name:       "class",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
	}
	ranges := []scaling.Range{
		{Lower: -1, Upper: 1, Declared: true},
		{}, {},
	}
	node, err := Logistic{}.Plan(method.Facts{Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(budget.Sequence("run", node), budget.Target{
		Epsilon: 1,
		Delta:   1e-6,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	const n = 999
	sums := func(place func(i int) int) any {
		data := make([]dataset.ColumnData, 3)
		for i := range n {
			k := place(i)
			data[0].Floats = append(data[0].Floats, math.Sin(float64(k)))
			data[1].Codes = append(data[1].Codes, int32(k%4))
			data[2].Codes = append(data[2].Codes, int32(k/2%3))
		}
		tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		acc, err := mechanism.Sum[*gradientPass](
			context.Background(),
			s,
			memory.NewRecords(tab.View()),
			gradientStatistic{
				columns, ranges,
				[][]float64{{1, -1, .5, 0, .3}},
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		return acc.cross[0].Bound()
	}
	if !reflect.DeepEqual(sums(func(i int) int { return i }),
		sums(func(i int) int {
			return (i*31 + 7) % n
		})) {
		t.Error("the sums depend on the order of the rows")
	}
}
