package bench

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/regression"
)

// Reasons why a trial has no value, other than those of the method.
var (
	// ErrNoTestRow: the held-out fold has no row with a target.
	ErrNoTestRow = errors.New("no held-out row has a target value")
	// ErrNotFinite: the metric overflowed.
	ErrNotFinite = errors.New("the metric is not a finite number")
	// ErrAbstained: the method released, within its guarantee, that it has no
	// model for these rows.
	ErrAbstained = errors.New(
		"the method abstained: too few rows for the privacy budget and the number of columns")
)

// copiesBytes bounds the memory that the training parts of trials running at
// the same time take.
const copiesBytes = 1 << 30

// runTrials carries out the trials, several at once, and delivers their rows in order of trial and method. It also
// returns the rows, even with an error.
func (x *experiment) runTrials(
	ctx context.Context,
	seed uint64,
	trials int,
	emit func(Row),
) ([]Row, error) {
	if x.remainingRows(trials) == 0 {
		return nil, nil
	}
	if err := x.loadTables(ctx); err != nil {
		return nil, err
	}
	defer x.releaseTables()
	x.keepBalanced(seed)
	var all []Row
	line := &queue{
		waiting: map[int][]Row{},
		emit: func(r Row) {
			all = append(all, r)
			emit(r)
		},
	}
	next := make(chan int)
	var workers parallel.Group
	for range min(trials, x.parallelTrials()) {
		workers.Go(func() {
			for t := range next {
				line.putTrial(t, x.runTrial(ctx, seed, t))
			}
		})
	}
	for t := 0; t < trials && ctx.Err() == nil; t++ {
		select {
		case next <- t:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	line.flushRemaining(trials)
	return all, ctx.Err()
}

// parallelTrials is the number of trials that run at once.
func (x *experiment) parallelTrials() int {
	bytes := 1
	for _, m := range x.methods {
		if m.table != nil {
			bytes = max(bytes, 8*m.table.Len()*len(m.schema.Columns))
		}
	}
	return max(1, min(runtime.GOMAXPROCS(0), copiesBytes/bytes))
}

// parts is a table cut into training and test rows.
type parts struct{ train, test *dataset.Table }

// runTrial runs every method on one split. When ctx ends it returns the rows that
// are finished.
func (x *experiment) runTrial(ctx context.Context, seed uint64, t int) []Row {
	train, test := x.splitRows(seed, t)
	cut := map[*dataset.Table]parts{}
	var rows []Row
	for _, m := range x.methods {
		if ctx.Err() != nil {
			break
		}
		if x.skipsTrial(m, t) {
			continue
		}
		r := Row{
			Data:   x.name,
			Method: m.name,
			Trial:  t + 1,
			Metric: m.metricName(),
			Err:    m.err,
		}
		if r.Private = m.private; r.Private {
			r.Epsilon = m.recipe.Privacy.Epsilon
			r.Delta = m.recipe.Privacy.Delta
		}
		if m.err == nil {
			p, ok := cut[m.table]
			if !ok {
				p = parts{m.table.Select(train).Compact(), m.table.Select(test).Compact()}
				cut[m.table] = p
			}
			var got measured
			got, r.Err = m.trainAndScore(ctx, p)
			r.Value = got.value
			r.Balanced = got.balanced
			r.Seconds = got.seconds
			r.Paid = got.paid
		}
		if r.Err != nil && ctx.Err() != nil {
			break
		}
		rows = append(rows, r)
	}
	return rows
}

// measured is the result of a trial.
type measured struct {
	value    float64
	balanced float64
	seconds  float64
	paid     *float64 // mean cost of the rows; nil if features have no cost
}

// trainAndScore trains on one part and returns R², or the accuracy and the balanced accuracy, on the other, with the
// time of training and the cost of the rows of the other.
func (k *contender) trainAndScore(
	ctx context.Context,
	p parts,
) (measured, error) {
	start := time.Now()
	by, err := k.trainer(ctx, p.train)
	out := measured{seconds: time.Since(start).Seconds()}
	if err != nil {
		return out, err
	}
	prediction, err := by.predict(p.test)
	if err != nil {
		return out, err
	}
	if by.costs != nil {
		costs, err := by.costs(p.test)
		if err != nil {
			return out, err
		}
		mean := 0.
		for i, c := range costs {
			mean += (c - mean) / float64(i+1)
		}
		out.paid = &mean
	}
	if k.classes != nil {
		got, err := ScoreClasses(k.classes, p.test.Codes(k.target), codesOf(prediction))
		out.value = got.Accuracy
		out.balanced = got.Balanced
		return out, err
	}
	out.value, err = exactR2(prediction, p.test.Float(k.target))
	return out, err
}

// exactR2 is the exact R² over the rows whose target is known.
func exactR2(prediction, target []float64) (float64, error) {
	var known, guess []float64
	for i, y := range target {
		if !math.IsNaN(y) {
			known = append(known, y)
			guess = append(guess, prediction[i])
		}
	}
	if len(known) == 0 {
		return 0, ErrNoTestRow
	}
	value := regression.R2(guess, known)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, ErrNotFinite
	}
	return value, nil
}

// queue delivers the rows of trials that finish in any order in the order of
// the trials, one row at a time.
type queue struct {
	mu      sync.Mutex
	waiting map[int][]Row
	next    int
	emit    func(Row)
}

// putTrial adds the rows of trial t and delivers those that are due.
func (q *queue) putTrial(t int, rows []Row) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[t] = rows
	for rows, ok := q.waiting[q.next]; ok; rows, ok = q.waiting[q.next] {
		q.deliverDue(rows)
		delete(q.waiting, q.next)
		q.next++
	}
}

// flushRemaining delivers the remaining rows of the first n trials, if some trials will never finish.
func (q *queue) flushRemaining(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ; q.next < n; q.next++ {
		q.deliverDue(q.waiting[q.next])
	}
}

func (q *queue) deliverDue(rows []Row) {
	for _, r := range rows {
		q.emit(r)
	}
}
