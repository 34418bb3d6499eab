package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// ErrOptions is returned for options out of range.
var ErrOptions = errors.New("the number of runs is at least 100, that of records at most 1000, and the confidence within (0, 1)")

// Defaults of [Options]. The confidence is the joint confidence of all results of a call.
const (
	DefaultRuns       = 10_000
	DefaultDraws      = 200_000
	DefaultConfidence = .99
)

// Options control the effort of an audit.
type Options struct {
	// Runs is the number of runs of a whole pipeline on each of two tables, at least 100; 0 means DefaultRuns.
	// Half of the runs select the event and the other half measure it.
	Runs int
	// Draws is the same for single steps; 0 means DefaultDraws. A step that is
	// slow (the Tukey mechanism) takes a hundredth of it.
	Draws int
	// Records is the number of records of the owner's table that [OwnTable] removes or replaces, each in a pair
	// of its own, at most 1000; 0 means DefaultRecords.
	Records int
	// Confidence, in (0, 1), is how sure the bounds are; 0 means
	// DefaultConfidence.
	Confidence float64
	// Progress, if set, is called with the completed share of the work, from one goroutine at a time.
	Progress func(done float64)
}

// Check returns the error of options out of range, which wraps ErrOptions.
func (o Options) Check() error {
	_, err := o.filled()
	return err
}

func (o Options) filled() (Options, error) {
	if o.Runs == 0 {
		o.Runs = DefaultRuns
	}
	if o.Draws == 0 {
		o.Draws = DefaultDraws
	}
	if o.Records == 0 {
		o.Records = DefaultRecords
	}
	if o.Confidence == 0 {
		o.Confidence = DefaultConfidence
	}
	if o.Runs < 100 || o.Draws < 100 || o.Records < 1 || o.Records > 1000 || !(o.Confidence > 0 && o.Confidence < 1) {
		return o, fmt.Errorf("%w: %d runs, %d draws, %d records, confidence %v", ErrOptions, o.Runs, o.Draws, o.Records, o.Confidence)
	}
	return o, nil
}

// A Measure is the result of an audit: lower bounds that hold jointly with the stated confidence.
type Measure struct {
	// Epsilon is a lower bound on epsilon at Delta; 0 if no positive bound was found.
	Epsilon float64
	// Mu is a lower bound on the mu of a Gaussian trade-off curve, or 0. It describes the
	// privacy of the mechanism if its curve is Gaussian, and can violate only a claim about mu.
	Mu         float64
	Delta      float64
	Confidence float64
	Runs       int // on each side
}

// A trial executes a run on side 0 or 1 of a pair of neighbours and returns a constant number of outputs. It is called
// from several goroutines at once.
type trial func(ctx context.Context, side int) ([]float64, error)

// learnedCells bounds the memory of the runs that choose the event.
const learnedCells = 1 << 23

