package tukey_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// The plan reports how many records the mechanism needs. The run spends the leaf and returns a model, or abstains.
func ExampleTukey() {
	columns := []dataset.Column{
		{Name: "dose", Ranged: true, Lower: 0, Upper: 10},
		{Name: "response", Ranged: true, Lower: 0, Upper: 100},
	}
	trainer := tukey.Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: 1,
		Delta:   1e-6,
	}
	node, err := trainer.Plan(facts)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("records needed:", trainer.Records(facts))
	priced, err := budget.Calibrate(
		budget.Sequence("fit", node, budget.LaplaceLeaf("count", 1, 1)),
		budget.Target{Epsilon: 1.05, Delta: 1.1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}

	data := make([]dataset.ColumnData, 2)
	for i := range 20000 {
		dose := 10 * math.Mod(float64(i)*.6180339887, 1)
		data[0].Floats = append(data[0].Floats, dose)
		data[1].Floats = append(data[1].Floats, 20+6*dose+5*math.Sin(float64(i)))
	}
	table, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	const atLeast = 19000 // released beforehand
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
			AtLeast: atLeast,
			Ranges:  ranges,
		},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf(
		"slope about %.0f, intercept about %.0f\n",
		fit.Linear().Terms[0].Coefficient,
		fit.Linear().Intercept,
	)
	// Output:
	// records needed: 2646
	// slope about 6, intercept about 20
}
