package selection_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// Of three measurements the first separates the classes, the second is the first in another unit, and the third is
// uninformative.
func ExampleDPFSDR() {
	data := make([]dataset.ColumnData, 4)
	for i := range 20000 {
		class := i % 2
		length := float64(i%7) + 4*float64(class)
		data[0].Floats = append(data[0].Floats, length)
		data[1].Floats = append(data[1].Floats, 100-2.54*length)
		data[2].Floats = append(data[2].Floats, float64(i%11))
		data[3].Codes = append(data[3].Codes, int32(class))
	}
	f := selection.Facts{
		Columns: []dataset.Column{
			{Name: "inches"},
			{Name: "centimetres"},
			{Name: "weekday"},
		},
		Target: dataset.Column{
			Name:       "sick",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
		// One range per column, except for the target.
		Ranges: []scaling.Range{
			{Lower: 0, Upper: 10},
			{Lower: 60, Upper: 100},
			{Lower: 0, Upper: 10},
			{},
		},
	}
	table, err := dataset.NewTable(
		dataset.Schema{Columns: append(f.Columns[:3:3], f.Target)},
		data,
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}

	selector := selection.DPFSDR{K: 2}
	node, _, err := selector.Plan(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	priced, err := budget.Calibrate(
		budget.Sequence("selection", node),
		budget.Target{Epsilon: 3, Delta: 1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := mechanism.NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen, err := selector.Select(
		context.Background(),
		session,
		f,
		memory.NewRecords(table.View()),
	)
	fmt.Println(len(chosen), chosen[0] < 2, err)
	// Output: 1 true <nil>
}
