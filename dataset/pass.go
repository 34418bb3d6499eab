package dataset

import (
	"context"
	"runtime"
)

// DefaultBlockRows is the default block size of a pass: small enough that a block of 90 columns stays in a
// second-level cache.
const DefaultBlockRows = 1024

// ForEach calls f for every block of at most blockRows rows (zero:
// [DefaultBlockRows]) of v, from GOMAXPROCS workers at once and in no order.
// start is the position in v of the block's first row: f may write rows
// [start, start+b.Len()) of an output without a lock. The context is checked
// before every block; its error is the only one ForEach returns.
func ForEach(
	ctx context.Context,
	v View,
	blockRows int,
	f func(b Block, start int),
) error {
	blocks := newBlocks(v, blockRows)
	return runTasks(ctx, runtime.GOMAXPROCS(0), blocks.count, func(_, i int) error {
		b := blocks.blockAt(i)
		f(b, b.lo)
		return nil
	})
}

// blocks divides a view into runs of equal length; the last one may be shorter.
type blocks struct {
	view  View
	rows  int
	count int
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
	return blocks{
		view:  v,
		rows:  rows,
		count: count,
	}
}

func (b blocks) blockAt(i int) Block {
	lo := i * b.rows
	return Block{
		view: b.view,
		lo:   lo,
		hi:   min(b.view.Len()-lo, b.rows) + lo,
	}
}
