package suite

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// A problem is a table for feature selection. The columns are numeric, and the last one is the target.
type problem struct {
	table *dataset.Table
	facts selection.Facts
}

// newProblem names the columns x1, x2, … unless names are given. The last name is that of the target.
func newProblem(names []string, x [][]float64, y []float64) (problem, error) {
	var schema dataset.Schema
	var cells []dataset.ColumnData
	for j, column := range append(x[:len(x):len(x)], y) {
		name := "y"
		switch {
		case names != nil:
			name = names[j]
		case j < len(x):
			name = fmt.Sprintf("x%d", j+1)
		}
		schema.Columns = append(schema.Columns, dataset.Column{Name: name})
		cells = append(cells, dataset.ColumnData{Floats: column})
	}
	t, err := dataset.NewTable(schema, cells, nil)
	if err != nil {
		return problem{}, err
	}
	return problemOf(t), nil
}

// problemOf takes the last column of a table as the target.
func problemOf(t *dataset.Table) problem {
	columns := t.Schema().Columns
	last := len(columns) - 1
	return problem{t,
		selection.Facts{
			Columns:  columns[:last],
			Target:   columns[last],
			Relation: budget.AddRemove,
		}}
}

// features returns the columns and the target.
func (p problem) features() (x [][]float64, y []float64) {
	for j := range p.facts.Columns {
		x = append(x, p.table.Float(j))
	}
	return x, p.table.Float(len(x))
}

// choose runs a selector on its own with a budget, with a private number of records. It returns the chosen columns,
// from 0 and increasing.
func (p problem) choose(
	ctx context.Context,
	x selection.Selector,
	target budget.Target,
) ([]int, error) {
	node, private, err := x.Plan(p.facts)
	if err != nil {
		return nil, err
	}
	if !private {
		return x.Select(ctx, nil, p.facts, memory.NewRecords(p.table.View()))
	}
	priced, err := budget.Calibrate(budget.Sequence("choose", node), target)
	if err != nil {
		return nil, err
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		return nil, err
	}
	return x.Select(ctx, s, p.facts, memory.NewRecords(p.table.View()))
}

// pure returns a budget without delta, as in the papers.
func pure(epsilon float64) budget.Target {
	return budget.Target{
		Epsilon:     epsilon,
		Relation:    budget.AddRemove,
		Composition: budget.Basic,
	}
}

// fromOne numbers columns from 1, as records do.
func fromOne(columns []int) []int {
	out := make([]int, len(columns))
	for i, j := range columns {
		out[i] = j + 1
	}
	return out
}
