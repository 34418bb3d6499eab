package cluster

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// unitCounts contains the number of records of each unit in a split.
type unitCounts struct {
	Units  []uint64 // sorted
	Counts []int
}

// largeRecord is a record of a unit with too many records.
type largeRecord struct {
	Place   int // in the split
	Unit    uint64
	Content [32]byte
}

// LimitUnits implements [mechanism.Capabilities.LimitUnits]. The units are divided into shares by their identities, which
// are digests. For each share the workers count the records of every unit and then return the contents of the records of
// units with too many. The lots are drawn in this process. Later tasks contain the positions of the records that are left
// out.
func (e *Engine) LimitUnits(
	ctx context.Context,
	columns []int,
	most int,
	lots mechanism.Lots,
) (mechanism.Engine, error) {
	return e.limitIn(ctx, e.numRows()/mechanism.UnitPart+1, columns, most, lots)
}

// limitIn is LimitUnits in a number of shares.
func (e *Engine) limitIn(
	ctx context.Context,
	shares int,
	columns []int,
	most int,
	lots mechanism.Lots,
) (*Engine, error) {
	left := make([][]int, len(e.splits))
	for k := range shares {
		of, err := e.largeUnits(
			ctx,
			hashShare{
				Index: uint64(k),
				Count: uint64(shares),
			},
			most,
		)
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
	out.splits = slices.Clone(e.splits)
	out.units = true
	for i := range left {
		slices.Sort(left[i])
		out.splits[i].Left = packPlaces(left[i])
	}
	return &out, nil
}

// splitOf returns the index of the split that contains a record.
func (e *Engine) splitOf(row int64) int {
	i, _ := slices.BinarySearchFunc(e.splits, row, func(s split, row int64) int {
		if int64(s.First)+int64(s.Rows) <= row {
			return -1
		}
		return 1
	})
	return i
}

// largeUnits returns, for each split, the units of a share that have too many records in total. It returns nil if there
// are no such units.
func (e *Engine) largeUnits(
	ctx context.Context,
	of hashShare,
	most int,
) ([][]uint64, error) {
	contents, err := e.askAll(ctx, order{
		Asks:  asksUnits,
		Share: of,
	}, nil)
	if err != nil {
		return nil, err
	}
	total := map[uint64]int{}
	in := make([][]uint64, len(contents))
	for i, content := range contents {
		c := &unitCounts{}
		if unpackAnswer(content, c) != nil || len(c.Units) != len(c.Counts) {
			return nil, passError(errAnswer)
		}
		for k, unit := range c.Units {
			total[unit] += c.Counts[k]
		}
		in[i] = c.Units
	}
	some := false
	for i := range in {
		in[i] = slices.DeleteFunc(in[i], func(unit uint64) bool {
			return total[unit] <= most
		})
		some = some || len(in[i]) > 0
	}
	if !some {
		return nil, nil
	}
	return in, nil
}

// largeRecords returns the records of the given units of each split.
func (e *Engine) largeRecords(
	ctx context.Context,
	columns []int,
	units [][]uint64,
) ([]mechanism.Entry, error) {
	contents, err := e.askAll(ctx, order{
		Asks:    asksLarge,
		Columns: columns,
	}, func(i int) []uint64 {
		return units[i]
	})
	if err != nil {
		return nil, err
	}
	var all []mechanism.Entry
	for i, content := range contents {
		var records []largeRecord
		if unpackAnswer(content, &records) != nil {
			return nil, passError(errAnswer)
		}
		for _, x := range records {
			if x.Place < 0 || x.Place >= e.splits[i].Rows {
				return nil, passError(errAnswer)
			}
			all = append(all, mechanism.Entry{
				Unit:    x.Unit,
				Row:     int64(e.splits[i].First) + int64(x.Place),
				Content: x.Content,
			})
		}
	}
	return all, nil
}

// countUnits counts the records of each unit of a share.
func (s *split) countUnits(
	ctx context.Context,
	o *order,
) (content []byte, rows int, err error) {
	counts := map[uint64]int{}
	rows, err = s.forEachView(ctx, o, nil, func(v dataset.View, _ func(int) []string) error {
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

// readUnits returns the contents of the records of some units.
func (s *split) readUnits(
	ctx context.Context,
	o *order,
	units []uint64,
) (content []byte, rows int, err error) {
	var out []largeRecord
	if len(units) == 0 {
		content, err = packAnswer(out)
		return content, s.Rows, err
	}
	err = s.forEachBatch(ctx, o, o.Schema, func(b *dataset.Batch) error {
		var of func(int32) [32]byte
		for k := range b.Table.Len() {
			unit := b.Table.ID(k)
			if _, ok := slices.BinarySearch(units, unit); !ok {
				continue
			}
			if of == nil {
				of = b.Table.View().Columns(o.Columns).Content(nil)
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

// packPlaces encodes increasing positions as their differences.
func packPlaces(places []int) []byte {
	var out []byte
	next := 0
	for _, p := range places {
		out = binary.AppendUvarint(out, uint64(p-next))
		next = p + 1
	}
	return out
}

// rowFilter selects the records of a split that units keep, batch by batch.
type rowFilter struct {
	left  []byte // positions that are not decoded yet
	begun bool
	out   int // the next position that is left out, or -1
	at    int // the position of the next record
}

// keptRows returns the positions in a batch of the records that are kept; ids are their units.
func (k *rowFilter) keptRows(ids []uint64) []int32 {
	kept := make([]int32, 0, len(ids))
	if !k.begun {
		k.begun = true
		k.out = -1
		k.advance()
	}
	for i, id := range ids {
		switch {
		case k.at == k.out:
			k.advance()
		case id != dataset.NoUnit:
			kept = append(kept, int32(i))
		}
		k.at++
	}
	return kept
}

// advance sets out to the next position that is left out, or to -1 after the last one.
func (k *rowFilter) advance() {
	d, n := binary.Uvarint(k.left)
	if n <= 0 {
		k.out = -1
		return
	}
	k.left = k.left[n:]
	k.out += 1 + int(d)
}
