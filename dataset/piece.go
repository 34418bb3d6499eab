package dataset

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/engine/colblock"
)

// Piece returns some records of a table that is stored elsewhere, as a table. Their identities are ids. If that
// is nil, the identity of the first record is first, and those of the others follow. cells returns column j
// when it is needed: Floats or Codes of the given number of rows, as the readers made them, without text
// categories. It may be called again for one column, and concurrently if the piece is used concurrently.
//
// The schema must be that of a table. If it has a unit, ids names that of each record.
func (s Schema) Piece(
	rows int,
	first uint64,
	ids []uint64,
	cells func(j int) ColumnData,
) *Table {
	t := newTable(s, rows, ids)
	t.first = first
	t.cells = cells
	return t
}

// Another returns another piece of the same table as t, with the same cells.
func (t *Table) Another(rows int, first uint64, ids []uint64) *Table {
	out := *t
	out.rows = rows
	out.first = first
	out.ids = ids
	return &out
}

// floatColumn returns numeric column j, nil for a category column.
func (t *Table) floatColumn(j int) []float64 {
	if t.cells != nil && t.floats[j] == nil && t.schema.Columns[j].Kind == Numeric {
		return t.cells(j).Floats
	}
	if c := t.compactColumn(j); c != nil {
		return c.Values()
	}
	return t.floats[j]
}

// compactColumn returns numeric column j if it is compact, otherwise nil.
func (t *Table) compactColumn(j int) *colblock.Packed {
	if t.small == nil {
		return nil
	}
	return t.small[j]
}

// codeColumn returns category column j, nil for a numeric column.
func (t *Table) codeColumn(j int) []int32 {
	if t.cells != nil && t.codes[j] == nil && t.schema.Columns[j].Kind == Category {
		return t.cells(j).Codes
	}
	return t.codes[j]
}

// Batches reads the same records as [Read], batch by batch, in memory that does not grow with their number.
// work is called for each batch, from several goroutines at once; emit is called with its results in the order
// of the records, from one goroutine. The path - reads standard input from from, like [ReadFrom]. Errors are
// those of [Read], work and emit.
func (o ReadOptions) Batches(
	ctx context.Context,
	path string,
	from io.Reader,
	schema Schema,
	work func(*Batch) (any, error),
	emit func(any) error,
) error {
	o.noText = true
	to := Consumer[any]{
		Begin: func(Head) error { return nil },
		Work:  work,
		Emit:  emit,
	}
	if from != nil {
		return StreamFrom(ctx, from, path, schema, o, to)
	}
	paths, err := filesOf(path)
	if err != nil {
		return err
	}
	if len(paths) > 1 {
		if _, err := sameHeader(paths, o); err != nil {
			return err
		}
	}
	var before atomic.Int64
	to.Work = func(b *Batch) (any, error) {
		before.Add(int64(b.Table.Len()))
		return work(b)
	}
	for _, path := range paths {
		o.before = before.Load()
		if err := Stream(ctx, path, schema, o, to); err != nil {
			return err
		}
	}
	return nil
}

// Merge adds the counts of o, of the same schema.
func (s *Stats) Merge(o *Stats) {
	s.addStats(o)
}

// Files lists the files that a path denotes, in the order of their records.
func (o ReadOptions) Files(path string) ([]string, error) {
	return filesOf(path)
}

// Kept returns a table of records whose columns were stored elsewhere as returned by [Table.Float],
// [Table.Labels] and [Table.Words]: Floats or Codes for each column, and Words. The identity of the first
// record is first, and those of the others follow; if the schema has a unit, ids names that of each record
// instead.
func (s Schema) Kept(
	rows int,
	first uint64,
	ids []uint64,
	columns []ColumnData,
) *Table {
	t := newTable(s, rows, ids)
	t.first = first
	for j, c := range columns {
		t.floats[j], t.codes[j], t.words[j] = c.Floats, c.Codes, c.Words
	}
	return t
}
