package mechanism

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// A Statistic says what every record adds to a list of integers. Its fields are exported and
// hold public facts and released values only, so that it can be sent to where the records
// are.
type Statistic interface {
	// New returns an empty accumulator with memory for one goroutine. It is called
	// concurrently.
	New(m Maker) Accumulator
}

// An Accumulator adds up what the records of blocks say. What a record adds must depend on
// that record and on the statistic alone: not on other records, nor on where its block begins
// or ends. The accumulators of this package limit it and know the sensitivity of the
// sums; one of another package wraps some of them.
type Accumulator interface {
	Add(b Block)
	// Cells are those of the accumulators of this package that it wraps; see [Join].
	Cells() Cells
}

// A Block is a run of records. Kept is what a [Stateful] statistic keeps of them; nil for
// every other.
type Block struct {
	dataset.Block
	Kept Kept
}

// Cells are the integers that an accumulator adds to. No other package can read them: an engine
// gets those of a whole pass, from [Pass.Over].
type Cells struct{ parts []cells }

type cells struct {
	values []int64
	most   bool // whether the larger of two values is kept, in place of their sum
}

func sums(values []int64) Cells { return Cells{[]cells{{values: values}}} }

func most(values []int64) Cells { return Cells{[]cells{{values, true}}} }

// Join returns the cells of an accumulator that wraps several.
func Join(all ...Cells) Cells {
	var out Cells
	for _, c := range all {
		out.parts = append(out.parts, c.parts...)
	}
	return out
}

// len returns the number of integers.
func (c Cells) len() int {
	n := 0
	for _, p := range c.parts {
		n += len(p.values)
	}
	return n
}

// values returns a copy of the integers. They are exact and private.
func (c Cells) values() []int64 {
	out := make([]int64, 0, c.len())
	for _, p := range c.parts {
		out = append(out, p.values...)
	}
	return out
}

// merge adds the values of another accumulator of the same statistic, over other records.
// The order in which several are merged does not matter. It panics if their number is
// another one.
func (c Cells) merge(values []int64) {
	if len(values) != c.len() {
		panic("mechanism: the cells of two accumulators differ in number")
	}
	for _, p := range c.parts {
		for i := range p.values {
			if p.most {
				p.values[i] = max(p.values[i], values[i])
			} else {
				p.values[i] += values[i]
			}
		}
		values = values[len(p.values):]
	}
}

// A Pass is what an engine is asked: a statistic over the records of a part, in a run under a
// relation. It can be sent to where the records are; it holds keys of coins, which are secret.
type Pass struct {
	Part      Part
	Statistic Statistic
	Relation  budget.Relation

	tap tap
}

// New returns an empty accumulator of the statistic.
func (p Pass) New() Accumulator { return p.Statistic.New(Maker{p.Relation, p.tap}) }

// Merge returns the values of a pass over the records of several lists of values, in any
// order. It panics if one has another length.
func (p Pass) Merge(values ...[]int64) []int64 {
	all := p.New().Cells()
	for _, v := range values {
		all.merge(v)
	}
	return all.values()
}

// blockRows is the number of records of a block where a statistic does not say:
// a block of 90 columns stays in a second-level cache.
const blockRows = 1024

// BlockRows returns how many records a block of the pass has, the last one fewer.
func (p Pass) BlockRows() int {
	if x, ok := p.Statistic.(interface{ BlockRows() int }); ok {
		return max(x.BlockRows(), 1)
	}
	return blockRows
}

// Over adds the statistic up over the records of a view, which are those of the part, or some
// of them: with GOMAXPROCS goroutines, each with an accumulator of its own. kept, if not nil,
// returns what is kept of a block, up to date; otherwise a state is computed for this pass.
// The only error is that of the context, looked at before every block.
func (p Pass) Over(ctx context.Context, v dataset.View, kept func(block int, b dataset.Block) Kept) ([]int64, error) {
	if kept == nil {
		kept = p.computed()
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
				accs[w].Add(p.block(v, i, kept))
			}
		})
	}
	group.Wait()
	return joined(accs), ctx.Err()
}

// A Total accumulates a pass over records that arrive view by view. It is for one goroutine.
type Total struct {
	pass     Pass
	acc      Accumulator
	computed func(block int, b dataset.Block) Kept
}

// Total returns an empty total.
func (p Pass) Total() *Total { return &Total{p, p.New(), p.computed()} }

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

// AddBlock adds block i of a view, which has [Pass.Blocks] of them. kept, if not nil, returns
// the state of the block, up to date; otherwise the state is computed.
func (t *Total) AddBlock(v dataset.View, i int, kept func(block int, b dataset.Block) Kept) {
	if kept == nil {
		kept = t.computed
	}
	b := t.pass.block(v, i, kept)
	t.acc.Add(b)
	if left, ok := b.Kept.(Leaver); ok {
		left.Leave()
	}
}

