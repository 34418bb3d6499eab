package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/greedy"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	settings "github.com/dptrain/dptrain/selection"
)

// greedyConstant is the constant entry of the rows of [GreedyGram].
const greedyConstant = .5

const (
	greedyNode = "greedy-gram"
	greedyLeaf = "gram"
)

// errCosts is returned at plan time for costs or a budget out of range.
var errCosts = errors.New("a cost or the budget is out of range")

// GreedyGram picks columns one by one within a budget of costs. Each pick explains most of the
// target's square per unit of cost. All picks are functions of one noisy matrix of second moments
// of the candidates and the target: after each pick the Schur complement of the matrix gives the
// contribution of the remaining columns (docs/proofs/greedy-gram.md, "Algorithm"). Unlike [SIS] it
// therefore avoids columns that repeat earlier ones, and any budget, any list of costs and the
// whole order are covered by the price of one release.
//
// Two classes are the numbers -1 and +1; more classes have one 0/1 entry each. The trainer
// cost-tree of depth 1 chooses in the same way and computes its model from the same matrix.
type GreedyGram settings.GreedyGram

// Name returns "greedy-gram".
func (GreedyGram) Name() string {
	return greedyNode
}

// NeedsRanges returns true.
func (GreedyGram) NeedsRanges(Facts) bool {
	return true
}

// NeedsClasses returns true: the statistic uses the classes themselves.
func (GreedyGram) NeedsClasses() bool {
	return true
}

// SizeList returns x.Sizes.
func (x GreedyGram) SizeList() []int {
	return x.Sizes
}

// FeatureCount returns x.K.
func (x GreedyGram) FeatureCount() int {
	return x.K
}

// SelectsAll reports whether there are no more than K candidates and no budget to choose by.
func (x GreedyGram) SelectsAll(candidates int) bool {
	return x.Budget == 0 && candidates <= x.K
}

// mostColumns returns the largest number of columns of a choice, without regard to costs.
func (x GreedyGram) mostColumns() int {
	switch {
	case x.K > 0 || len(x.Sizes) > 0:
		return mostFeatures(x.K, x.Sizes)
	case x.Budget > 0:
		return math.MaxInt
	}
	return DefaultK
}

// costOf returns the cost of a column.
func (x GreedyGram) costOf(c dataset.Column) float64 {
	if v, ok := x.Costs[c.Name]; ok {
		return v
	}
	return 1
}

// costLimit returns the budget, or infinity without a budget.
func (x GreedyGram) costLimit() float64 {
	if x.Budget == 0 {
		return math.Inf(1)
	}
	return x.Budget
}

// Plan returns the Gaussian leaf of the matrix, or of its products with the target if the run protects the target only: the
// rest is exact then. Errors: [ErrCount], [ErrSizes], costs out of range.
func (x GreedyGram) Plan(f Facts) (budget.Node, bool, error) {
	switch {
	case x.K < 0 || x.K >= len(f.Columns):
		return budget.Node{}, false,
			fmt.Errorf("%w: k is %d, there are %d", ErrCount, x.K, len(f.Columns))
	case len(x.Sizes) > 0 && (x.K > 0 || x.Budget > 0 || !isIncreasing(x.Sizes, len(f.Columns))):
		return budget.Node{}, false, fmt.Errorf("%w: %v of %d", ErrSizes, x.Sizes, len(f.Columns))
	case !(x.Budget >= 0 && x.Budget <= method.MaxCost):
		return budget.Node{}, false, fmt.Errorf("%w: a budget of %v", errCosts, x.Budget)
	}
	for name, cost := range x.Costs {
		if !(cost >= 0 && cost <= method.MaxCost) {
			return budget.Node{}, false, fmt.Errorf("%w: %q costs %v", errCosts, name, cost)
		}
	}
	statistic := mechanism.StatGram
	if f.LabelOnly {
		statistic = mechanism.StatLabelSums
	}
	return budget.Sequence(greedyNode, budget.GaussianLeaf(greedyLeaf, 1, 1).
		WithStatistic(statistic)), true, nil
}

