package adassp

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/scaling"
)

// TestClassGram: with hardly any noise the scores are the least-squares fits of
// the classes' 0/1 entries, which for a category feature are the shares of the
// classes in each category. They add up to 1 where every record has a class.
func TestClassGram(t *testing.T) {
	const n = 60000
	columns := []dataset.Column{
		{Name: "g", Kind: dataset.Category, Categories: []string{"p", "q"}},
		{Name: "y", Kind: dataset.Category, Categories: []string{"a", "b", "c"}},
	}
	g, y := make([]int32, n), make([]int32, n)
	for i := range n {
		g[i] = int32(i % 2)
		y[i] = int32(i / 2 % 3)
		if g[i] == 1 && i%10 < 5 {
			y[i] = 0
		}
	}
	share := map[[2]int32]float64{}
	for i := range n {
		share[[2]int32{g[i], y[i]}] += 2. / n
	}
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, []dataset.ColumnData{{Codes: g}, {Codes: y}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	trainer := ClassGram{Columns: columns}
	node, err := trainer.Plan()
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(budget.Seq("run", node), budget.Target{Epsilon: 50, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := trainer.Run(context.Background(), s, tab.All(), make([]scaling.Range, 2))
	if err != nil || len(fits) != 3 {
		t.Fatalf("%d fits, %v", len(fits), err)
	}
	rows := regression.Rows{N: 2, Codes: map[string]regression.Codes{"g": {Values: []int32{0, 1}, Categories: columns[0].Categories}}}
	for k, fit := range fits {
		got, err := fit.Model.Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range got {
			if want := share[[2]int32{int32(i), int32(k)}]; math.Abs(p-want) > .01 {
				t.Errorf("class %d in category %d: score %.4f, share %.4f", k, i, p, want)
			}
		}
		if o := fit.Model.Output(); o.Target != "y" {
			t.Errorf("%+v", o)
		}
	}
}