// measureTrials runs the trials, one per pair of neighbours, and returns lower bounds that hold jointly with
// probability at least 1 - alpha.
//
// The runs of the first half are divided among the pairs; the event with the largest expected bound, from any
// pair, is counted on the second half, whose runs are independent of the selection. So the four Clopper–Pearson
// bounds, at alpha/4 each, hold for any selection. Neighbours are a symmetric relation: the event may be
// likelier on either side.
func measureTrials(ctx context.Context, trials []trial, runs int, alpha, delta float64, step func(done float64)) (Measure, error) {
	out := Measure{Delta: delta, Confidence: 1 - alpha, Runs: runs}
	z := distuv.UnitNormal.Quantile(1 - alpha/4)
	var best learned
	var epsilonPair, muPair int
	first := runs / 2
	each := max(first/len(trials), 1)
	for k, t := range trials {
		data, err := gatherRuns(ctx, t, each, func(done float64) {
			step((float64(k) + done) / float64(2*len(trials)))
		})
		if err != nil {
			return out, err
		}
		l := learnEvents(data, delta, z)
		if l.epsilonGuess > best.epsilonGuess {
			best.epsilon = l.epsilon
			best.epsilonGuess = l.epsilonGuess
			epsilonPair = k
		}
		if l.muGuess > best.muGuess {
			best.mu = l.mu
			best.muGuess = l.muGuess
			muPair = k
		}
	}
	if best.muGuess == 0 && best.epsilonGuess == 0 {
		return out, nil // no outputs to compare
	}
	events := []event{best.epsilon, best.mu}
	pairs := []int{epsilonPair, muPair}
	if best.epsilonGuess == 0 {
		events[0] = events[1]
		pairs[0] = muPair
	}
	if best.muGuess == 0 {
		events[1] = events[0]
		pairs[1] = epsilonPair
	}
	var counts [2][2]int // of an event, on the likelier side and on the other
	second := runs - first
	var err error
	if pairs[0] == pairs[1] {
		counts, err = count(ctx, trials[pairs[0]], second, events, func(done float64) {
			step(.5 + done/2)
		})
	} else {
		second /= 2
		for k := range events {
			var c [2][2]int
			c, err = count(ctx, trials[pairs[k]], second, []event{events[k], events[k]}, func(done float64) {
				step(.5 + (float64(k)+done)/4)
			})
			if err != nil {
				break
			}
			counts[k] = c[0]
		}
	}
	if err != nil {
		return out, err
	}
	out.Epsilon = epsilonOf(atLeast(counts[0][0], second, alpha/4), atMost(counts[0][1], second, alpha/4), delta)
	out.Mu = muOf(atLeast(counts[1][0], second, alpha/4), atMost(counts[1][1], second, alpha/4))
	return out, nil
}

// gatherRuns executes runs on both sides, fewer if their outputs would exceed the memory.
func gatherRuns(
	ctx context.Context,
	t trial,
	runs int,
	step func(done float64),
) ([2][][]float64, error) {
	var out [2][][]float64
	probe, err := t(ctx, 0)
	if err != nil {
		return out, err
	}
	runs = max(min(runs, learnedCells/max(len(probe), 1)), 8)
	for side := range out {
		out[side] = make([][]float64, runs)
	}
	err = runWorkers(ctx, 2*runs, step, func(i int) error {
		x, err := t(ctx, i%2)
		out[i%2][i/2] = replaceNaN(x)
		return err
	})
	return out, err
}

// count counts two events over fresh runs on both sides.
func count(
	ctx context.Context,
	t trial,
	runs int,
	events []event,
	step func(done float64),
) ([2][2]int, error) {
	var hits [2][2]atomic.Int64
	err := runWorkers(ctx, 2*runs, step, func(i int) error {
		x, err := t(ctx, i%2)
		if err != nil {
			return err
		}
		x = replaceNaN(x)
		for k, e := range events {
			if e.contains(x) {
				side := 1
				if i%2 == e.side {
					side = 0
				}
				hits[k][side].Add(1)
			}
		}
		return nil
	})
	var out [2][2]int
	for k := range out {
		for side := range out[k] {
			out[k][side] = int(hits[k][side].Load())
		}
	}
	return out, err
}

// replaceNaN replaces NaN, so that all values can be compared.
func replaceNaN(x []float64) []float64 {
	for k, v := range x {
		if v != v {
			x[k] = -math.MaxFloat64
		}
	}
	return x
}

// runWorkers calls f for 0 to n-1 on all cores and returns the first error.
func runWorkers(
	ctx context.Context,
	n int,
	step func(done float64),
	f func(i int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	var mu sync.Mutex
	wg := parallel.Group{Panicked: func() {
		cancel(nil)
	}}
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if err := f(int(i)); err != nil {
					cancel(err)
					return
				}
				if d := done.Add(1); d%int64(max(n/50, 1)) == 0 {
					mu.Lock()
					step(float64(d) / float64(n))
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
