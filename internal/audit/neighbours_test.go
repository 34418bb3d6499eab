package audit

import (
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// TestPrivateNeighbours checks that, with private columns, neighbours keep the public cells of a record and change
// its private ones.
func TestPrivateNeighbours(t *testing.T) {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "a"},
		{Name: "b", Private: true},
		{
			Name:       "k",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
		},
	}}
	tab, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{
			{Floats: []float64{1, 2, 3}},
			{Floats: []float64{4, 5, 6}},
			{Codes: []int32{0, 1, 0}},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Neighbours(tab, budget.SubstitutePrivateColumns)
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	changed := 0
	for _, n := range list {
		for i := range 3 {
			if n.Table.Float(0)[i] != tab.Float(0)[i] ||
				n.Table.Codes(2)[i] != tab.Codes(2)[i] {
				t.Errorf("%s: a public cell changes", n.Name)
			}
			if n.Table.Float(1)[i] != tab.Float(1)[i] {
				changed++
			}
		}
	}
	if changed != len(list) {
		t.Errorf(
			"%d private cells change in %d neighbours",
			changed, len(list),
		)
	}
}
