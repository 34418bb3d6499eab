package vocabulary

import (
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

func BenchmarkKinds(b *testing.B) {
	x := kindStatistic{[]int{0}}.New(mechanism.NewMaker(budget.AddRemove))
	table, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{Name: "a", Found: true}}},
		[]dataset.ColumnData{{Floats: make([]float64, 1<<20)}},
		nil,
	)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x.Add(mechanism.Block{Block: table.View().Block(0, 1<<20)})
	}
}
