package audit

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// A Neighbour is a table that differs from another by one record, or by one whole
// privacy unit.
type Neighbour struct {
	Name  string
	Table *dataset.Table
}

// Neighbours returns neighbours of a table under a relation: with the first,
// middle and last record removed, and with each kind of strange record added
// at these positions; or with the record at these positions replaced by each
// kind. Records keep their identity, so that coins drawn for them in another
// run can be matched. A table without records has neighbours with one.
//
// Under add-remove a table with a unit column has neighbours that differ by a whole
// unit in place of a record.
func Neighbours(t *dataset.Table, rel budget.Relation) ([]Neighbour, error) {
	if t.Schema().Unit != "" && rel == budget.AddRemove {
		return unitNeighbours(t)
	}
	var out []Neighbour
	add := func(name string, at int, drop bool, record []cell) error {
		n, err := editTable(t, at, drop, record)
		if err == nil {
			out = append(out, Neighbour{name, n})
		}
		return err
	}
	for position, at := range probePositions(t.Len()) {
		if rel == budget.AddRemove && t.Len() > 0 {
			err := add(
				fmt.Sprintf("record removed at the %s position", position),
				at,
				true,
				nil,
			)
			if err != nil {
				return nil, err
			}
		}
		for kind, record := range strangeRecords(t, at) {
			replace := rel != budget.AddRemove
			verb := "added"
			if replace {
				verb = "replaced"
			}
			if replace && t.Len() == 0 {
				continue
			}
			if rel == budget.SubstitutePrivateColumns {
				keepPublic(record, t, at)
			}
			err := add(
				fmt.Sprintf("%s record %s at the %s position", kind, verb, position),
				at,
				replace,
				record,
			)
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// probePositions returns the first, middle and last position of a table, each position once.
func probePositions(n int) map[string]int {
	out := map[string]int{"first": 0}
	if n > 1 {
		out["last"] = n - 1
	}
	if n > 2 {
		out["middle"] = n / 2
	}
	return out
}

// strangeRecords returns records of several kinds for the columns of a table.
func strangeRecords(t *dataset.Table, at int) map[string][]cell {
	out := map[string][]cell{}
	fill := func(kind string, f func(j int, c dataset.Column) cell) {
		record := make([]cell, len(t.Schema().Columns))
		for j, c := range t.Schema().Columns {
			record[j] = f(j, c)
		}
		out[kind] = record
	}
	other := func(c dataset.Column) int32 {
		return int32(len(c.Categories))
	}
	fresh := func(j int, c dataset.Column) cell { // for text categories to be found, a text that occurs in no other record
		words := t.Data(j).Words
		if c.Found {
			return cell{math.NaN(), int32(len(words))}
		}
		return cell{1e300, other(c)}
	}
	fill("huge", fresh)
	fill("alternating", func(j int, _ dataset.Column) cell {
		return cell{math.Copysign(1e6, float64(j%2)-.5), 0}
	})
	fill("zero", func(_ int, _ dataset.Column) cell {
		return cell{0, 0}
	})
	fill("missing", func(_ int, c dataset.Column) cell {
		return cell{math.NaN(), other(c)}
	})
	fill("infinite", func(_ int, c dataset.Column) cell {
		return cell{math.Inf(-1), other(c) + 1}
	})
	if t.Len() > 0 {
		fill("copied", func(j int, _ dataset.Column) cell {
			return cellOf(t.Data(j), (at+1)%t.Len())
		})
	}
	return out
}

// unitNeighbours returns the neighbours of a table with a unit column: those with the whole unit of the first, middle
// and last record removed, and those with a unit added. An added unit has more equal records than any cap keeps, for
// each kind of strange record, at each of these positions, or has records of all kinds, scattered over the table.
// Records without a unit form no unit, but they must not matter: tables with some added are neighbours too.
func unitNeighbours(t *dataset.Table) ([]Neighbour, error) {
	var out []Neighbour
	add := func(name string, gone func(id uint64) bool, extra []placed) error {
		n, err := rebuild(t, gone, extra)
		if err == nil {
			out = append(out, Neighbour{name, n})
		}
		return err
	}
	nobody := func(uint64) bool {
		return false
	}
	fresh := unusedID(t)
	for position, at := range probePositions(t.Len()) {
		if t.Len() > 0 && t.ID(at) != dataset.NoUnit {
			unit := t.ID(at)
			err := add(
				fmt.Sprintf("unit of the %s record removed", position),
				func(id uint64) bool {
					return id == unit
				},
				nil,
			)
			if err != nil {
				return nil, err
			}
		}
		var mixed []placed
		kinds := strangeRecords(t, at)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			record := kinds[kind]
			many := make([]placed, budget.MaxUnitRows+1)
			for i := range many {
				many[i] = placed{at, fresh, record}
			}
			err := add(
				fmt.Sprintf("unit of %s records added at the %s position", kind, position),
				nobody,
				many,
			)
			if err != nil {
				return nil, err
			}
			mixed = append(
				mixed,
				placed{0, fresh, record},
				placed{at, fresh, record},
				placed{t.Len(), fresh, record},
			)
		}
		err := add(
			fmt.Sprintf("unit of mixed records added from the %s position", position),
			nobody,
			mixed,
		)
		if err != nil {
			return nil, err
		}
		for i := range mixed {
			mixed[i].unit = dataset.NoUnit
		}
		err = add(
			fmt.Sprintf("records without a unit added at the %s position", position),
			nobody,
			mixed,
		)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
