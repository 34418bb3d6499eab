package dataset

import (
	"context"
	"runtime"
	"sync"
)

// Accumulator is a mergeable summary of rows: counts, sums, histograms, Gram
// matrices. Add takes in a block; Merge takes in everything its argument has
// seen, and leaves the argument unused. A is the accumulator's own type.
type Accumulator[A any] interface {
	Add(Block)
	Merge(A)
}

// DefaultBlockRows is the block size a pass uses when the caller gives none:
// small enough that a block of 90 columns stays in a second-level cache.
const DefaultBlockRows = 1024

// maxParts is how many accumulators a pass is cut into. It is a constant, not
// the number of processors, so that the order of additions is the same on
// every machine.
const maxParts = 64

// Reduce feeds every row of v, in blocks of at most blockRows (zero:
// [DefaultBlockRows]), to accumulators made by newAcc, and returns their merge.
//
// The view is cut into at most 64 contiguous parts, each summed in row order by
// one of GOMAXPROCS workers, and the parts are merged in order: the result
// depends on v and blockRows only, bit for bit. newAcc is called concurrently. A
// view without rows gives newAcc(). The context is checked before every block;
// its error is the only one Reduce returns.
func Reduce[A Accumulator[A]](ctx context.Context, v View, blockRows int, newAcc func() A) (A, error) {
	blocks := newBlocks(v, blockRows)
	parts := min(blocks.count, maxParts)
	m := merger[A]{parts: make([]A, parts), done: make([]bool, parts)}
	err := parallel(ctx, runtime.GOMAXPROCS(0), parts, func(_, part int) error {
		acc := newAcc()
		for i := blocks.first(part, parts); i < blocks.first(part+1, parts); i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			acc.Add(blocks.at(i))
		}
		m.put(part, acc)
		return nil
	})
	var zero A
	switch {
	case err != nil:
		return zero, err
	case parts == 0:
		return newAcc(), nil
	}
	return m.parts[0], nil
}

// merger merges parts into the first one in order, each as soon as all before it
// are in, so that few are alive at once.
type merger[A Accumulator[A]] struct {
	mu    sync.Mutex
	parts []A
	done  []bool
	next  int
}

func (m *merger[A]) put(part int, acc A) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts[part], m.done[part] = acc, true
	for m.next < len(m.parts) && m.done[m.next] {
		if m.next > 0 {
			m.parts[0].Merge(m.parts[m.next])
			var zero A
			m.parts[m.next] = zero
		}
		m.next++
	}
}

// ForEach calls f for every block of at most blockRows rows (zero:
// [DefaultBlockRows]) of v, from GOMAXPROCS workers at once and in no order.
// start is the position in v of the block's first row: f may write rows
// [start, start+b.Len()) of an output without a lock. The context is checked
// before every block; its error is the only one ForEach returns.
func ForEach(ctx context.Context, v View, blockRows int, f func(b Block, start int)) error {
	blocks := newBlocks(v, blockRows)
	return parallel(ctx, runtime.GOMAXPROCS(0), blocks.count, func(_, i int) error {
		b := blocks.at(i)
		f(b, b.lo)
		return nil
	})
}

// blocks cuts a view into runs of equal length, the last one shorter.
type blocks struct {
	view        View
	rows, count int
}

func newBlocks(v View, rows int) blocks {
	if rows <= 0 {
		rows = DefaultBlockRows
	}
	n := v.Len()
	count := n / rows
	if n%rows != 0 {
		count++
	}
	return blocks{view: v, rows: rows, count: count}
}

// first returns the first block of a part.
func (b blocks) first(part, parts int) int {
	return int(int64(b.count) * int64(part) / int64(parts))
}

func (b blocks) at(i int) Block {
	lo := i * b.rows
	return Block{view: b.view, lo: lo, hi: min(b.view.Len()-lo, b.rows) + lo}
}
