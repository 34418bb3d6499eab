package describe_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/describe"
)

// A description of two columns with declared ranges: the price is known before a row is read.
func Example() {
	s := describe.Study{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{Name: "age", Ranged: true, Upper: 110},
			{Name: "cost", Ranged: true, Upper: 5000},
		}},
		Budget: budget.Target{Epsilon: 0.5, Delta: 1e-6},
	}
	plan, err := s.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, leaf := range plan.Leaves() {
		fmt.Printf("%s %.4f\n", leaf.Path, leaf.Law.Mu)
	}
	table, err := dataset.NewTable(
		s.Schema,
		[]dataset.ColumnData{{Floats: []float64{34, 51}}, {Floats: []float64{120, 80}}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := plan.Run(context.Background(), table)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(describe.Read(res.Released).Columns), "columns")
	// Output:
	// describe/all/histogram 0.0654
	// describe/all/moments 0.0654
	// describe/all/matrix 0.0827
	// 2 columns
}
