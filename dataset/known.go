package dataset

import (
	"context"
	"sync"
)

// Known returns the view of the records of v whose cell of column j can be read: a
// number, or one of the declared categories. Where all of them can it is v itself.
//
// Whether a record stays depends on that record alone. So between two views that
// differ by one record the results differ by that record, or not at all; and where one
// record of v is replaced, one of the result is replaced, added or removed, or none.
// The number of records of the result is then private even if that of v is public.
//
// The error is that of the context.
func (v View) Known(ctx context.Context, j int) (View, error) {
	c := v.Schema().Columns[j]
	cells := newBlocks(v, 0)
	var rows []int32 // nil as long as every cell could be read
	keep := func(at int, known bool) {
		switch {
		case rows != nil && known:
			rows = append(rows, int32(at))
		case rows == nil && !known:
			rows = make([]int32, at, v.Len()-1)
			for k := range rows {
				rows[k] = int32(k)
			}
		}
	}
	room := knownRooms.Get().(*knownRoom)
	defer knownRooms.Put(room)
	for i := range cells.count {
		if err := ctx.Err(); err != nil {
			return View{}, err
		}
		b := cells.blockAt(i)
		for k, x := range b.Float(j, room.floats[:]) {
			keep(b.lo+k, x == x)
		}
		for k, code := range b.Codes(j, room.codes[:]) {
			keep(b.lo+k, int(code) < len(c.Categories))
		}
	}
	if rows == nil {
		return v, ctx.Err()
	}
	return v.Select(rows), nil
}

// knownRoom has space for the cells of a block.
type knownRoom struct {
	floats [DefaultBlockRows]float64
	codes  [DefaultBlockRows]int32
}

var knownRooms = sync.Pool{New: func() any { return new(knownRoom) }}
