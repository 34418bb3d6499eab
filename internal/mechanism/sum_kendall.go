package mechanism

import (
	"context"
	"math/bits"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// kendallUnit is the grid of Kendall scores.
const kendallUnit = 0x1p-20

// Kendall scores columns by their rank correlation with a target, less their
// mean rank correlation with the columns picked so far (DPKendall;
// docs/proofs/kendall.md, "Algorithm"). With S the number of concordant minus
// discordant pairs, ties counting 0, and n records,
//
//	t(x, y) = |S(x, y)|/(n-1),  0 if n <= 1,
//	score_j = t(x_j, y) - mean over picked s of t(x_j, x_s).
//
// It is computed from exact integer counts and rounded down to the grid.
type Kendall struct {
	relation budget.Relation
	n        int
	against  func(ctx context.Context, j int) ([]int64, error) // S of each column against column j; nil: not kept
	target   []int64                                           // t(x_j, y) in kendallUnit, rounded down
	picked   int
	between  []int64 // sum over picked s of t(x_j, x_s), each rounded down

	public        []bool // the columns that cannot change; nil: none
	publicTarget  bool
	privatePicked int // picked columns that can change
}

// NewKendall ranks d columns and counts them against the target on all cores. It
// calls column once per column, and target once, from several goroutines. Every column has one rank
// per record, as the target has. The ranks are kept for Pick;
// [Session.NewKendallOnce] does without.
func (m Maker) NewKendall(
	ctx context.Context,
	d int,
	column func(j int, scratch *kendall.Scratch) *kendall.Ranks,
	target func(*kendall.Scratch) *kendall.Ranks,
) (*Kendall, error) {
	columns := make([]*kendall.Ranks, d)
	k, err := m.NewKendallOnce(ctx, d, func(j int, scratch *kendall.Scratch) *kendall.Ranks {
		columns[j] = column(j, scratch)
		return columns[j]
	}, target)
	if err != nil {
		return nil, err
	}
	k.against = func(ctx context.Context, j int) ([]int64, error) {
		return kendall.AgainstTarget(ctx, d, func(i int, _ *kendall.Scratch) *kendall.Ranks {
			return columns[i]
		}, columns[j].Kept, 0)
	}
	return k, nil
}

// NewKendallOnce is NewKendall for scores that are used in one round only: no
// ranks are kept, and Pick must not be called.
func (m Maker) NewKendallOnce(
	ctx context.Context,
	d int,
	column func(j int, scratch *kendall.Scratch) *kendall.Ranks,
	target func(*kendall.Scratch) *kendall.Ranks,
) (*Kendall, error) {
	n := 0
	counts, err := kendall.AgainstTarget(ctx, d, column,
		func(scratch *kendall.Scratch) *kendall.Ranks {
			ranks := target(scratch)
			n = ranks.Len()
			return ranks
		}, 0)
	if err != nil {
		return nil, err
	}
	k := &Kendall{
		relation: m.Relation(),
		n:        n,
		between:  make([]int64, d),
	}
	k.target = k.gridTau(counts)
	return k, nil
}

// DeclarePublic names the columns that are public, one entry per column, and whether the target is. Pairs of public
// columns have the same counts on all neighbouring tables, so they do not contribute to the width of the scores. It has
// no effect unless only private columns may change. The records must be the same on all neighbouring tables except for
// their private columns: where the target is private, a record without a target must not be left out.
func (k *Kendall) DeclarePublic(columns []bool, target bool) {
	if k.relation == budget.SubstitutePrivateColumns {
		k.public = columns
		k.publicTarget = target
	}
}

// isPublic reports whether column j cannot change.
func (k *Kendall) isPublic(j int) bool {
	return j < len(k.public) && k.public[j]
}

// Pick adds column j to the picked ones: later scores subtract the part that is
// correlated with it.
func (k *Kendall) Pick(ctx context.Context, j int) error {
	counts, err := k.against(ctx, j)
	if err != nil {
		return err
	}
	for i, c := range k.gridTau(counts) {
		k.between[i] += c
	}
	k.picked++
	if !k.isPublic(j) {
		k.privatePicked++
	}
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
// [-2, 2] and the widths are 4 and 8. Rounding moves a score by more than -1
// and less than 2 units (t down by less than 1; the mean down by less than 1
// for its terms and 1 for the division), so a change by less than 3 either way.
//
// If only private columns may change, t of two public columns stays. So score j
// moves within [-r_j, r_j], r_j = 2 if x_j or the target is private, plus, from
// the second round on, 2 if x_j is private, or else 2 times the share of private
// columns among the picked ones. The score that rises most and the one that
// falls most are different candidates: the width is the sum of the two largest
// r_j. With every column private these are the widths above. With a private
// target and public candidates it is 4 in every round.
// (docs/proofs/private-target.md, "Choosing columns")
func (k *Kendall) Scores(candidates []int) Bounded[Vector] {
	width := 2.5
	if k.relation != budget.AddRemove {
		width = 4
	}
	if k.picked > 0 {
		width *= 2
	}
	if k.public != nil {
		width = k.partlyPublicWidth(candidates)
	}
	out := make(Vector, len(candidates))
	for i, j := range candidates {
		out[i] = k.columnScore(j)
	}
	return Bounded[Vector]{out, Width, width/kendallUnit + 6, kendallUnit, StatKendall}
}

// partlyPublicWidth returns the sum of the two largest reaches r_j of the candidates.
func (k *Kendall) partlyPublicWidth(candidates []int) float64 {
	largest := 0.
	second := 0.
	for _, j := range candidates {
		r := k.scoreSensitivity(j)
		second = max(second, min(r, largest))
		largest = max(largest, r)
	}
	return largest + second
}

// scoreSensitivity returns r_j: how far the score of column j may move either way.
func (k *Kendall) scoreSensitivity(j int) float64 {
	r := 0.
	if !k.isPublic(j) || !k.publicTarget {
		r = 2
	}
	switch {
	case k.picked == 0:
	case !k.isPublic(j):
		r += 2
	default:
		r += 2 * float64(k.privatePicked) / float64(k.picked)
	}
	return r
}

// columnScore returns the score of column j in kendallUnit.
func (k *Kendall) columnScore(j int) int64 {
	if k.picked == 0 {
		return k.target[j]
	}
	return k.target[j] - k.between[j]/int64(k.picked)
}

// gridTau returns floor(2^20 |S|/(n-1)) for each S, at most 2^19 n: sums over
// thousands of picked columns stay far from the ends of int64 for any n that a
// table can have.
func (k *Kendall) gridTau(counts []int64) []int64 {
	out := make([]int64, len(counts))
	if k.n <= 1 {
		return out
	}
	for i, s := range counts {
		hi, lo := bits.Mul64(uint64(max(s, -s)), 1<<20)
		quotient, _ := bits.Div64(hi, lo, uint64(k.n-1))
		out[i] = int64(quotient)
	}
	return out
}

// StatKendall is the statistic of [Kendall.Scores].
const StatKendall budget.Statistic = "kendall"

// NewKendallOver is [Maker.NewKendall] of all columns of r except the last, against the last, on an engine that has
// [Capabilities.Concordance]. It returns nil for other engines, for which the records have to be gathered.
func (m Maker) NewKendallOver(
	ctx context.Context,
	r Records,
) (*Kendall, error) {
	concordance := CapabilitiesOf(r.engine).Concordance
	if concordance == nil {
		return nil, nil
	}
	d := len(r.part.Columns) - 1
	n, err := r.Len(ctx)
	if err != nil {
		return nil, err
	}
	k := &Kendall{
		relation: m.Relation(),
		n:        n,
		between:  make([]int64, d),
	}
	k.against = func(ctx context.Context, j int) ([]int64, error) {
		return concordance(ctx, r.part, d, j)
	}
	counts, err := k.against(ctx, d)
	if err != nil {
		return nil, err
	}
	k.target = k.gridTau(counts)
	return k, nil
}
