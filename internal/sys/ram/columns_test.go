package ram

import "testing"

// TestTakenColumnsDoNotOverlap checks that memory has the requested shape, whatever was given back before, and that
// columns do not overlap.
func TestTakenColumnsDoNotOverlap(t *testing.T) {
	for _, shape := range [][2]int{
		{3, 5}, {3, 5},
		{5, 3}, {0, 7},
		{3, 6}, {1, 0},
		{3, 5},
	} {
		room := takeColumns(shape[0], shape[1])
		if len(room) != shape[0] {
			t.Fatalf(
				"%d columns for %v",
				len(room), shape,
			)
		}
		for j, column := range room {
			if len(column) != shape[1] ||
				cap(column) != shape[1]+spare {
				t.Fatalf(
					"a column of %d numbers and space for %d, for %v",
					len(column),
					cap(column),
					shape,
				)
			}
			for i := range column[:cap(column)] {
				column[:cap(column)][i] = float64(j)
			}
		}
		for j, column := range room {
			for _, x := range column[:cap(column)] {
				if x != float64(j) {
					t.Fatalf(
						"column %d of %v has a number of column %v",
						j, shape, x,
					)
				}
			}
		}
		giveBack(room)
	}
}

// TestColumns checks that memory is allocated for numeric columns only.
func TestColumns(t *testing.T) {
	for range 2 {
		columns, leave := GetColumns(5, 4, func(j int) bool {
			return j%2 == 1
		})
		for j, column := range columns {
			want := 4 * (j % 2)
			if len(column) != want || (column == nil) != (want == 0) {
				t.Errorf(
					"column %d has %d numbers, want %d",
					j, len(column), want,
				)
			}
		}
		leave()
	}
}