// Values returns the values of the cells, exactly.
func (t *Total) Values() []int64 { return t.acc.Cells().values() }

// computed returns what computes a state for this pass; nil for a statistic without one.
func (p Pass) computed() func(block int, b dataset.Block) Kept {
	x, ok := p.Statistic.(Stateful)
	if !ok {
		return nil
	}
	return func(_ int, b dataset.Block) Kept { return Advance(x.State(), x.State().Begin(b), 0, b) }
}

// Blocks returns the number of blocks of a view.
func (p Pass) Blocks(v dataset.View) int { return (v.Len() + p.BlockRows() - 1) / p.BlockRows() }

// block returns a block of a view, with what is kept of it.
func (p Pass) block(v dataset.View, i int, kept func(block int, b dataset.Block) Kept) Block {
	rows := p.BlockRows()
	b := Block{Block: v.Block(i*rows, min((i+1)*rows, v.Len()))}
	if kept != nil {
		b.Kept = kept(i, b.Block)
	}
	return b
}

// joined returns the values of accumulators of one statistic over different records.
func joined(accs []Accumulator) []int64 {
	for _, acc := range accs[1:] {
		accs[0].Cells().merge(acc.Cells().values())
	}
	return accs[0].Cells().values()
}

// Sum adds a statistic up over records: the one way from many records to a private value. A
// is the statistic's own accumulator. Errors are those of the engine and the context, and
// depend on no record.
func Sum[A Accumulator](ctx context.Context, s *Session, r Records, x Statistic) (A, error) {
	return SumFor[A](ctx, s.Maker, r, x)
}

// SumFor is [Sum] for what is not to be released with noise: sums over public columns.
func SumFor[A Accumulator](ctx context.Context, m Maker, r Records, x Statistic) (A, error) {
	acc := x.New(m).(A)
	values, err := r.engine.Sum(ctx, Pass{r.part, x, m.relation, m.tap})
	if err != nil {
		var none A
		return none, err
	}
	acc.Cells().merge(values)
	return acc, nil
}

// A State is what a [Stateful] statistic keeps of every record between passes: a function
// of that record and of what was released, computed in steps. An engine that keeps
// nothing takes all steps again, in the same order, and so gets the same numbers bit
// for bit.
type State interface {
	// Steps returns the number of steps so far. It grows between passes.
	Steps() int
	// Begin returns what is kept of the records of a block after no step.
	Begin(b dataset.Block) Kept
}

// A Leaver is a [Kept] with memory of its own. An engine that does not keep it calls Leave when the accumulator has seen it.
type Leaver interface{ Leave() }

// Kept is what is kept of the records of one block.
type Kept interface {
	// Take takes step number step, from 0, for the records of the block.
	Take(step int, b dataset.Block)
}

// A Stateful statistic reads a state beside the records. Its blocks have the same number of
// rows in all passes with one state.
type Stateful interface {
	Statistic
	State() State
}

// A StorableState is a state that an engine can keep outside memory, as columns of a [ColumnStore].
type StorableState interface {
	State
	// BeginStorable is Begin for a block that will be stored.
	BeginStorable(b dataset.Block) StorableBlock
	// Open returns the state of a block of n records after done steps. It reads columns from the
	// store when they are needed.
	Open(n, done int, from ColumnStore) StorableBlock
}

// A StorableBlock is the state of the records of one block of a [StorableState].
type StorableBlock interface {
	Kept
	// Store writes the columns that the store does not have or that have changed. Which
	// columns these are must depend on the steps only.
	Store(to ColumnStore)
}

// A ColumnStore keeps the columns of a [StorableState] for the records of one block at a time. A
// column is identified by a small number, from 0, and always has the same type. Slices that a
// store returns are valid until the next block and may be changed. A store reports no
// errors: the engine does, after the block, and its values are of no use then.
type ColumnStore interface {
	Bytes(column int) []uint8
	PutBytes(column int, values []uint8)
	Floats(column int) []float64
	PutFloats(column int, values []float64)
	Shorts(column int) []int16
	PutShorts(column int, values []int16)

	// Group returns the given number of columns of a group, which were stored together under a
	// tag; nil if the block has none under this tag. Groups are numbered from 0.
	Group(group, tag, columns int) [][]int16
	// PutGroup stores columns as a group under a tag, and drops those under any other tag.
	PutGroup(group, tag int, columns [][]int16)
}

// Advance takes the steps of a state for the records of a block, from step done on, and returns k.
func Advance(s State, k Kept, done int, b dataset.Block) Kept {
	for i := done; i < s.Steps(); i++ {
		k.Take(i, b)
	}
	return k
}
