package audit

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// keepPublic puts the cells of the record at a position back into the columns
// that are not private.
func keepPublic(record []cell, t *dataset.Table, at int) {
	for j, c := range t.Schema().Columns {
		if !c.Private {
			record[j] = cellOf(t.Data(j), at)
		}
	}
}

// cellOf returns a cell of a column.
func cellOf(d dataset.ColumnData, at int) (c cell) {
	if d.Codes != nil {
		c.code = d.Codes[at]
	}
	if d.Floats != nil {
		c.float = d.Floats[at]
	}
	return c
}

// cell is one value of a record, as its column holds it.
type cell struct {
	float float64
	code  int32
}

// editTable returns the table without the record at a position (drop), with an additional one before it, or both,
// that is, with a record replaced. A replacement has the identity of the replaced record; an added record has a
// new identity.
func editTable(
	t *dataset.Table,
	at int,
	drop bool,
	record []cell,
) (*dataset.Table, error) {
	skip := 0
	if drop {
		skip = 1
	}
	columns := make([]dataset.ColumnData, len(t.Schema().Columns))
	for j := range columns {
		d := t.Data(j)
		columns[j].Words = withFresh(d.Words)
		if d.Codes != nil {
			columns[j].Codes = splice(d.Codes, at, skip, record != nil, func() int32 {
				return record[j].code
			})
		}
		if d.Floats != nil {
			columns[j].Floats = splice(d.Floats, at, skip, record != nil, func() float64 {
				return record[j].float
			})
		}
	}
	ids := make([]uint64, t.Len())
	fresh := uint64(1)
	for i := range ids {
		ids[i] = t.ID(i)
		fresh = max(fresh, ids[i]+1)
	}
	if drop && record != nil {
		fresh = ids[at]
	}
	ids = splice(ids, at, skip, record != nil, func() uint64 {
		return fresh
	})
	return dataset.NewTable(t.Schema(), columns, ids)
}

func splice[T any](x []T, at, skip int, insert bool, value func() T) []T {
	out := make([]T, 0, len(x)+1)
	out = append(out, x[:at]...)
	if insert {
		out = append(out, value())
	}
	return append(out, x[at+skip:]...)
}

// withFresh returns words with an additional one that no record has.
func withFresh(words []string) []string {
	if words == nil {
		return nil
	}
	return append(slices.Clip(words), fmt.Sprintf("word %d", len(words)))
}
