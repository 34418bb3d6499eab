package dataset

import (
	"slices"
	"testing"
)

// TestPieceHasOwnRows checks that a piece has rows and identities of its own, and the cells that the table had at that
// time.
func TestPieceHasOwnRows(t *testing.T) {
	now := []float64{1, 2, 3}
	s := Schema{Columns: []Column{{Name: "x", Kind: Numeric, Lower: 0, Upper: 9}}}
	one := s.Piece(3, 10, nil, func(int) ColumnData {
		return ColumnData{Floats: now}
	})
	now = []float64{4, 5}
	for _, ids := range [][]uint64{nil, {7, 9}} {
		two := one.Another(2, 100, ids)
		v := two.View()
		if v.Len() != 2 ||
			!slices.Equal(v.Block(0, 2).Float(0, nil), now) {
			t.Errorf("another piece has %d rows", v.Len())
		}
		want := []uint64{100, 101}
		if ids != nil {
			want = ids
		}
		got := []uint64{two.ID(0), two.ID(1)}
		if !slices.Equal(got, want) {
			t.Errorf("identities %v, want %v", got, want)
		}
	}
	if one.View().Len() != 3 || one.ID(2) != 12 {
		t.Errorf(
			"the first piece has %d rows, the last one %d",
			one.View().Len(),
			one.ID(2),
		)
	}
}
