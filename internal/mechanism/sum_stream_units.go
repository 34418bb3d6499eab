package mechanism

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// A UnitEngine is an engine that can limit the records of units.
type UnitEngine interface {
	Engine
	// Limit returns an engine for the records that are left when every unit keeps at most so many and records without
	// a unit none; see [dataset.View.Cap]. The content of a record is that of some columns, in this order.
	Limit(ctx context.Context, columns []int, most int, lots Lots) (Engine, error)
}

// LimitUnits returns the records of an engine of which every unit keeps at most so many, by the lots of a name;
// see [dataset.View.Cap]. It is [ErrGather] for an engine that cannot.
func LimitUnits(ctx context.Context, s *Session, name string, r Records, most int) (Records, error) {
	e, ok := r.engine.(UnitEngine)
	if !ok {
		return r, ErrGather
	}
	limited, err := e.Limit(ctx, r.part.Columns, most, s.Lots(name))
	r.engine = limited
	return r, err
}

// UnitPart is the number of records whose units are looked at in one go: the units are dealt to parts by their
// names, which are digests. Of a part the number of records per unit is held, and what is looked at of the
// records of large units.
const UnitPart = 1 << 21

// An Entry is a record of a unit with too many.
type Entry struct {
	Unit    uint64   // its identity
	Row     int64    // in the table
	Content [32]byte // see [dataset.View.Content]
}

// Limit implements [UnitEngine]. Which records of a unit are kept depends on them alone, so units can be taken
// in any parts.
func (e *Stream) Limit(ctx context.Context, columns []int, most int, lots Lots) (Engine, error) {
	return e.limitIn(ctx, uint64(e.Rows()/UnitPart)+1, columns, most, lots)
}

// limitIn is limit in a number of parts.
func (e *Stream) limitIn(ctx context.Context, parts uint64, columns []int, most int, lots Lots) (Engine, error) {
	kept := make([][]byte, len(e.chunks))
	for i := range kept {
		kept[i] = make([]byte, (e.most+7)/8)
	}
	for part := range parts {
		if err := e.limitPart(ctx, columns, most, lots, kept, func(unit uint64) bool { return unit != dataset.NoUnit && unit%parts == part }); err != nil {
			return nil, err
		}
	}
	out := e.beside()
	out.kept = make([]scratch.Place, len(e.chunks))
	var room []byte
	for i, bits := range kept {
		out.kept[i] = e.file.Reserve(len(bits))
		var err error
		if room, err = e.file.Write(&out.kept[i], bits, room); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// limitPart marks the records that are kept of some units.
func (e *Stream) limitPart(ctx context.Context, columns []int, most int, lots Lots, kept [][]byte, among func(unit uint64) bool) error {
	counts := map[uint64]int{}
	var mu sync.Mutex
	err := e.eachChunk(ctx, func(r *chunkReader, i int) error {
		units, err := r.units(&r.chunks[i])
		mu.Lock()
		defer mu.Unlock()
		for _, unit := range units {
			if among(unit) {
				counts[unit]++
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	var large []Entry
	err = e.eachChunk(ctx, func(r *chunkReader, i int) error {
		some, err := r.large(i, columns, kept[i], func(unit uint64) (few, many bool) {
			n := counts[unit]
			return n > 0 && n <= most, n > most
		})
		mu.Lock()
		defer mu.Unlock()
		large = append(large, some...)
		return err
	})
	for _, row := range lots.Smallest(large, most) {
		chunk := row / int64(e.most)
		setBit(kept[chunk], int(row-chunk*int64(e.most)))
	}
	return err
}

// large marks the records of a chunk whose unit has few, and returns those whose unit has too many.
func (r *chunkReader) large(i int, columns []int, kept []byte, is func(unit uint64) (few, many bool)) ([]Entry, error) {
	v, err := r.all(i)
	if err != nil {
		return nil, err
	}
	var content func(int32) [32]byte
	var out []Entry
	for k := range v.Len() {
		few, many := is(v.ID(k))
		if few {
			setBit(kept, k)
		}
		if !many {
			continue
		}
		if content == nil {
			var words [][]string
			if r.finds() {
				if words, err = r.words(i); err != nil {
					return nil, err
				}
			}
			content = v.Columns(columns).Content(words)
		}
		out = append(out, Entry{v.ID(k), int64(r.chunks[i].first) + int64(k), content(int32(k))})
	}
	return out, r.err
}

// finds reports whether there are columns with words to be found.
func (e *Stream) finds() bool {
	return slices.ContainsFunc(e.schema.Columns, func(c dataset.Column) bool { return c.Found })
}

// Smallest returns the rows of the records with the smallest lots of each unit, at most so many and the first of equal
// ones. It sorts the records by unit and row.
func (l Lots) Smallest(all []Entry, most int) []int64 {
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Row, b.Row)) })
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
		tickets, copies := make([]ticket, n), map[[32]byte]int{}
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
