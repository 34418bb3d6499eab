package mechanism

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// A Statistic defines what every record adds to a list of integers. Its fields are exported
// and contain public facts and released values only, so that it can be sent to where the
// records are.
type Statistic interface {
	// New returns an empty accumulator with memory for one goroutine. It is called
	// concurrently.
	New(m Maker) Accumulator
}

// An Accumulator computes the sums of a statistic. The contribution of a record must depend on
// that record and on the statistic only, not on other records or on the limits of its block. The
// accumulators of this package bound the contribution of a record and return the sensitivity of
// the sums; accumulators of other packages wrap them.
type Accumulator interface {
	Add(b Block)
	// Cells returns the cells of the wrapped accumulators of this package; see [Join].
	Cells() Cells
}

// A Block is a run of records. Kept is the state of the records for a [Stateful] statistic, and
// nil for every other statistic.
type Block struct {
	dataset.Block
	Kept Kept
}

// Cells are the integers of an accumulator. Other packages cannot read them; an engine gets the
// sums of a whole pass from [Pass.Sums] or [Total.Values].
type Cells struct{ parts []cellGroup }

type cellGroup struct {
	values   []int64
	takesMax bool // whether two values are merged to their maximum instead of their sum
}

func sumCells(values []int64) Cells {
	return Cells{[]cellGroup{{values: values}}}
}

func maxCells(values []int64) Cells {
	return Cells{[]cellGroup{{values, true}}}
}

// Join returns the cells of an accumulator that wraps several.
func Join(all ...Cells) Cells {
	var out Cells
	for _, c := range all {
		out.parts = append(out.parts, c.parts...)
	}
	return out
}

// numValues returns the number of integers.
func (c Cells) numValues() int {
	n := 0
	for _, p := range c.parts {
		n += len(p.values)
	}
	return n
}

// copyValues returns a copy of the integers. They are exact and private.
func (c Cells) copyValues() []int64 {
	out := make([]int64, 0, c.numValues())
	for _, p := range c.parts {
		out = append(out, p.values...)
	}
	return out
}

// mergeValues adds the values of another accumulator of the same statistic over other records.
// The result does not depend on the order of merges. It panics if the number of values differs.
func (c Cells) mergeValues(values []int64) {
	if len(values) != c.numValues() {
		panic("mechanism: the cells of two accumulators differ in number")
	}
	for _, p := range c.parts {
		for i := range p.values {
			if p.takesMax {
				p.values[i] = max(p.values[i], values[i])
			} else {
				p.values[i] += values[i]
			}
		}
		values = values[len(p.values):]
	}
}

// A Pass is a request to an engine: a statistic over the records of a part, in a run under a
// relation. It can be sent to where the records are. It contains keys of coins, which are secret.
type Pass struct {
	Part      Part
	Statistic Statistic
	Relation  budget.Relation

	tap tap
}

// New returns an empty accumulator of the statistic.
func (p Pass) New() Accumulator {
	return p.Statistic.New(Maker{p.Relation, p.tap})
}

// Merge returns the values of a pass from the values over disjoint sets of records, in any
// order. It panics if their lengths differ from that of the pass.
func (p Pass) Merge(values ...[]int64) []int64 {
	all := p.New().Cells()
	for _, v := range values {
		all.mergeValues(v)
	}
	return all.copyValues()
}

// blockRows is the default number of records of a block. A block of 90 columns fits into a
// second-level cache.
const blockRows = 1024

// BlockRows returns the number of records of a block of the pass; the last one may have fewer.
func (p Pass) BlockRows() int {
	if x, ok := p.Statistic.(interface{ BlockRows() int }); ok {
		return max(x.BlockRows(), 1)
	}
	return blockRows
}

// Sums returns the sums of the statistic over the records of a view, which are records of the
// part. It uses GOMAXPROCS goroutines, each with its own accumulator. kept, if not nil, returns
// the state of a block, up to date; otherwise the state is computed for this pass. The only
// error is that of the context, which is checked before every block.
func (p Pass) Sums(
	ctx context.Context,
	v dataset.View,
	kept func(block int, b dataset.Block) Kept,
) ([]int64, error) {
	if kept == nil {
		kept = p.computedState()
	}
	blocks := p.Blocks(v)
	workers := max(min(runtime.GOMAXPROCS(0), blocks), 1)
	accs := make([]Accumulator, workers)
	var next atomic.Int64
	var group parallel.Group
	for w := range workers {
		group.Go(func() {
			accs[w] = p.New()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= blocks {
					return
				}
				accs[w].Add(p.blockAt(v, i, kept))
			}
		})
	}
	group.Wait()
	return mergeAll(accs), ctx.Err()
}

