package parallel

import (
	"context"
	"runtime"
	"sync/atomic"
)

// ForEach calls work(i) for every i in [0, count) on up to workers goroutines, and stops early when ctx is cancelled.
// Each i is handled by exactly one call, so the result does not depend on the number of workers if work writes only to
// its own part of the result.
func ForEach(ctx context.Context, count, workers int, work func(i int)) error {
	workers = min(workers, count)
	if workers <= 1 {
		for i := range count {
			if err := ctx.Err(); err != nil {
				return err
			}
			work(i)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var group Group
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				work(i)
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// Workers returns the number of goroutines worth starting for the given number of elementary operations.
func Workers(operations int) int {
	const worthIt = 1 << 18
	if operations < worthIt {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
