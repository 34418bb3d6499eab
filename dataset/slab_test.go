package dataset

import "testing"

// TestRoomSlab checks that a slab that reuses memory has the shape that newSlab would give it.
func TestRoomSlab(t *testing.T) {
	kinds := []Kind{Numeric, Category, Numeric, Numeric}
	for _, shape := range []struct {
		columns, rows int
		unit          bool
	}{
		{3, 9, true},
		{3, 9, false},
		{2, 9, true},
		{4, 9, true},
		{4, 8, true},
		{0, 5, false},
		{3, 9, true},
	} {
		var cols []column
		for _, k := range kinds[:shape.columns] {
			cols = append(cols, column{kind: k})
		}
		got, leave := roomSlab(cols, shape.unit, shape.rows)
		want := newSlab(cols, shape.unit, shape.rows)
		if got.rows != want.rows ||
			len(got.ids) != len(want.ids) ||
			len(got.floats) != len(cols) {
			t.Fatalf(
				"%+v: %d rows, %d identities, %d columns",
				shape,
				got.rows,
				len(got.ids),
				len(got.floats),
			)
		}
		for j := range cols {
			if len(got.floats[j]) != len(want.floats[j]) ||
				len(got.codes[j]) != len(want.codes[j]) {
				t.Fatalf(
					"%+v: column %d has %d numbers and %d codes",
					shape,
					j,
					len(got.floats[j]),
					len(got.codes[j]),
				)
			}
			for i := range got.floats[j] {
				got.floats[j][i] = 1
			}
		}
		leave()
	}
}
