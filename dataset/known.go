package dataset

import (
	"context"
	"sync"
)

// Known returns the view of the records of v whose cell of column j is valid: a number, or a declared category.
// It returns v itself if all cells are valid.
//
// Whether a record is kept depends only on that record. So if two views differ by one record, the results
// differ by at most that record; and if one record of v is replaced, then in the result one record is replaced,
// added or removed, or there is no change. Hence the number of records of the result is private even if that of
// v is public.
//
// The error is that of the context.
func (v View) Known(ctx context.Context, j int) (View, error) {
	c := v.Schema().Columns[j]
	cells := newBlocks(v, 0)
	var rows []int32 // nil until the first invalid cell
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
	room := knownBufferPool.Get().(*knownBuffers)
	defer knownBufferPool.Put(room)
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

// knownBuffers has space for the cells of a block.
type knownBuffers struct {
	floats [DefaultBlockRows]float64
	codes  [DefaultBlockRows]int32
}

var knownBufferPool = sync.Pool{New: func() any {
	return new(knownBuffers)
}}
