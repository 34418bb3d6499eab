package boosting_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// All rounds share the single draw of the gradients, so the price does not depend on their number.
func ExampleBoostedAdaSSP() {
	columns := []dataset.Column{
		{Name: "dose", Ranged: true, Lower: 0, Upper: 10},
		{Name: "response", Ranged: true, Lower: 0, Upper: 100},
	}
	trainer := boosting.BoostedAdaSSP{Rounds: 10}
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
		fmt.Println(leaf.Path, leaf.Law.Kind, leaf.Law.Draws)
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
	fmt.Println(fit.Model.Kind(), slope > 4 && slope < 8)
	// Output:
	// model/boosted-adassp/gram gaussian 1
	// model/boosted-adassp/gradients gaussian 1
	// clipped-linear true
}

// The model fits a curve that a straight line cannot follow.
func ExampleAdditive() {
	columns := []dataset.Column{
		{Name: "hour", Ranged: true, Lower: 0, Upper: 24},
		{Name: "rentals", Ranged: true, Lower: 0, Upper: 100},
	}
	trainer := boosting.Additive{}
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
	data := make([]dataset.ColumnData, 2)
	for i := range 20000 {
		hour := float64(i % 24)
		data[0].Floats = append(data[0].Floats, hour)
		data[1].Floats = append(data[1].Floats, 90-math.Abs(hour-12)*7)
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
		{Lower: 0, Upper: 24, Declared: true},
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
	rentals, err := fit.Model.Predict(
		nil,
		regression.Rows{N: 3, Numeric: map[string][]float64{"hour": {2, 12, 22}}},
	)
	if err != nil {
		panic(err)
	}
	for i, want := range []float64{20, 90, 20} {
		fmt.Println(math.Abs(rentals[i]-want) < 15)
	}
	// Output:
	// true
	// true
	// true
}

// Age and the number of rides are public and income is private, so each round releases a single number.
func ExampleBRC() {
	columns := []dataset.Column{
		{Name: "age", Ranged: true, Lower: 18, Upper: 98},
		{Name: "income", Ranged: true, Lower: 0, Upper: 100, Private: true},
		{Name: "rides", Kind: dataset.Category, Categories: []string{"few", "many"}},
	}
	trainer := boosting.BRC{}
	facts := method.Facts{Columns: columns, Relation: budget.SubstitutePrivateColumns}
	node, err := trainer.Plan(facts)
	if err != nil {
		panic(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("model", node),
		budget.Target{Epsilon: 1, Delta: 1e-6, Relation: facts.Relation},
	)
	if err != nil {
		panic(err)
	}
	for _, leaf := range priced.Leaves() {
		fmt.Println(leaf.Path, leaf.Law.Kind, leaf.Law.Draws)
	}
	data := make([]dataset.ColumnData, 3)
	for i := range 20000 {
		age := float64(18 + i%80)
		income := float64(i / 80 % 100)
		many := int32(0)
		if income-age/4 > 30 {
			many = 1
		}
		data[0].Floats = append(data[0].Floats, age)
		data[1].Floats = append(data[1].Floats, income)
		data[2].Codes = append(data[2].Codes, many)
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
		{Lower: 18, Upper: 98, Declared: true},
		{Lower: 0, Upper: 100, Declared: true},
		{},
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
	class, err := fit.Model.Predict(
		nil,
		regression.Rows{
			N:       2,
			Numeric: map[string][]float64{"age": {30, 30}, "income": {5, 95}},
		},
	)
	if err != nil {
		panic(err)
	}
	classes := fit.Model.Output().Classes
	fmt.Println(classes[int(class[0])], classes[int(class[1])])
	// Output:
	// model/brc/class-0/agreement gaussian 100
	// few many
}
