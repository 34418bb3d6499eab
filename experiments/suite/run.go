package suite

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// A Task is a part of an experiment with shared preparation: the cells of one table.
type Task struct {
	Name   string // stage, for progress
	Cells  []Cell
	Trials int // of each cell
	// Run executes the given trials in any order and emits each one when it ends, without overlapping calls. It
	// returns early with the error of ctx.
	Run func(ctx context.Context, todo []Key, emit func(Key, Outcome)) error
}

// A Plan is a whole experiment.
type Plan struct {
	Header Header
	Tasks  []Task
	// Page renders the report from the finished trials.
	Page func(records []Record) Page
}

// Keys lists the trials of a task by trial and then by cell, so that an interrupted run has results for every cell.
func (t Task) Keys() []Key {
	var keys []Key
	for trial := range t.Trials {
		for _, c := range t.Cells {
			keys = append(keys, Key{c, trial + 1})
		}
	}
	return keys
}

// A Progress is the state of a running experiment.
type Progress struct {
	Stage       string
	Done, Total int // trials
}

// Run executes the trials that are missing in the store and puts each into it when it ends. progress may be nil; its
// calls do not overlap. The error is that of ctx, of the store, or of a table that cannot be read; finished trials
// remain in the store.
func (p *Plan) Run(
	ctx context.Context,
	s *Store,
	progress func(Progress),
) error {
	at := Progress{}
	todo := make([][]Key, len(p.Tasks))
	for i, t := range p.Tasks {
		keys := t.Keys()
		at.Total += len(keys)
		for _, k := range keys {
			if !s.Done(k) {
				todo[i] = append(todo[i], k)
			}
		}
		at.Done += len(keys) - len(todo[i])
	}
	for i, t := range p.Tasks {
		if len(todo[i]) == 0 {
			continue
		}
		at.Stage = t.Name
		if progress != nil {
			progress(at)
		}
		if err := runTask(ctx, t, todo[i], s, func() {
			if at.Done++; progress != nil {
				progress(at)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// runTask runs one task. It stops if a trial cannot be stored.
func runTask(
	ctx context.Context,
	t Task,
	todo []Key,
	s *Store,
	done func(),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var stored error
	err := t.Run(ctx, todo, func(k Key, o Outcome) {
		if stored != nil {
			return
		}
		if stored = s.Put(Record{k, o}); stored != nil {
			cancel()
			return
		}
		done()
	})
	if stored != nil {
		return stored
	}
	return err
}

// forEachTrial runs trials on all cores and emits those that ended before ctx did.
func forEachTrial(
	ctx context.Context,
	todo []Key,
	trial func(context.Context, Key) Outcome,
	emit func(Key, Outcome),
) error {
	var mu sync.Mutex
	next := make(chan Key)
	var workers parallel.Group
	for range min(len(todo), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for k := range next {
				start := time.Now()
				o := trial(ctx, k)
				o.Seconds = time.Since(start).Seconds()
				if ctx.Err() != nil {
					continue
				}
				mu.Lock()
				emit(k, o)
				mu.Unlock()
			}
		})
	}
	for _, k := range todo {
		select {
		case next <- k:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	return ctx.Err()
}