// Widest returns the widest columns among the candidates that the budget can pay for. Their number
// is the largest that the budget and K allow.
func (x GreedyGram) Widest(f Facts) []dataset.Column {
	var affordable Facts
	var costs []float64
	for _, c := range f.Columns {
		if cost := x.costOf(c); cost <= x.costLimit() {
			affordable.Columns = append(affordable.Columns, c)
			costs = append(costs, cost)
		}
	}
	slices.Sort(costs)
	k := 0
	sum := 0.
	for _, cost := range costs {
		if sum += cost; sum <= x.costLimit()*(1+1e-9) && k < x.mostColumns() {
			k++
		}
	}
	return widestOf(k, affordable)
}

// Select returns the picked candidates, increasing, or no candidates if the budget is too small.
func (x GreedyGram) Select(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	order, err := x.Ranked(ctx, s, f, records)
	slices.Sort(order)
	return order, err
}

// Choose implements [Rater]: the probability of every column to be chosen by the same rule on
// the exact matrix.
func (x GreedyGram) Choose(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	noise, p, err := x.releaseMatrix(ctx, s, f, records)
	if err != nil {
		return method.Choice{}, err
	}
	out := method.Choice{Picked: p.Select().Groups(p)}
	out.Confidence = func(ctx context.Context, size int) (method.Confidence, error) {
		p := *p
		if x.Sizes != nil {
			p.Most = size
		}
		probabilities, err := greedyConfidence(ctx, noise, &p, s.PublicStream(confidenceStream))
		return method.Confidence{Probabilities: probabilities}, err
	}
	if x.Sizes == nil {
		slices.Sort(out.Picked)
	}
	return out, ctx.Err()
}

// Ranked returns the picked candidates in their order; see [Sizer]. Errors besides those of
// the mechanism and the context: [ErrRanges].
func (x GreedyGram) Ranked(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	_, p, err := x.releaseMatrix(ctx, s, f, records)
	if err != nil {
		return nil, err
	}
	return p.Select().Groups(p), ctx.Err()
}

// greedyNoise is the noise in a released problem.
type greedyNoise struct {
	sigma  float64              // of the matrix, on its diagonal; 0 where it is exact
	labels *linear.LabelMoments // the products with the target, where the matrix is exact; nil otherwise
}