// A Total accumulates a pass over records that arrive view by view. It is for one goroutine.
type Total struct {
	pass     Pass
	acc      Accumulator
	computed func(block int, b dataset.Block) Kept
}

// Total returns an empty total.
func (p Pass) Total() *Total {
	return &Total{p, p.New(), p.computedState()}
}

// Add adds the records of a view, which are records of the part. A state is computed for this
// view. The only error is that of the context.
func (t *Total) Add(ctx context.Context, v dataset.View) error {
	for i := range t.pass.Blocks(v) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.AddBlock(v, i, nil)
	}
	return nil
}

// AddBlock adds block i of the [Pass.Blocks] blocks of a view. kept, if not nil, returns the
// current state of the block; otherwise the state is computed. If the state is a [Leaver], its
// memory is released.
func (t *Total) AddBlock(
	v dataset.View,
	i int,
	kept func(block int, b dataset.Block) Kept,
) {
	if kept == nil {
		kept = t.computed
	}
	b := t.pass.blockAt(v, i, kept)
	t.acc.Add(b)
	if left, ok := b.Kept.(Leaver); ok {
		left.Leave()
	}
}

// Values returns the sums. They are exact and private.
func (t *Total) Values() []int64 {
	return t.acc.Cells().copyValues()
}

// computedState returns a function that computes the state of a block, or nil for a statistic without state.
func (p Pass) computedState() func(block int, b dataset.Block) Kept {
	x, ok := p.Statistic.(Stateful)
	if !ok {
		return nil
	}
	return func(_ int, b dataset.Block) Kept {
		return Advance(x.State(), x.State().Begin(b), 0, b)
	}
}

// Blocks returns the number of blocks of a view.
func (p Pass) Blocks(v dataset.View) int {
	return (v.Len() + p.BlockRows() - 1) / p.BlockRows()
}

// blockAt returns block i of a view, with its state.
func (p Pass) blockAt(
	v dataset.View,
	i int,
	kept func(block int, b dataset.Block) Kept,
) Block {
	rows := p.BlockRows()
	b := Block{Block: v.Block(i*rows, min((i+1)*rows, v.Len()))}
	if kept != nil {
		b.Kept = kept(i, b.Block)
	}
	return b
}

// mergeAll returns the sums of accumulators of one statistic over disjoint records.
func mergeAll(accs []Accumulator) []int64 {
	for _, acc := range accs[1:] {
		accs[0].Cells().mergeValues(acc.Cells().copyValues())
	}
	return accs[0].Cells().copyValues()
}

// Sum accumulates a statistic over records. All private values of many records are computed by it.
// A is the accumulator type of the statistic. Errors are those of the engine and the context and do
// not depend on a record.
func Sum[A Accumulator](
	ctx context.Context,
	s *Session,
	r Records,
	x Statistic,
) (A, error) {
	return SumFor[A](ctx, s.Maker, r, x)
}

// SumFor is [Sum] for sums over public columns, which are not released with noise.
func SumFor[A Accumulator](
	ctx context.Context,
	m Maker,
	r Records,
	x Statistic,
) (A, error) {
	acc := x.New(m).(A)
	values, err := r.engine.Sum(ctx, Pass{r.part, x, m.relation, m.tap})
	if err != nil {
		var none A
		return none, err
	}
	acc.Cells().mergeValues(values)
	return acc, nil
}

// A Maker makes accumulators: private sums with the sensitivity that the relation of the
// run gives them. It has no key and no budget, so it cannot release anything. The workers of
// an [Engine] get one, and every [Session] is one.
type Maker struct {
	relation budget.Relation
	tap      tap
}

// NewMaker returns a maker for runs under a relation.
func NewMaker(r budget.Relation) Maker {
	return Maker{relation: r}
}

// Relation returns the neighbouring relation of the run.
func (m Maker) Relation() budget.Relation {
	return m.tap.declaredRelation(m.relation)
}
