package scaling_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// The range of an undeclared column.
func ExamplePrivate() {
	salary := make([]float64, 20000)
	for i := range salary {
		salary[i] = 20000 + 3*float64(i)
	}
	columns := []dataset.Column{{Name: "salary"}}
	table, err := dataset.NewTable(
		dataset.Schema{Columns: columns},
		[]dataset.ColumnData{{Floats: salary}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	stage := scaling.Private{Columns: columns, Target: -1}
	node, _ := stage.Plan()
	priced, err := budget.Calibrate(budget.Sequence("run", node), budget.Target{
		Epsilon: 5,
		Delta:   1e-6,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	ranges, err := stage.Run(
		context.Background(),
		s.Sub("scaling"),
		memory.NewRecords(table.View()),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf(
		"middle about %.0f thousand, wider than the data: %v\n",
		math.Round(ranges[0].Center()/1e4)*10,
		ranges[0].Half() > 30000,
	)
	// Output: middle about 50 thousand, wider than the data: true
}
