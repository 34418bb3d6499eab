package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// unitNeighbours are the neighbours of a table with a unit column: those with the
// whole unit of the first, middle and last record removed, and with a unit added:
// of more equal records than any cap keeps, for each kind of strange record, at
// each of these positions, and of records of all kinds, scattered over the table.
// Records without a unit are no unit, but they must not matter: tables with some
// added are neighbours too.
func unitNeighbours(t *dataset.Table) ([]Neighbour, error) {
	var out []Neighbour
	add := func(name string, gone func(id uint64) bool, extra []placed) error {
		n, err := rebuild(t, gone, extra)
		if err == nil {
			out = append(out, Neighbour{name, n})
		}
		return err
	}
	nobody := func(uint64) bool { return false }
	fresh := unusedID(t)
	for position, at := range positions(t.Len()) {
		if t.Len() > 0 && t.ID(at) != dataset.NoUnit {
			unit := t.ID(at)
			if err := add(fmt.Sprintf("unit of the %s record removed", position), func(id uint64) bool { return id == unit }, nil); err != nil {
				return nil, err
			}
		}
		var mixed []placed
		kinds := strange(t, at)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			record := kinds[kind]
			many := make([]placed, budget.MaxUnitRows+1)
			for i := range many {
				many[i] = placed{at, fresh, record}
			}
			if err := add(fmt.Sprintf("unit of %s records added at the %s position", kind, position), nobody, many); err != nil {
				return nil, err
			}
			mixed = append(mixed, placed{0, fresh, record}, placed{at, fresh, record}, placed{t.Len(), fresh, record})
		}
		if err := add(fmt.Sprintf("unit of mixed records added from the %s position", position), nobody, mixed); err != nil {
			return nil, err
		}
		for i := range mixed {
			mixed[i].unit = dataset.NoUnit
		}
		if err := add(fmt.Sprintf("records without a unit added at the %s position", position), nobody, mixed); err != nil {
			return nil, err
		}
	}
	return out, nil
}

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
func rebuild(t *dataset.Table, gone func(id uint64) bool, extra []placed) (*dataset.Table, error) {
	schema := t.Schema()
	columns := make([]dataset.ColumnData, len(schema.Columns))
	var ids []uint64
	insert := func(at int) {
		for _, e := range extra {
			if e.at != at {
				continue
			}
			ids = append(ids, e.unit)
			for j, c := range schema.Columns {
				if c.Kind == dataset.Category {
					columns[j].Codes = append(columns[j].Codes, e.record[j].code)
				} else {
					columns[j].Floats = append(columns[j].Floats, e.record[j].float)
				}
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
		for j, c := range schema.Columns {
			if c.Kind == dataset.Category {
				columns[j].Codes = append(columns[j].Codes, t.Codes(j)[i])
			} else {
				columns[j].Floats = append(columns[j].Floats, t.Float(j)[i])
			}
		}
	}
	if ids == nil {
		ids = []uint64{}
	}
	return dataset.NewTable(schema, columns, ids)
}
