package audit_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/audit"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

func ExampleNeighbours() {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "x"}, {Name: "y"}}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: []float64{1, 2}}, {Floats: []float64{3, 4}}},
		nil,
	)
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
	// Output: 12 neighbours, all with two records: true
}

func ExampleStep() {
	count, _ := audit.WorstPairOf(mechanism.StatCount)
	law := budget.Law{
		Kind:    budget.Laplace,
		Epsilon: 2,
		Draws:   1,
	}
	m, err := audit.Step(
		context.Background(),
		count,
		law,
		budget.AddRemove,
		0,
		audit.Options{Draws: 4000, Confidence: 1 - 1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(count.Statistic, m.Epsilon > 1, m.Epsilon <= 2)
	// Output: count true true
}

func ExamplePipeline() {
	p := &pipeline.Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{{Name: "x"}, {Name: "y"}}},
		Target: "y",
		Model:  adassp.JointGram{},
		Budget: budget.Target{Epsilon: 1, Delta: 1e-6},
	}
	v, err := audit.Pipeline(
		context.Background(),
		p,
		audit.Options{Runs: 100, Draws: 1000, Confidence: 1 - 1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(v.Leaves), "steps and the run, violations:", v.Violations())
	// Output: 5 steps and the run, violations: []
}

// The pairs and the measures are meant for the owner of the table only.
func ExampleOwnTable() {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "x"}, {Name: "y"}}}
	p := &pipeline.Pipeline{
		Schema: schema,
		Target: "y",
		Model:  adassp.JointGram{},
		Budget: budget.Target{Epsilon: 1, Delta: 1e-6},
	}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: []float64{1, 2, 90}}, {Floats: []float64{3, 4, 5}}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := audit.OwnTable(
		context.Background(),
		p,
		table,
		audit.Options{Runs: 100, Records: 2, Confidence: 1 - 1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Pairs[0])
	fmt.Println(len(v.Pairs), "neighbours, violations:", v.Violations())
	// Output:
	// record 3 removed, far from the others
	// 5 neighbours, violations: []
}
