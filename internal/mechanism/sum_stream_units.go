package mechanism

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/scratch"
)

// A UnitEngine is an engine that can limit the records of units, as [dataset.View.Cap] does.
type UnitEngine interface {
	Engine
	limit(ctx context.Context, columns []int, most int, lots Lots) (Engine, error)
}

// LimitUnits returns the records of an engine of which every unit keeps at most so many, by the lots of a name;
// see [dataset.View.Cap]. It is [ErrGather] for an engine that cannot.
func LimitUnits(ctx context.Context, s *Session, name string, r Records, most int) (Records, error) {
	e, ok := r.engine.(UnitEngine)
	if !ok {
		return r, ErrGather
	}
	limited, err := e.limit(ctx, r.part.Columns, most, s.Lots(name))
	r.engine = limited
	return r, err
}

// unitPart is the number of records whose units are looked at in one go: the units are dealt to parts by their
// names, which are digests. Of a part the number of records per unit is held, and what is looked at of the
// records of large units.
const unitPart = 1 << 21

// entry is a record of a unit with too many.
type entry struct {
	unit    uint64
	row     int64 // in the table
	content [32]byte
}

// limit implements [UnitEngine]. Which records of a unit are kept depends on them alone, so units can be taken
// in any parts.
func (e *Stream) limit(ctx context.Context, columns []int, most int, lots Lots) (Engine, error) {
	return e.limitIn(ctx, uint64(e.Rows()/unitPart)+1, columns, most, lots)
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
	out := &Stream{schema: e.schema, file: e.file, widths: e.widths, most: e.most, chunks: e.chunks, wordBytes: e.wordBytes,
		members: map[string][]scratch.Place{}, states: map[State][]shelved{}, kept: make([]scratch.Place, len(e.chunks))}
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
	var large []entry
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
	for _, row := range smallest(large, most, lots) {
		chunk := row / int64(e.most)
		setBit(kept[chunk], int(row-chunk*int64(e.most)))
	}
	return err
}

// large marks the records of a chunk whose unit has few, and returns those whose unit has too many.
func (r *chunkReader) large(i int, columns []int, kept []byte, is func(unit uint64) (few, many bool)) ([]entry, error) {
	v, err := r.all(i)
	if err != nil {
		return nil, err
	}
	var content func(int32) [32]byte
	var out []entry
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
		out = append(out, entry{v.ID(k), int64(r.chunks[i].first) + int64(k), content(int32(k))})
	}
	return out, r.err
}

// finds reports whether there are columns with words to be found.
func (e *Stream) finds() bool {
	return slices.ContainsFunc(e.schema.Columns, func(c dataset.Column) bool { return c.Found })
}

// smallest returns the rows of the records with the smallest lots of each unit, the first of equal ones.
func smallest(all []entry, most int, lots Lots) []int64 {
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.row, b.row)) })
	type ticket struct {
		lot uint64
		row int64
	}
	var out []int64
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(x entry) bool { return x.unit != all[0].unit })
		if n < 0 {
			n = len(all)
		}
		tickets, copies := make([]ticket, n), map[[32]byte]int{}
		for i, x := range all[:n] {
			tickets[i] = ticket{lots.Draw(x.unit, x.content, copies[x.content]), x.row}
			copies[x.content]++
		}
		slices.SortStableFunc(tickets, func(a, b ticket) int { return cmp.Compare(a.lot, b.lot) })
		for _, t := range tickets[:min(most, n)] {
			out = append(out, t.row)
		}
		all = all[n:]
	}
	return out
}
