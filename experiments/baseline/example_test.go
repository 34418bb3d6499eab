package baseline_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// lineTable returns a table whose class is the sign of a private number.
func lineTable(n int) *dataset.Table {
	columns := []dataset.Column{
		{Name: "open", Ranged: true, Lower: 0, Upper: 1},
		{Name: "place", Ranged: true, Lower: -1, Upper: 1, Private: true},
		{Name: "side", Kind: dataset.Category, Categories: []string{"left", "right"}},
	}
	d := make([]dataset.ColumnData, 3)
	for i := range n {
		x := float64(2*i+1)/float64(n) - 1
		d[0].Floats = append(d[0].Floats, .5)
		d[1].Floats = append(d[1].Floats, x)
		code := int32(0)
		if x > 0 {
			code = 1
		}
		d[2].Codes = append(d[2].Codes, code)
	}
	t, err := dataset.NewTable(dataset.Schema{Columns: columns}, d, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func sessionFor(node budget.Node) *mechanism.Session {
	p, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  20,
			Delta:    1e-6,
			Relation: budget.SubstitutePrivateColumns,
		},
	)
	if err != nil {
		panic(err)
	}
	s, err := mechanism.NewSession(p)
	if err != nil {
		panic(err)
	}
	return s
}

// Teachers answer ten queries, which spends the budget.
func ExamplePATE_Run() {
	train := lineTable(2000)
	queries := lineTable(10)
	p := baseline.PATE{
		Columns: train.Schema().Columns,
		Buckets: 50,
		Queries: 10,
	}
	node, err := p.Plan()
	if err != nil {
		panic(err)
	}
	answers, err := p.Run(
		context.Background(),
		sessionFor(node),
		train.View(),
		queries.View(),
	)
	fmt.Println(answers, err)
	// Output: [0 0 0 0 0 1 1 1 1 1] <nil>
}

func ExamplePeople_Run() {
	train := lineTable(2000)
	test := lineTable(10)
	p := baseline.People{Columns: train.Schema().Columns, Rounds: 5}
	node, err := p.Plan()
	if err != nil {
		panic(err)
	}
	ranges := []scaling.Range{
		{Lower: 0, Upper: 1, Declared: true},
		{Lower: -1, Upper: 1, Declared: true},
		{},
	}
	m, err := p.Run(context.Background(), sessionFor(node), train.View(), ranges)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Predict(test.View()))
	// Output: [0 0 0 0 0 1 1 1 1 1] <nil>
}

func ExampleFitOpen() {
	t := lineTable(100)
	m, err := baseline.FitOpen(
		context.Background(),
		nonprivate.NonprivateSVM,
		t.View(),
		[]int{1},
	)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Predict(lineTable(6).View()))
	// Output: [0 0 0 1 1 1] <nil>
}
