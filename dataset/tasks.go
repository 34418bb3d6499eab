package dataset

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// runTasks runs do(worker, task) for the tasks 0..tasks-1 on the given number of workers, in order. It starts
// no further tasks after the first failure or when the context is done, waits for running tasks, and returns
// the context's error or that of the lowest failed task. A panic of a task becomes a panic of the caller.
func runTasks(
	ctx context.Context,
	workers, tasks int,
	do func(worker, task int) error,
) error {
	workers = max(1, min(workers, tasks))
	var (
		next   atomic.Int64
		mu     sync.Mutex
		failed = tasks
		first  error
		wg     parallel.Group
	)
	run := func(worker int) {
		for ctx.Err() == nil {
			task := int(next.Add(1)) - 1
			if task >= tasks {
				return
			}
			if err := do(worker, task); err != nil {
				next.Store(int64(tasks))
				mu.Lock()
				if task < failed {
					failed = task
					first = err
				}
				mu.Unlock()
				return
			}
		}
	}
	for w := 1; w < workers; w++ {
		wg.Go(func() { run(w) })
	}
	run(0)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return first
}
