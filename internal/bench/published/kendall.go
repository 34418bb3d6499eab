package published

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// Kendall is DPKendall as its script has it: K rounds of the exponential
// mechanism, epsilon/K each, on n/2 |tau-b(x, y)| less the mean of n/2
// |tau-b(x, x_s)| over the columns s picked so far, charged as if a record moved
// the score by at most 3/2 in the first round and 3 later. The noise has scale 2
// sensitivity/(epsilon/K).
//
// As published, a column without two different cells has no tau-b; the score is
// then not a number and the column is picked with certainty, the last such
// column if there are several (see [Law]). Every later score is not a number
// either, and the last column is picked in every round that is left, again and
// again. [Kendall.Fit] returns each pick once, so that it may return fewer than
// K columns; [Kendall.Law] lists the rounds.
type Kendall struct {
	K int // at least 1, below the number of candidates
}

// Sensitivities that the paper claims for the two kinds of rounds.
const (
	kendallFirst = 1.5
	kendallLater = 3
)

// Name returns "as-published-kendall".
func (Kendall) Name() string {
	return NameKendall
}

// Fit picks columns.
func (m Kendall) Fit(
	ctx context.Context,
	src Source,
	v dataset.View,
	target int,
	epsilon, _ float64,
) (Fitted, error) {
	t, err := newTable(v, target)
	if err != nil {
		return Fitted{}, err
	}
	p, state, err := m.newRounds(ctx, t.x, t.y, epsilon)
	if err != nil {
		return Fitted{}, err
	}
	picks := p.drawRounds(dice{src})
	return t.fittedOf(picks), state.err
}

// Law returns the exact distribution of the ordered picks from columns x, each as long as y. Errors:
// [ErrCount], [ErrBudget], [ErrLarge].
func (m Kendall) Law(x [][]float64, y []float64, epsilon float64) (Law, error) {
	p, state, err := m.newRounds(context.Background(), x, y, epsilon)
	if err != nil {
		return nil, err
	}
	l, err := p.listOutcomes()
	if err == nil {
		err = state.err
	}
	return l, err
}

func (m Kendall) newRounds(
	ctx context.Context,
	x [][]float64,
	y []float64,
	epsilon float64,
) (peel, *tauB, error) {
	if err := checkSelection(m.K, len(x), epsilon); err != nil {
		return peel{}, nil, err
	}
	s := newTauB(ctx, x)
	target := s.tauWith(kendall.Rank(y, nil), untiedPairs(y))
	return peel{
		k: m.K,
		d: len(x),
		round: func(picked []int) ([]float64, float64) {
			scale := 2 * kendallFirst / (epsilon / float64(m.K))
			if len(picked) > 0 {
				scale = 2 * kendallLater / (epsilon / float64(m.K))
			}
			return s.roundScores(target, picked), scale
		},
	}, s, s.err
}

// tauB computes n/2 |tau-b| between columns.
type tauB struct {
	ctx    context.Context
	n      int
	ranks  []*kendall.Ranks
	untied []float64
	pairs  map[int][]float64 // by picked column
	err    error             // the context's
}

func newTauB(ctx context.Context, x [][]float64) *tauB {
	s := &tauB{ctx: ctx, pairs: map[int][]float64{}}
	scratch := new(kendall.Scratch)
	for _, c := range x {
		s.n = len(c)
		s.ranks = append(s.ranks, kendall.Rank(c, scratch))
		s.untied = append(s.untied, untiedPairs(c))
	}
	return s
}

// roundScores returns the scores of a round.
func (s *tauB) roundScores(target []float64, picked []int) []float64 {
	out := slices.Clone(target)
	if len(picked) == 0 {
		return out
	}
	for _, j := range picked {
		out[j] = math.Inf(-1)
	}
	between := make([]float64, len(out))
	for _, p := range picked {
		if s.pairs[p] == nil {
			s.pairs[p] = s.tauWith(s.ranks[p], s.untied[p])
		}
		for j, v := range s.pairs[p] {
			between[j] += v
		}
	}
	for j, v := range between {
		out[j] -= v / float64(len(picked))
	}
	return out
}

// tauWith returns n/2 |tau-b| between every column and the given one: S divided by the geometric mean of the
// numbers of untied pairs, NaN if there are no such pairs.
func (s *tauB) tauWith(column *kendall.Ranks, pairs float64) []float64 {
	counts, err := kendall.AgainstTarget(
		s.ctx,
		len(s.ranks),
		func(j int, _ *kendall.Scratch) *kendall.Ranks {
			return s.ranks[j]
		},
		column.Kept,
		0,
	)
	out := make([]float64, len(s.ranks))
	if err != nil {
		s.err = err
		return out
	}
	for j, c := range counts {
		tau := float64(c) / math.Sqrt(s.untied[j]) / math.Sqrt(pairs)
		out[j] = float64(s.n) / 2 * min(math.Abs(tau), 1)
	}
	return out
}

// untiedPairs returns the number of pairs of cells that differ.
func untiedPairs(column []float64) float64 {
	sorted := slices.Clone(column)
	slices.Sort(sorted)
	n := int64(len(sorted))
	pairs := n * (n - 1) / 2
	run := int64(0)
	for i, v := range sorted {
		if i > 0 && v == sorted[i-1] {
			run++
		} else {
			run = 0
		}
		pairs -= run
	}
	return float64(pairs)
}
