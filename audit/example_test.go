package audit_test

import (
	"fmt"

	"github.com/dptrain/dptrain/audit"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

func ExampleNeighbours() {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "x"}, {Name: "y"}}}
	table, err := dataset.NewTable(schema, []dataset.ColumnData{{Floats: []float64{1, 2}}, {Floats: []float64{3, 4}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	neighbours, err := audit.Neighbours(table, budget.Substitute)
	if err != nil {
		fmt.Println(err)
		return
	}
	same := true
	for _, n := range neighbours {
		same = same && n.Table.Len() == 2
	}
	fmt.Println(len(neighbours), "neighbours, all with two records:", same)
	// Output: 18 neighbours, all with two records: true
}
