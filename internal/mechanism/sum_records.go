package mechanism

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// Records are the records of a part of a table, which an engine holds. Selecting a smaller part
// reads no record. The zero value has no records.
type Records struct {
	engine Engine
	part   Part
}

// A Part selects records and columns of a table. All fields are exported, so that it can be
// sent to where the records are. It contains keys of coins, which are secret.
type Part struct {
	Columns []int      // positions in the engine's schema
	Cuts    []Cut      // a record belongs to the part if all of them keep it
	Recoded []Recoding // at most one for each column
}

// A Recoding reads a category column as a number: a record with code k has the value Values[k];
// see [dataset.View.Recode].
type Recoding struct {
	Column int // position in the engine's schema
	As     dataset.Column
	Values []float64
}

// A Cut keeps some records. Whether it keeps a record depends on that record only.
type Cut struct {
	// Known, if Coin is nil, is a column of the engine's schema. The cut keeps records with a
	// usable cell in this column.
	Known int
	// Coin keeps the records for which a coin that is heads with probability Share equals Heads.
	Coin  *Coins
	Share float64
	Heads bool
	// None keeps no record.
	None bool
}

// RecordsOf returns all records of an engine, with the given columns.
func RecordsOf(e Engine, columns []int) Records {
	return Records{e, Part{Columns: columns}}
}

// Schema returns the declarations of the columns, in order.
func (r Records) Schema() dataset.Schema {
	return r.part.Schema(r.engine.Schema())
}

// Schema returns the declarations of the columns of the part. all is the schema of the engine.
func (p Part) Schema(all dataset.Schema) dataset.Schema {
	s := dataset.Schema{
		Columns: make([]dataset.Column, len(p.Columns)),
		Unit:    all.Unit,
	}
	for k, j := range p.Columns {
		s.Columns[k] = all.Columns[j]
		for _, c := range p.Recoded {
			if c.Column == j {
				s.Columns[k] = c.As
			}
		}
	}
	return s
}

