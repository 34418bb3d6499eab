package causal_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/causal"
	"github.com/dptrain/dptrain/dataset"
)

// The study covers one pair: y is a function of x with noise.
func ExampleStudy() {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "x", Ranged: true, Lower: -1, Upper: 1},
		{Name: "y", Ranged: true, Lower: -2, Upper: 2},
	}}
	const n = 20_000
	x := make([]float64, n)
	y := make([]float64, n)
	for i := range n {
		x[i] = math.Mod(float64(i)*.754877666246693, 2) - 1
		y[i] = 2*x[i]*x[i] - 1 + (math.Mod(float64(i)*.569840290998053, 1)-.5)/2
	}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: x}, {Floats: y}},
		nil,
	)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := causal.Study{Schema: schema, Budget: budget.Target{Epsilon: 2}}.Plan()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Guarantee())
	result, err := plan.Run(context.Background(), table)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("x causes y:", result.Pairs[0].Direction == 1)
	// Output:
	// epsilon 2, delta 0 (relation add-remove)
	// x causes y: true
}
