package mechanism

import (
	"cmp"
	"context"
	"slices"
)

// LimitUnits returns the records that are left if every unit keeps at most the given number, by the lots of
// the given name; see [dataset.View.Cap]. It returns [ErrGather] if the engine cannot limit units.
func LimitUnits(ctx context.Context, s *Session, name string, r Records, most int) (Records, error) {
	limit := CapabilitiesOf(r.engine).LimitUnits
	if limit == nil {
		return r, ErrGather
	}
	limited, err := limit(ctx, r.part.Columns, most, s.Lots(name))
	r.engine = limited
	return r, err
}

// UnitPart is the number of records of the units that an engine limits at a time. Units are assigned to parts by
// their identities, which are digests. For one part an engine keeps in memory the number of records of each unit
// and an [Entry] for each record of a unit with too many.
const UnitPart = 1 << 21

// An Entry is a record of a unit with too many records.
type Entry struct {
	Unit    uint64   // its identity
	Row     int64    // in the table
	Content [32]byte // see [dataset.View.Content]
}

// Smallest returns the rows of the records with the smallest lots of each unit, at most the given number for
// each, and the first of equal ones. It sorts the records by unit and row.
func (l Lots) Smallest(all []Entry, most int) []int64 {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Row, b.Row))
	})
	type ticket struct {
		lot uint64
		row int64
	}
	var out []int64
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(x Entry) bool { return x.Unit != all[0].Unit })
		if n < 0 {
			n = len(all)
		}
		tickets := make([]ticket, n)
		copies := map[[32]byte]int{}
		for i, x := range all[:n] {
			tickets[i] = ticket{l.Draw(x.Unit, x.Content, copies[x.Content]), x.Row}
			copies[x.Content]++
		}
		slices.SortStableFunc(tickets, func(a, b ticket) int { return cmp.Compare(a.lot, b.lot) })
		for _, t := range tickets[:min(most, n)] {
			out = append(out, t.row)
		}
		all = all[n:]
	}
	return out
}
