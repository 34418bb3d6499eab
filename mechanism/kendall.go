package mechanism

import (
	"context"
	"math/bits"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/kendall"
)

// kendallUnit is the grid of Kendall scores.
const kendallUnit = 0x1p-20

// Kendall scores columns by their rank correlation with a target, less their
// mean rank correlation with the columns picked so far (DPKendall;
// algorithms.md 1). With S the number of concordant minus discordant pairs,
// ties counting 0, and n records,
//
//	t(x, y) = |S(x, y)|/(n-1),  0 if n <= 1,
//	score_j = t(x_j, y) - mean over picked s of t(x_j, x_s).
//
// It is computed from exact integer counts and rounded down to the grid.
type Kendall struct {
	relation budget.Relation
	n        int
	columns  []*kendall.Ranks
	target   []int64 // |S(x_j, y)|
	picked   int
	between  []int64 // sum over picked s of |S(x_j, x_s)|
}

// NewKendall ranks d columns, one call of column each, from several
// goroutines, and counts them against the target on all cores. Every column
// has one rank a record, like the target.
func (s *Session) NewKendall(ctx context.Context, d int, column func(j int, scratch *kendall.Scratch) *kendall.Ranks, target *kendall.Ranks) (*Kendall, error) {
	k := &Kendall{relation: s.Relation(), n: target.Len(), columns: make([]*kendall.Ranks, d), between: make([]int64, d)}
	counts, err := kendall.AgainstTarget(ctx, d, func(j int, scratch *kendall.Scratch) *kendall.Ranks {
		k.columns[j] = column(j, scratch)
		return k.columns[j]
	}, target, 0)
	if err != nil {
		return nil, err
	}
	k.target = absolute(counts)
	return k, nil
}

// Pick adds column j to the picked ones: later scores subtract what is
// correlated with it.
func (k *Kendall) Pick(ctx context.Context, j int) error {
	counts, err := kendall.AgainstTarget(ctx, len(k.columns), func(i int, _ *kendall.Scratch) *kendall.Ranks { return k.columns[i] }, k.columns[j], 0)
	if err != nil {
		return err
	}
	for i, c := range absolute(counts) {
		k.between[i] += c
	}
	k.picked++
	return nil
}

// Scores returns the scores of the candidate columns.
//
// Add one record to n: S becomes S + s with |s| <= n, and
// S'/n - S/(n-1) = s/n - S/(n(n-1)), at most 1 + 1/2 in absolute value as
// |S| <= n(n-1)/2; and |S'| - |S| <= |s| gives t' - t <= 1 - |S|/(n(n-1)) <= 1.
// So t moves within [-3/2, 1], the width of the first round is 5/2, and a
// difference of t and a mean of t's moves within [-3/2-1, 1+3/2], width 5.
// Both ranges are attained. Substitution: |dS| <= 2(n-1), so t moves within
// [-2, 2] and the widths are 4 and 8. Rounding down moves a score by less than
// one unit, so a change grows by at most one unit either way.
func (k *Kendall) Scores(candidates []int) Bounded[Vector] {
	width := 2.5
	if k.relation != budget.AddRemove {
		width = 4
	}
	if k.picked > 0 {
		width *= 2
	}
	out := make(Vector, len(candidates))
	for i, j := range candidates {
		out[i] = k.score(j)
	}
	return Bounded[Vector]{out, Width, width/kendallUnit + 2, kendallUnit}
}

// score returns floor(2^20 (m T - B)/(m (n-1))), T = |S(x_j, y)|, B the sum
// over the m picked columns (m = 1 and B = 0 before the first pick).
func (k *Kendall) score(j int) int64 {
	if k.n <= 1 {
		return 0
	}
	m := uint64(max(k.picked, 1))
	value := int64(m)*k.target[j] - k.between[j]
	magnitude := uint64(max(value, -value))
	divisor := m * uint64(k.n-1)
	hi, lo := bits.Mul64(magnitude, 1<<20)
	quotient, rest := bits.Div64(hi, lo, divisor) // at most 2^20 n/2
	if value >= 0 {
		return int64(quotient)
	}
	if rest > 0 {
		quotient++
	}
	return -int64(quotient)
}

func absolute(x []int64) []int64 {
	for i, v := range x {
		x[i] = max(v, -v)
	}
	return x
}
