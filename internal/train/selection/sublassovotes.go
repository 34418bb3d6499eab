package selection

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/lasso"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// countVotes adds the votes of every part to total, on all cores. Counts are integers, so the order of the parts does
// not matter.
func (x SubLasso) countVotes(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	parts []dataset.View,
	total *mechanism.Votes,
) error {
	workers := min(runtime.GOMAXPROCS(0), len(parts))
	counts := make([]*mechanism.Votes, workers)
	errs := make([]error, workers)
	var next atomic.Int64
	var group parallel.Group
	for w := range workers {
		counts[w] = s.NewVotes(len(f.Columns), x.K)
		group.Go(func() {
			b := newBucketVoter(f.Columns, x.K, x.lassoPenalty())
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				var vote []int
				vote, errs[w] = b.castVote(ctx, parts[i])
				counts[w].Add(vote)
			}
		})
	}
	group.Wait()
	for w := range workers {
		if errs[w] != nil {
			return errs[w]
		}
		total.Merge(counts[w])
	}
	return nil
}

// Options of the lasso of a bucket. Whether the cap on sweeps is reached depends on the
// records of the bucket only, so a failed fit is the vote of that bucket.
const (
	voteTolerance = 1e-6
	voteSweeps    = 10000
)

// bucketVoter computes the votes of buckets, one bucket at a time.
type bucketVoter struct {
	columns []dataset.Column
	k       int
	lambda  float64
	slots   []int // first slot of each column and, last, their number
	cells   []float64
	codes   []int32
	design  [][]float64
}

func newBucketVoter(
	columns []dataset.Column,
	k int,
	lambda float64,
) *bucketVoter {
	b := &bucketVoter{
		columns: columns,
		k:       k,
		lambda:  lambda,
		slots:   make([]int, len(columns)+1),
	}
	for j, c := range columns {
		c.Indicator = false // votes are for columns; their indicators are entries of the model only
		b.slots[j+1] = b.slots[j] + slotsOf(c)
	}
	b.design = make([][]float64, b.slots[len(columns)])
	return b
}

// castVote returns the columns with the largest non-zero coefficients, on standardised
// columns, of the lasso on the records of v, at most k. Ties are broken by table order.
// The error is that of ctx.
func (b *bucketVoter) castVote(
	ctx context.Context,
	v dataset.View,
) ([]int, error) {
	if v.Len() < 2 {
		return nil, ctx.Err()
	}
	target := b.readDesign(v)
	solver, err := lasso.NewSolver(
		ctx,
		b.design,
		target,
		lasso.Options{
			Standardize: true,
			Tolerance:   voteTolerance,
			MaxSweeps:   voteSweeps,
			Workers:     1,
		},
	)
	if err != nil {
		return nil, err
	}
	deviations, scale := solver.Deviations()
	if !(b.lambda*scale > 0) { // a constant target
		return nil, nil
	}
	solution, err := solver.Solve(ctx, b.lambda*scale)
	if err != nil || !solution.Converged {
		return nil, err
	}
	return b.largestColumns(solution.Coefficients, deviations), nil
}

// readDesign fills the design with the records of v and returns their targets. Both
// are valid until the next call.
func (b *bucketVoter) readDesign(v dataset.View) []float64 {
	n := v.Len()
	if size := (len(b.design) + 1) * n; cap(b.cells) < size {
		b.cells = make([]float64, size)
	}
	room := func(slot int) []float64 {
		return b.cells[slot*n : (slot+1)*n : (slot+1)*n]
	}
	if cap(b.codes) < n {
		b.codes = make([]int32, n)
	}
	block := v.Block(0, n)
	for j, c := range b.columns {
		first := b.slots[j]
		next := b.slots[j+1]
		if c.Kind == dataset.Numeric {
			b.design[first] = block.Float(j, room(first))
			continue
		}
		for slot := first; slot < next; slot++ {
			b.design[slot] = room(slot)
			clear(b.design[slot])
		}
		for i, code := range block.Codes(j, b.codes) {
			if slot := first + int(code); slot < next {
				b.design[slot][i] = 1
			}
		}
	}
	return block.Float(len(b.columns), room(len(b.design)))
}

// largestColumns returns the columns with the k largest coefficients.
func (b *bucketVoter) largestColumns(w, deviations []float64) []int {
	type score struct {
		column int
		size   float64
	}
	var scores []score
	for j := range b.columns {
		size := 0.0
		for slot := b.slots[j]; slot < b.slots[j+1]; slot++ {
			size = max(size, math.Abs(w[slot])*deviations[slot])
		}
		if size > 0 {
			scores = append(scores, score{j, size})
		}
	}
	slices.SortStableFunc(scores, func(a, b score) int {
		return cmp.Compare(b.size, a.size)
	})
	out := make([]int, 0, b.k)
	for _, s := range scores[:min(b.k, len(scores))] {
		out = append(out, s.column)
	}
	return out
}
