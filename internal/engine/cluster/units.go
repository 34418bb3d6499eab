package cluster

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// unitCounts says how many records of a split units have.
type unitCounts struct {
	Units  []uint64 // sorted
	Counts []int
}

// largeRecord is a record of a unit with too many.
type largeRecord struct {
	Place   int // in the split
	Unit    uint64
	Content [32]byte
}

// LimitUnits implements [mechanism.Capabilities.LimitUnits]. The units are dealt to shares by their names, which are digests. Of one share
// after the other workers count the records of every unit, and say what is in those of units with too many. The
// lots are drawn here, and tasks then name the records that are left out.
func (e *Engine) LimitUnits(ctx context.Context, columns []int, most int, lots mechanism.Lots) (mechanism.Engine, error) {
	return e.limitIn(ctx, e.rows()/mechanism.UnitPart+1, columns, most, lots)
}

// limitIn is LimitUnits in a number of shares.
func (e *Engine) limitIn(ctx context.Context, shares int, columns []int, most int, lots mechanism.Lots) (*Engine, error) {
	left := make([][]int, len(e.splits))
	for k := range shares {
		of, err := e.largeUnits(ctx, share{Index: uint64(k), Count: uint64(shares)}, most)
		if err != nil {
			return nil, err
		}
		if of == nil {
			continue
		}
		all, err := e.largeRecords(ctx, columns, of)
		if err != nil {
			return nil, err
		}
		kept := map[int64]bool{}
		for _, row := range lots.Smallest(all, most) {
			kept[row] = true
		}
		for _, x := range all {
			if !kept[x.Row] {
				i := e.splitOf(x.Row)
				left[i] = append(left[i], int(x.Row-int64(e.splits[i].First)))
			}
		}
	}
	out := *e
	out.splits, out.units = slices.Clone(e.splits), true
	for i := range left {
		slices.Sort(left[i])
		out.splits[i].Left = packPlaces(left[i])
	}
	return &out, nil
}

// splitOf returns the split that has a record.
func (e *Engine) splitOf(row int64) int {
	i, _ := slices.BinarySearchFunc(e.splits, row, func(s split, row int64) int {
		if int64(s.First)+int64(s.Rows) <= row {
			return -1
		}
		return 1
	})
	return i
}

// largeUnits returns the units of a share with too many records, those of each split; nil if there are none.
func (e *Engine) largeUnits(ctx context.Context, of share, most int) ([][]uint64, error) {
	contents, err := e.ask(ctx, order{Asks: asksUnits, Share: of}, nil)
	if err != nil {
		return nil, err
	}
	total, in := map[uint64]int{}, make([][]uint64, len(contents))
	for i, content := range contents {
		c := &unitCounts{}
		if unpackAnswer(content, c) != nil || len(c.Units) != len(c.Counts) {
			return nil, failed(errAnswer)
		}
		for k, unit := range c.Units {
			total[unit] += c.Counts[k]
		}
		in[i] = c.Units
	}
	some := false
	for i := range in {
		in[i] = slices.DeleteFunc(in[i], func(unit uint64) bool { return total[unit] <= most })
		some = some || len(in[i]) > 0
	}
	if !some {
		return nil, nil
	}
	return in, nil
}

// largeRecords returns the records of units, those of each split.
func (e *Engine) largeRecords(ctx context.Context, columns []int, units [][]uint64) ([]mechanism.Entry, error) {
	contents, err := e.ask(ctx, order{Asks: asksLarge, Columns: columns}, func(i int) []uint64 { return units[i] })
	if err != nil {
		return nil, err
	}
	var all []mechanism.Entry
	for i, content := range contents {
		var records []largeRecord
		if unpackAnswer(content, &records) != nil {
			return nil, failed(errAnswer)
		}
		for _, x := range records {
			if x.Place < 0 || x.Place >= e.splits[i].Rows {
				return nil, failed(errAnswer)
			}
			all = append(all, mechanism.Entry{Unit: x.Unit, Row: int64(e.splits[i].First) + int64(x.Place), Content: x.Content})
		}
	}
	return all, nil
}

// units counts the records of the units of a share.
func (s *split) units(ctx context.Context, o *order) (content []byte, rows int, err error) {
	counts := map[uint64]int{}
	rows, err = s.views(ctx, o, nil, func(v dataset.View, _ func(int) []string) error {
		for k := range v.Len() {
			if unit := v.ID(k); unit != dataset.NoUnit && unit%o.Share.Count == o.Share.Index {
				counts[unit]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	out := unitCounts{Units: slices.Sorted(maps.Keys(counts))}
	for _, unit := range out.Units {
		out.Counts = append(out.Counts, counts[unit])
	}
	content, err = packAnswer(out)
	return content, rows, err
}

// large says what is in the records of some units.
func (s *split) large(ctx context.Context, o *order, units []uint64) (content []byte, rows int, err error) {
	var out []largeRecord
	if len(units) == 0 {
		content, err = packAnswer(out)
		return content, s.Rows, err
	}
	err = s.batches(ctx, o, o.Schema, func(b *dataset.Batch) error {
		var of func(int32) [32]byte
		for k := range b.Table.Len() {
			unit := b.Table.ID(k)
			if _, ok := slices.BinarySearch(units, unit); !ok {
				continue
			}
			if of == nil {
				of = b.Table.All().Columns(o.Columns).Content(nil)
			}
			out = append(out, largeRecord{rows + k, unit, of(int32(k))})
		}
		rows += b.Table.Len()
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	content, err = packAnswer(out)
	return content, rows, err
}

// packPlaces writes places, which increase, as their differences.
func packPlaces(places []int) []byte {
	var out []byte
	next := 0
	for _, p := range places {
		out = binary.AppendUvarint(out, uint64(p-next))
		next = p + 1
	}
	return out
}

// keeper tells which records of a split units keep, for one batch after the other.
type keeper struct {
	left  []byte // what is not unpacked yet
	begun bool
	out   int // the next place that is left out
	at    int // the place of the next record
}

// rows lists the places in a batch of the records that are kept; ids are their units.
func (k *keeper) rows(ids []uint64) []int32 {
	kept := make([]int32, 0, len(ids))
	if !k.begun {
		k.begun, k.out = true, -1
		k.next()
	}
	for i, id := range ids {
		switch {
		case k.at == k.out:
			k.next()
		case id != dataset.NoUnit:
			kept = append(kept, int32(i))
		}
		k.at++
	}
	return kept
}

// next goes to the next place that is left out; there is none below 0.
func (k *keeper) next() {
	d, n := binary.Uvarint(k.left)
	if n <= 0 {
		k.out = -1
		return
	}
	k.left = k.left[n:]
	k.out += 1 + int(d)
}
