package compress

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

func kindsTable(t *testing.T, classes []int32) *dataset.Table {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "size"},
		{
			Name:       "colour",
			Kind:       dataset.Category,
			Categories: []string{"red", "blue"},
		},
		{
			Name:       "kind",
			Kind:       dataset.Category,
			Categories: []string{"a", "b"},
		},
	}}
	out, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{
			{Floats: []float64{1, math.NaN(), 3, 5}},
			{Codes: []int32{0, 1, 2, 1}},
			{Codes: classes},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPoints checks that a missing number is replaced by the mean, that an unknown category sets no entry, and that a
// record without a class is left out.
func TestPoints(t *testing.T) {
	p, columns, err := Points(kindsTable(
		t,
		[]int32{0, 1, 2, 1},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, 1, 0, 3, 0, 1, 5, 0, 1}
	if !slices.Equal(p.X, want) ||
		!slices.Equal(p.Class, []int32{0, 1, 1}) {
		t.Errorf("%+v", p)
	}
	if len(columns) != 2 ||
		columns[0].Missing != 3 ||
		columns[1].Levels != 2 {
		t.Errorf("%+v", columns)
	}
	_, _, err = Points(kindsTable(t, []int32{2, 2, 2, 2}))
	if !errors.Is(err, ErrRecords) {
		t.Error(err)
	}
}
