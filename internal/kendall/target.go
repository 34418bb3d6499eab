package kendall

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/carry"
)

// ErrLength is returned if a column has not as many rows as the target.
var ErrLength = errors.New("the column and the target have different numbers of rows")

// AgainstTarget returns [S] of each of d columns and target, column j at index
// j. column(j, scratch) gives column j; it is called once for every j, from
// several goroutines, and may rank the column there and then with the scratch
// it is handed, or return ranks that are kept:
//
//	func(j int, s *kendall.Scratch) *kendall.Ranks { return kendall.Rank(columns[j], s) }
//	func(j int, _ *kendall.Scratch) *kendall.Ranks { return ranks[j] }
//
// Each of workers goroutines (GOMAXPROCS if workers < 1) holds one column and
// one [Scratch] at a time. The result does not depend on their number. A
// column of another length gives an error that wraps [ErrLength] and names the
// least such j seen; ctx is looked at between columns.
func AgainstTarget(ctx context.Context, d int, column func(j int, scratch *Scratch) *Ranks, target *Ranks, workers int) ([]int64, error) {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	target.rowRanks() // once, not while all workers wait for one
	var (
		sums = make([]int64, d)
		errs = make([]error, d)
		next atomic.Int64
		stop atomic.Bool
		wait carry.Group
	)
	for range min(workers, d) {
		wait.Go(func() {
			scratch := new(Scratch)
			for !stop.Load() && ctx.Err() == nil {
				j := int(next.Add(1) - 1)
				if j >= d {
					return
				}
				ranks := column(j, scratch)
				if ranks.Len() != target.Len() {
					errs[j] = fmt.Errorf("column %d: %w", j, ErrLength)
					stop.Store(true)
					return
				}
				sums[j] = S(ranks, target, scratch)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}
