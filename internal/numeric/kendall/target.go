package kendall

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// ErrLength is returned if a column has not as many rows as the target.
var ErrLength = errors.New("the column and the target have different numbers of rows")

// AgainstTarget returns [S] of each of d columns and the target, column j at index
// j. column(j, scratch) gives column j, and target(scratch) the target. Each is called once,
// from one of several goroutines, and may rank the column there and then with the scratch
// it is handed, or return ranks that are kept:
//
//	func(j int, s *kendall.Scratch) *kendall.Ranks { return kendall.Rank(columns[j], s) }
//	func(j int, _ *kendall.Scratch) *kendall.Ranks { return ranks[j] }
//
// Each of workers goroutines (GOMAXPROCS if workers < 1) holds one column and
// one [Scratch] at a time. While one ranks the target, the others begin with columns. The
// result does not depend on their number. A
// column of another length gives an error that wraps [ErrLength] and names the
// least such j seen; ctx is looked at between columns.
func AgainstTarget(
	ctx context.Context,
	d int,
	column func(j int, scratch *Scratch) *Ranks,
	target func(*Scratch) *Ranks,
	workers int,
) ([]int64, error) {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := &task{
		ctx:    ctx,
		column: column,
		sums:   make([]int64, d),
		errs:   make([]error, d),
		ready:  make(chan struct{}),
		each:   max(1, workers/max(1, d)),
	}
	var wait parallel.Group
	wait.Go(func() {
		scratch := scratches.Get().(*Scratch)
		t.rankTarget(target, scratch)
		t.countPairs(scratch)
		scratches.Put(scratch)
	})
	for range min(workers-1, d) {
		wait.Go(func() {
			scratch := scratches.Get().(*Scratch)
			t.countPairs(scratch)
			scratches.Put(scratch)
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range t.errs {
		if err != nil {
			return nil, err
		}
	}
	return t.sums, nil
}

// scratches are those of workers, until the garbage collector takes them.
var scratches = sync.Pool{New: func() any {
	return new(Scratch)
}}

// task is one call of AgainstTarget.
type task struct {
	ctx    context.Context
	column func(j int, scratch *Scratch) *Ranks
	sums   []int64
	errs   []error
	next   atomic.Int64
	stop   atomic.Bool
	each   int           // goroutines that count the pairs of a column
	ready  chan struct{} // closed when the target is ranked, or will not be
	target *Ranks
}

// rankTarget sets target, with what all workers look up in it.
func (t *task) rankTarget(target func(*Scratch) *Ranks, scratch *Scratch) {
	defer close(t.ready)
	if t.ctx.Err() != nil {
		return
	}
	ranks := target(scratch)
	ranks.rowRanks(t.each)
	t.target = ranks
}

// countPairs takes columns until there are no more.
func (t *task) countPairs(scratch *Scratch) {
	for !t.stop.Load() && t.ctx.Err() == nil {
		j := int(t.next.Add(1) - 1)
		if j >= len(t.sums) {
			return
		}
		ranks := t.column(j, scratch)
		<-t.ready
		if t.target == nil {
			return
		}
		if ranks.Len() != t.target.Len() {
			t.errs[j] = fmt.Errorf("column %d: %w", j, ErrLength)
			t.stop.Store(true)
			return
		}
		t.sums[j] = scratch.sumSigns(ranks, t.target, t.each)
	}
}

// Kept returns the ranks: a target of [AgainstTarget] that has been ranked before.
func (r *Ranks) Kept(*Scratch) *Ranks {
	return r
}
