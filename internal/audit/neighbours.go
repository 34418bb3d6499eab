package audit

import (
	"fmt"
	"math"

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
		n, err := edit(t, at, drop, record)
		if err == nil {
			out = append(out, Neighbour{name, n})
		}
		return err
	}
	for position, at := range positions(t.Len()) {
		if rel == budget.AddRemove && t.Len() > 0 {
			if err := add(fmt.Sprintf("record removed at the %s position", position), at, true, nil); err != nil {
				return nil, err
			}
		}
		for kind, record := range strange(t, at) {
			replace, verb := rel != budget.AddRemove, "added"
			if replace {
				verb = "replaced"
			}
			if replace && t.Len() == 0 {
				continue
			}
			if rel == budget.SubstitutePrivateColumns {
				keepPublic(record, t, at)
			}
			if err := add(fmt.Sprintf("%s record %s at the %s position", kind, verb, position), at, replace, record); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// keepPublic puts the cells of the record at a position back into the columns
// that are not private.
func keepPublic(record []cell, t *dataset.Table, at int) {
	for j, c := range t.Schema().Columns {
		switch {
		case c.Private:
		case c.Kind == dataset.Category:
			record[j] = cell{code: t.Codes(j)[at]}
		default:
			record[j] = cell{float: t.Float(j)[at]}
		}
	}
}

// positions returns the first, middle and last position of a table.
func positions(n int) map[string]int {
	if n == 0 {
		return map[string]int{"first": 0}
	}
	return map[string]int{"first": 0, "middle": n / 2, "last": n - 1}
}

// cell is one value of a record, as its column holds it.
type cell struct {
	float float64
	code  int32
}

// strange returns records of several kinds for the columns of a table.
func strange(t *dataset.Table, at int) map[string][]cell {
	out := map[string][]cell{}
	fill := func(kind string, f func(j int, c dataset.Column) cell) {
		record := make([]cell, len(t.Schema().Columns))
		for j, c := range t.Schema().Columns {
			record[j] = f(j, c)
		}
		out[kind] = record
	}
	other := func(c dataset.Column) int32 { return int32(len(c.Categories)) }
	fill("huge", func(_ int, c dataset.Column) cell { return cell{1e300, other(c)} })
	fill("alternating", func(j int, _ dataset.Column) cell { return cell{math.Copysign(1e6, float64(j%2)-.5), 0} })
	fill("zero", func(_ int, _ dataset.Column) cell { return cell{0, 0} })
	fill("missing", func(_ int, c dataset.Column) cell { return cell{math.NaN(), other(c)} })
	fill("infinite", func(_ int, c dataset.Column) cell { return cell{math.Inf(-1), other(c)} })
	if t.Len() > 0 {
		fill("copied", func(j int, c dataset.Column) cell {
			if c.Kind == dataset.Category {
				return cell{code: t.Codes(j)[(at+1)%t.Len()]}
			}
			return cell{float: t.Float(j)[(at+1)%t.Len()]}
		})
	}
	return out
}

// edit returns the table without the record at a position (drop), or with one
// before it, or both: with one in its place. A record that takes another's
// place takes its identity; an added one has an identity of its own.
func edit(t *dataset.Table, at int, drop bool, record []cell) (*dataset.Table, error) {
	skip := 0
	if drop {
		skip = 1
	}
	columns := make([]dataset.ColumnData, len(t.Schema().Columns))
	for j, c := range t.Schema().Columns {
		if c.Kind == dataset.Category {
			columns[j].Codes = splice(t.Codes(j), at, skip, record != nil, func() int32 { return record[j].code })
		} else {
			columns[j].Floats = splice(t.Float(j), at, skip, record != nil, func() float64 { return record[j].float })
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
	ids = splice(ids, at, skip, record != nil, func() uint64 { return fresh })
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
