package scaling

import (
	"context"
	"errors"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestExactNeedsTheRelation checks that the exact range of a column is returned only in a run under the relation that
// makes it public, whatever the settings of the stage.
func TestExactNeedsTheRelation(t *testing.T) {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "x"},
		{
			Name:    "y",
			Private: true,
			Ranged:  true,
			Lower:   0,
			Upper:   1,
		},
	}}
	tab, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{
			{Floats: []float64{3, 8}},
			{Floats: []float64{0, 1}},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
		budget.SubstitutePrivateColumns} {
		priced, err := budget.Calibrate(
			budget.Sequence("run", budget.GaussianLeaf("other", 1, 1)),
			budget.Target{
				Epsilon:  1,
				Delta:    1e-6,
				Relation: rel,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		s, err := mechanism.NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		p := Private{
			Columns:  schema.Columns,
			Target:   -1,
			Relation: budget.SubstitutePrivateColumns,
		}
		ranges, err := p.Run(
			context.Background(), s,
			memory.NewRecords(tab.View()),
		)
		if rel == budget.SubstitutePrivateColumns {
			if err != nil ||
				ranges[0].Lower != 3 ||
				ranges[0].Upper != 8 {
				t.Errorf(
					"%v: %+v, %v",
					rel, ranges, err,
				)
			}
		} else if !errors.Is(err, mechanism.ErrRelation) || ranges != nil {
			t.Errorf(
				"%v: %+v, %v",
				rel, ranges, err,
			)
		}
	}
}