// releaseMatrix releases the matrix and returns the problem that it poses and the noise in it.
func (x GreedyGram) releaseMatrix(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (greedyNoise, *greedy.Problem, error) {
	if err := f.checkRanges(); err != nil {
		return greedyNoise{}, nil, err
	}
	s = s.Sub(greedyNode)
	if f.LabelOnly {
		return x.releaseLabels(ctx, s, f, records)
	}
	r, err := releaseGreedy(ctx, s, f, records)
	if err != nil {
		return greedyNoise{}, nil, err
	}
	p := r.Problem()
	x.setPrices(p, f)
	return greedyNoise{sigma: r.Sigma}, p, nil
}

// releaseLabels is releaseMatrix for a run that protects the target only. The ridge is that of a released matrix of as much noise,
// or less: with the multiple of the identity in the covariance of the noise as the ridge, noise makes all gains equally large.
func (x GreedyGram) releaseLabels(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (greedyNoise, *greedy.Problem, error) {
	columns := append(slices.Clone(f.Columns), f.Target)
	m, err := linear.ReleaseLabels(ctx, s, greedyLeaf, method.Data{
		Facts: method.Facts{
			Columns:   columns,
			Relation:  f.Relation,
			LabelOnly: true,
		},
		Records: records,
		Ranges:  f.Ranges,
	})
	if err != nil {
		return greedyNoise{}, nil, err
	}
	last := m.Gram.SymmetricDim() - 1
	p := &greedy.Problem{
		Gram:     m.Gram,
		Constant: last,
		Ridge:    min(m.FlatRidge(), greedy.Ridge(m.EntryNoise(), last+1)),
	}
	for _, q := range m.Products {
		p.Cross = append(p.Cross, m.Entries(q))
	}
	x.setPrices(p, f)
	return greedyNoise{labels: m}, p, ctx.Err()
}

// setPrices sets the groups, the costs and the limits of a problem whose last entry is the constant.
func (x GreedyGram) setPrices(p *greedy.Problem, f Facts) {
	columns := append(slices.Clone(f.Columns), f.Target)
	for _, slot := range scaling.NewEncoder(columns, nil).Slots() {
		if slot.Column < len(f.Columns) {
			p.Group = append(p.Group, slot.Column)
		}
	}
	p.Group = append(p.Group, -1)
	p.Budget = x.costLimit()
	for _, c := range f.Columns {
		p.Cost = append(p.Cost, x.costOf(c))
	}
	p.Most = x.mostColumns()
}

// releaseGreedy releases the matrix.
func releaseGreedy(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (greedy.Released, error) {
	var r greedy.Released
	stat, records := greedyOf(f, records)
	acc, err := mechanism.Sum[*greedyPass](ctx, s, records, stat)
	if err != nil {
		return r, err
	}
	noisy, err := mechanism.SymmetricGaussian(s, greedyLeaf, acc.gram.Bound())
	if err != nil {
		return r, err
	}
	enc := stat.newEncoder()
	r = greedy.Released{
		Side:   len(enc.Slots()) + 1,
		Packed: noisy.Value(),
		Sigma:  s.Scale(greedyLeaf),
	}
	for _, slot := range enc.Slots() {
		if slot.Column < len(f.Columns) {
			r.First++
		}
	}
	return r, nil
}

// greedyOf returns the statistic of the matrix and its records, in which a target of two classes is
// a number.
func greedyOf(
	f Facts,
	records mechanism.Records,
) (greedyStatistic, mechanism.Records) {
	target := f.Target
	ranges := slices.Clone(f.Ranges)
	last := len(f.Columns)
	if target.Kind == dataset.Category {
		if ranges[last] = (scaling.Range{
			Lower:    -1,
			Upper:    1,
			Declared: true,
		}); len(target.Categories) == 2 {
			target = dataset.Column{
				Name:   target.Name,
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			}
			records = records.Recode(last, target, []float64{-1, 1, 0})
		}
	}
	return greedyStatistic{append(slices.Clone(f.Columns), target), ranges}, records
}

// greedyStatistic is the sum of z z^T over rows of the scaled candidates, the target and a
// constant, limited to norm B as a whole.
type greedyStatistic struct {
	Columns []dataset.Column // the target last
	Ranges  []scaling.Range
}

func (x greedyStatistic) newEncoder() *scaling.Encoder {
	return scaling.NewEncoder(x.Columns, x.Ranges)
}

// New implements [mechanism.Statistic].
func (x greedyStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	enc := x.newEncoder()
	n := len(enc.Slots()) + 1
	return &greedyPass{
		enc:  enc,
		rows: make([][]int16, n),
		gram: m.NewGram(n, enc.NormLimit(greedyConstant)),
	}
}

// BlockRows is the number of records of a block.
func (x greedyStatistic) BlockRows() int {
	return rowsOfBlocks(len(x.newEncoder().Slots()))
}

type greedyPass struct {
	enc     *scaling.Encoder
	rows    [][]int16
	gram    *mechanism.Gram
	scratch scaling.Scratch
}

func (p *greedyPass) Add(b mechanism.Block) {
	for k := range p.rows {
		p.rows[k] = withLength(p.rows[k], b.Len())
	}
	last := len(p.rows) - 1
	p.enc.Encode(b.Block, p.rows[:last], &p.scratch)
	for i := range p.rows[last] {
		p.rows[last][i] = scaling.FixedPoint(greedyConstant)
	}
	p.gram.Add(p.rows)
}

func (p *greedyPass) Cells() mechanism.Cells {
	return p.gram.Cells()
}