// ReadColumns returns the positions of the columns of the engine's schema that the part reads, including those of
// its cuts, in increasing order.
func (p Part) ReadColumns() []int {
	columns := slices.Clone(p.Columns)
	for _, c := range p.Cuts {
		if !c.None && c.Coin == nil {
			columns = append(columns, c.Known)
		}
	}
	for _, c := range p.Recoded {
		columns = append(columns, c.Column)
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// Recode returns r with its category column j read as the numeric column as; see
// [dataset.View.Recode].
func (r Records) Recode(j int, as dataset.Column, values []float64) Records {
	r.part.Recoded = slices.Concat(r.part.Recoded, []Recoding{{r.part.Columns[j], as, values}})
	return r
}

// Columns returns the records with the given columns of r, in that order.
func (r Records) Columns(columns []int) Records {
	picked := make([]int, len(columns))
	for k, j := range columns {
		picked[k] = r.part.Columns[j]
	}
	r.part.Columns = picked
	return r
}

// Known returns the records whose cell of column j can be read; see [dataset.View.Known].
func (r Records) Known(j int) Records {
	return r.withCut(Cut{Known: r.part.Columns[j]})
}

// Deal assigns every record by its coin to the second part with probability share in [0, 1],
// and otherwise to the first.
func (r Records) Deal(c Coins, share float64) (first, second Records) {
	if share == 0 {
		return r, r.withCut(Cut{None: true})
	}
	return r.withCut(Cut{
			Coin:  &c,
			Share: share,
		}), r.withCut(Cut{
			Coin:  &c,
			Share: share,
			Heads: true,
		})
}

func (r Records) withCut(c Cut) Records {
	r.part.Cuts = slices.Concat(r.part.Cuts, []Cut{c})
	return r
}

// Forget frees the engine's memory of a state that will not be used again.
func (r Records) Forget(s State) {
	r.engine.Forget(s)
}

// View returns all records in one place. It returns [ErrGather] if the engine cannot gather them.
func (r Records) View(ctx context.Context) (dataset.View, error) {
	gather := CapabilitiesOf(r.engine).Gather
	if gather == nil {
		return dataset.View{}, ErrGather
	}
	return gather(ctx, r.part)
}

// Len returns the exact number of records, which may be private.
func (r Records) Len(ctx context.Context) (int, error) {
	values, err := r.engine.Sum(ctx, Pass{
		Part:      r.part,
		Statistic: Number{},
	})
	if err != nil {
		return 0, err
	}
	return int(values[0]), nil
}

// Number counts records; see [Records.Len].
type Number struct{}

// New implements [Statistic].
func (Number) New(Maker) Accumulator {
	return &recordCounter{}
}

type recordCounter struct{ n [1]int64 }

func (n *recordCounter) Add(b Block) {
	n.n[0] += int64(b.Len())
}
func (n *recordCounter) Cells() Cells {
	return sumCells(n.n[:])
}

// Select returns the records of a view that belong to the part, with the part's columns. The
// view has the columns of the engine's schema. The only error is that of the context.
func (p Part) Select(
	ctx context.Context,
	v dataset.View,
) (dataset.View, error) {
	for _, c := range p.Cuts {
		kept, _, err := c.Deal(ctx, v)
		if err != nil {
			return v, err
		}
		v = kept
	}
	for _, c := range p.Recoded {
		v = v.Recode(c.Column, c.As, c.Values)
	}
	return v.Columns(p.Columns), ctx.Err()
}

// Deal returns the records of a view of all columns that the cut keeps and, if it is one by
// coins, those of the opposite cut. The only error is that of the context.
func (c Cut) Deal(
	ctx context.Context,
	v dataset.View,
) (kept, others dataset.View, err error) {
	switch {
	case c.None:
		return v.Select(nil), others, ctx.Err()
	case c.Coin == nil:
		kept, err = v.Known(ctx, c.Known)
		return kept, others, err
	}
	kept, others = v.Part(c.Sides(v, nil))
	return kept, others, ctx.Err()
}

// Sides returns 0 for each record of a view that a cut by coins keeps and 1 for the others. It
// uses buffer if that has the capacity.
func (c Cut) Sides(v dataset.View, buffer []uint8) []uint8 {
	sides := slices.Grow(buffer[:0], v.Len())[:v.Len()]
	var next atomic.Int64
	var group parallel.Group
	for range min(runtime.GOMAXPROCS(0), len(sides)/(8*tossRows)+1) { // several batches per goroutine
		group.Go(func() {
			t := c.Coin.newTosser(c.Share)
			t.buffer = tossBuffers.Get().(*tossBuffer)
			defer tossBuffers.Put(t.buffer)
			for {
				from := int(next.Add(tossRows)) - tossRows
				if from >= len(sides) {
					return
				}
				batch := sides[from:min(from+tossRows, len(sides))]
				ids := t.buffer.ids[:len(batch)]
				for k := range batch {
					ids[k] = c.Coin.fault.coinIdentity(from+k, v.ID(from+k))
				}
				t.assignSides(batch, ids, c.Heads)
			}
		})
	}
	group.Wait()
	return sides
}

// Opposite returns the cut by the same coins that keeps the other records.
func (c Cut) Opposite() Cut {
	c.Heads = !c.Heads
	return c
}

// Key returns a text that identifies the cut. It contains the key of the coins, which is secret.
func (c Cut) Key() string {
	if c.None {
		return "none;"
	}
	if c.Coin == nil {
		return fmt.Sprintf("known %d;", c.Known)
	}
	return fmt.Sprintf("%x %v %v;", c.Coin.key, c.Share, c.Heads)
}

// Buckets is a function that is called with consecutive buckets: the number of the first one, and the
// records of each in the order of the table. The records are valid until it returns.
type Buckets func(first int, records []dataset.View) error

// Buckets assigns every record to one of m buckets, 1 <= m < 2^31, by its own coin. It calls each with all
// buckets in order, as many at a time as the engine chooses. It returns [ErrGather] if the engine has no
// buckets. Other errors are those of the engine, the context and each.
func (r Records) Buckets(
	ctx context.Context,
	coins Coins,
	m int,
	each Buckets,
) error {
	buckets := CapabilitiesOf(r.engine).Buckets
	if buckets == nil {
		return ErrGather
	}
	return buckets(ctx, r.part, coins, m, each)
}

// Split returns the records of the buckets first to last-1 of m. All records of v must be in these
// buckets. It uses all cores. The only error is that of the context.
func (c Coins) Split(
	ctx context.Context,
	v dataset.View,
	m, first, last int,
) ([]dataset.View, error) {
	bucket := make([]int32, v.Len())
	err := dataset.ForEach(ctx, v, 0, func(b dataset.Block, start int) {
		for k := range b.Len() {
			bucket[start+k] = int32(c.Uniform(b.ID(k), m) - first)
		}
	})
	if err != nil {
		return nil, err
	}
	row := -1
	return v.Split(last-first, func(uint64) int { // called in row order
		row++
		return int(bucket[row])
	}), nil
}
