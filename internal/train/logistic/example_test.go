package logistic_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// roomsTable returns a table of rooms that are comfortable from 17 degrees upwards.
func roomsTable() (dataset.View, []dataset.Column, []scaling.Range) {
	columns := []dataset.Column{
		{Name: "degrees", Ranged: true, Lower: 10, Upper: 24},
		{
			Name:       "comfortable",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
	}
	data := make([]dataset.ColumnData, 2)
	for i := range 4000 {
		degrees := 10 + float64(i%141)/10
		code := int32(0)
		if degrees > 17 {
			code = 1
		}
		data[0].Floats = append(data[0].Floats, degrees)
		data[1].Codes = append(data[1].Codes, code)
	}
	table, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
	if err != nil {
		log.Fatal(err)
	}
	return table.View(), columns, []scaling.Range{
		{Lower: 10, Upper: 24, Declared: true},
		{},
	}
}

// newSession opens a session of a plan.
func newSession(node budget.Node) *mechanism.Session {
	priced, err := budget.Calibrate(budget.Sequence("fit", node), budget.Target{
		Epsilon: 2,
		Delta:   1e-6,
	})
	if err != nil {
		log.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// printClasses predicts two rooms.
func printClasses(m *regression.Classifier) {
	got, err := m.Predict(
		nil,
		regression.Rows{N: 2, Numeric: map[string][]float64{"degrees": {12, 22}}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Classes[int(got[0])], m.Classes[int(got[1])])
}

func ExampleLogistic_output() {
	view, columns, ranges := roomsTable()
	trainer := logistic.Logistic{Form: logistic.Output}
	facts := method.Facts{Columns: columns}
	node, err := trainer.Plan(facts)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := trainer.Fit(
		context.Background(),
		newSession(node),
		method.Data{
			Facts:   facts,
			Records: memory.NewRecords(view),
			AtLeast: 3900,
			Ranges:  ranges,
		},
	)
	if err != nil {
		log.Fatal(err)
	}
	printClasses(fit.Model.(*regression.Classifier))
	// Output: no yes
}

func ExampleLogistic() {
	view, columns, ranges := roomsTable()
	trainer := logistic.Logistic{}
	facts := method.Facts{Columns: columns}
	node, err := trainer.Plan(facts)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := trainer.Fit(
		context.Background(),
		newSession(node),
		method.Data{
			Facts:   facts,
			Records: memory.NewRecords(view),
			Ranges:  ranges,
		},
	)
	if err != nil {
		log.Fatal(err)
	}
	printClasses(fit.Model.(*regression.Classifier))
	// Output: no yes
}
