package audit

import (
	"github.com/dptrain/dptrain/dataset"
)

// placed is a record to add before the one at a position.
type placed struct {
	at     int
	unit   uint64
	record []cell
}

// unusedID returns an identity that no record of the table has.
func unusedID(t *dataset.Table) uint64 {
	used := map[uint64]bool{dataset.NoUnit: true}
	for i := range t.Len() {
		used[t.ID(i)] = true
	}
	id := uint64(1)
	for used[id] {
		id++
	}
	return id
}

// rebuild returns the table without the units that are gone and with some records
// more.
func rebuild(
	t *dataset.Table,
	gone func(id uint64) bool,
	extra []placed,
) (*dataset.Table, error) {
	schema := t.Schema()
	columns := make([]dataset.ColumnData, len(schema.Columns))
	of := make([]dataset.ColumnData, len(columns))
	for j := range of {
		of[j] = t.Data(j)
		columns[j].Words = withFresh(of[j].Words)
	}
	var ids []uint64
	insert := func(at int) {
		for _, e := range extra {
			if e.at != at {
				continue
			}
			ids = append(ids, e.unit)
			for j := range columns {
				addCell(&columns[j], of[j], e.record[j])
			}
		}
	}
	used := map[int]bool{}
	for _, e := range extra {
		used[e.at] = true
	}
	for i := range t.Len() + 1 {
		if used[i] {
			insert(i)
		}
		if i == t.Len() || gone(t.ID(i)) {
			continue
		}
		ids = append(ids, t.ID(i))
		for j := range columns {
			addCell(&columns[j], of[j], cellOf(of[j], i))
		}
	}
	if ids == nil {
		ids = []uint64{}
	}
	return dataset.NewTable(schema, columns, ids)
}

// addCell adds a cell to a column of the same kind as another one.
func addCell(to *dataset.ColumnData, like dataset.ColumnData, c cell) {
	if like.Codes != nil {
		to.Codes = append(to.Codes, c.code)
	}
	if like.Floats != nil {
		to.Floats = append(to.Floats, c.float)
	}
}
