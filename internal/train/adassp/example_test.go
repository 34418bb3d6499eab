package adassp_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// The plan of a trainer is priced before there are any rows. The run spends it.
func ExampleAdaSSP() {
	columns := []dataset.Column{
		{Name: "dose", Ranged: true, Lower: 0, Upper: 10},
		{Name: "response", Ranged: true, Lower: 0, Upper: 100},
	}
	trainer := adassp.AdaSSP{}
	facts := method.Facts{Columns: columns}
	node, err := trainer.Plan(facts)
	if err != nil {
		panic(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("model", node),
		budget.Target{Epsilon: 5, Delta: 1e-6},
	)
	if err != nil {
		panic(err)
	}
	for _, leaf := range priced.Leaves() {
		fmt.Println(leaf.Path, leaf.Law.Kind)
	}

	data := make([]dataset.ColumnData, 2)
	for i := range 20000 {
		dose := float64(i%101) / 10
		data[0].Floats = append(data[0].Floats, dose)
		data[1].Floats = append(data[1].Floats, 20+6*dose)
	}
	table, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
	if err != nil {
		panic(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		panic(err)
	}
	ranges := []scaling.Range{
		{Lower: 0, Upper: 10, Declared: true},
		{Lower: 0, Upper: 100, Declared: true},
	}
	fit, err := trainer.Fit(
		context.Background(),
		s,
		method.Data{
			Facts:   facts,
			Records: memory.NewRecords(table.View()),
			Ranges:  ranges,
		},
	)
	if err != nil {
		panic(err)
	}
	slope := fit.Linear().Terms[0].Coefficient
	fmt.Println(fit.Model.Kind(), slope > 5 && slope < 7)
	// Output:
	// model/adassp/eigenvalue gaussian
	// model/adassp/gram gaussian
	// model/adassp/moments gaussian
	// clipped-linear true
}
