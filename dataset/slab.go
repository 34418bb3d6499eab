package dataset

import (
	"context"

	"github.com/dptrain/dptrain/internal/sys/ram"
)

// slab is a run of rows, column by column, while a table is being read: either a window on the final columns,
// or a piece to be joined later.
type slab struct {
	floats [][]float64 // per schema column; nil for categories
	codes  [][]int32   // per schema column; nil for numbers
	ids    []uint64    // nil without a unit column
	rows   int
}

// newSlab allocates n rows. Columns are allocated separately, so that join can release them one by one.
func newSlab(cols []column, unit bool, n int) slab {
	s := slab{
		floats: make([][]float64, len(cols)),
		codes:  make([][]int32, len(cols)),
		rows:   n,
	}
	for j := range cols {
		if cols[j].kind == Numeric {
			s.floats[j] = make([]float64, n)
		} else {
			s.codes[j] = make([]int32, n)
		}
	}
	if unit {
		s.ids = make([]uint64, n)
	}
	return s
}

// roomSlab is newSlab with memory of package rooms for numbers; leave returns that memory.
func roomSlab(cols []column, unit bool, n int) (s slab, leave func()) {
	s = slab{codes: make([][]int32, len(cols)), rows: n}
	s.floats, leave = ram.GetColumns(len(cols), n, func(j int) bool {
		return cols[j].kind == Numeric
	})
	for j := range cols {
		if s.floats[j] == nil {
			s.codes[j] = make([]int32, n)
		}
	}
	if unit {
		s.ids = make([]uint64, n)
	}
	return s, leave
}

// subSlab returns rows [lo, hi) of s, sharing memory.
func (s slab) subSlab(lo, hi int) slab {
	w := slab{
		floats: make([][]float64, len(s.floats)),
		codes:  make([][]int32, len(s.codes)),
		rows:   hi - lo,
	}
	for j := range s.floats {
		if s.floats[j] != nil {
			w.floats[j] = s.floats[j][lo:hi:hi]
		} else {
			w.codes[j] = s.codes[j][lo:hi:hi]
		}
	}
	if s.ids != nil {
		w.ids = s.ids[lo:hi:hi]
	}
	return w
}

// newTable makes a table of a slab that holds every row.
func (s slab) newTable(schema Schema, cols []column) *Table {
	words := make([][]string, len(cols))
	for j := range cols {
		if w := cols[j].words; w != nil {
			words[j] = w.list
		}
	}
	return s.newBatchTable(schema, words)
}

// newBatchTable makes a table of a slab whose text codes index these lists.
func (s slab) newBatchTable(schema Schema, words [][]string) *Table {
	return &Table{
		schema: schema,
		rows:   s.rows,
		floats: s.floats,
		codes:  s.codes,
		ids:    s.ids,
		words:  words,
	}
}

// joinSlabs concatenates slabs column by column, and drops the pieces of a column as soon as it is complete.
// The garbage collector can free them while the next column is built, so the peak is little more than the
// table.
func joinSlabs(
	ctx context.Context,
	workers int,
	cols []column,
	unit bool,
	parts []slab,
) (slab, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	rows := 0
	for _, p := range parts {
		rows += p.rows
	}
	out := slab{
		floats: make([][]float64, len(cols)),
		codes:  make([][]int32, len(cols)),
		rows:   rows,
	}
	err := runTasks(ctx, workers, len(cols), func(_, j int) error {
		if cols[j].kind == Numeric {
			out.floats[j] = concatPieces(rows, parts, func(p *slab) *[]float64 {
				return &p.floats[j]
			})
		} else {
			out.codes[j] = concatPieces(
				rows,
				parts,
				func(p *slab) *[]int32 {
					return &p.codes[j]
				},
			)
		}
		return nil
	})
	if unit {
		out.ids = concatPieces(rows, parts, func(p *slab) *[]uint64 {
			return &p.ids
		})
	}
	return out, err
}

// concatPieces joins one column and drops its pieces.
func concatPieces[T any](rows int, parts []slab, piece func(*slab) *[]T) []T {
	out := make([]T, 0, rows)
	for k := range parts {
		p := piece(&parts[k])
		out = append(out, (*p)[:parts[k].rows]...)
		*p = nil
	}
	return out
}
