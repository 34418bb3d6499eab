package boosting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	settings "github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

const (
	// MaxRounds is the largest number of rounds.
	MaxRounds = 1000
	// The bounds of the clip are wide enough for any use and well within those of [mechanism.Maker.NewCross].
	minClip = .01
	maxClip = 4
	// defaultClip is C, the clamp of residuals, in half widths of the target's range. The target is in [-1, 1],
	// so the first round clamps no residual.
	defaultClip = 1
	// minShrinkage is the smallest factor of a step. Factors above 1 may diverge.
	minShrinkage     = .01
	defaultShrinkage = 1
	// The matrix and the gradients share the model's mu^2. Each needs a positive share for its noise to be
	// finite.
	minGramShare     = .01
	maxGramShare     = .99
	defaultGramShare = .5
)

var (
	// ErrRounds is returned at plan time for a number of rounds outside
	// [0, MaxRounds].
	ErrRounds = errors.New("the number of rounds is out of range")
	// errSetting is returned at plan time for a clip, a shrinkage or a share of the matrix that is out of range.
	errSetting = errors.New("a setting of boosted-adassp is out of range")
)

// BoostedAdaSSP is Boosted AdaSSP; see the package comment. Its fields are public and must not be chosen from
// the data. The zero value of each field selects its default.
type BoostedAdaSSP settings.BoostedAdaSSP

// Name returns "boosted-adassp".
func (BoostedAdaSSP) Name() string {
	return "boosted-adassp"
}

// Node names of the plan.
const (
	rootNode      = "boosted-adassp"
	gramLeaf      = "gram"
	gradientsLeaf = "gradients"
)

// Plan returns the leaf of the matrix and that of the gradients. The rounds divide the one draw of the latter
// equally ([mechanism.GaussianPart]), so the price does not depend on their number. Its errors are [ErrRounds],
// [errSetting] and [linear.ErrTooWide].
func (t BoostedAdaSSP) Plan(f method.Facts) (budget.Node, error) {
	if t.Rounds < 0 || t.Rounds > MaxRounds {
		return budget.Node{},
			fmt.Errorf("%w: %d; choose 1 to %d, or 0 for the default", ErrRounds, t.Rounds,
				MaxRounds)
	}
	for _, x := range []struct {
		name  string
		value float64
		least float64
		most  float64
	}{
		{"clip", t.clip(), minClip, maxClip},
		{"shrinkage", t.shrinkage(), minShrinkage, 1},
		{"gram share", t.gramShare(), minGramShare, maxGramShare},
	} {
		if !(x.value >= x.least && x.value <= x.most) {
			return budget.Node{},
				fmt.Errorf("%w: the %s is %v; choose %v to %v, or 0 for the default", errSetting,
					x.name, x.value, x.least, x.most)
		}
	}
	if _, err := linear.NewFrame(f.Columns, nil); err != nil {
		return budget.Node{}, err
	}
	return budget.Sequence(rootNode,
		budget.GaussianLeaf(gramLeaf, linear.GramShare*t.gramShare(), 1).
			WithStatistic(mechanism.StatGram),
		budget.GaussianLeaf(gradientsLeaf, linear.GramShare*(1-t.gramShare()),
			1).WithStatistic(mechanism.StatCross)), nil
}

func (t BoostedAdaSSP) clip() float64 {
	return cmp.Or(t.Clip, defaultClip)
}

func (t BoostedAdaSSP) shrinkage() float64 {
	return cmp.Or(t.Shrinkage, defaultShrinkage)
}

func (t BoostedAdaSSP) gramShare() float64 {
	return cmp.Or(t.GramShare, defaultGramShare)
}

// Fit trains; see [method.Trainer].
func (t BoostedAdaSSP) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	frame, err := linear.NewFrame(d.Columns, d.Ranges)
	if err != nil {
		return nil, err
	}
	s = s.Sub(rootNode)
	records := d.Records
	sums, err := linear.ReleaseGram(
		ctx,
		s,
		gramLeaf,
		records,
		d.Columns,
		d.Ranges,
		linear.Features,
	)
	if err != nil {
		return nil, err
	}
	matrix := sums.Symmetric()
	solver := newSolver(matrix, s.Scale(gramLeaf), t.shrinkage())
	rounds := t.Rounds
	if rounds == 0 {
		rounds = chosenRounds(solver, t.singleNoise(s, frame))
	}
	var cross float64 // the sum of kappa w y: the residual of round 0 is y
	for r := range rounds {
		gradient, err := releaseGradient(ctx, s, records,
			gradientStatistic{d.Columns, d.Ranges, solver.theta, t.clip()}, r, rounds)
		if err != nil {
			return nil, err
		}
		if r == 0 {
			cross = gradient[len(gradient)-1]
		}
		solver.step(gradient)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	noise := s.Scale(gradientsLeaf)
	theta := slices.Clone(solver.theta)
	cov := solver.covariance(noise)
	last := len(theta) - 1
	residual := cross
	for k, x := range solver.theta {
		residual -= float64(matrix.At(k, last) * x) // the conversion forbids fusing
	}
	linear.LiftConstant(
		theta,
		cov,
		residual,
		noise,
		matrix.At(last, last),
		solver.lambda,
	)
	return frame.Fit(theta, cov, cross, linear.NewDistribution(matrix, s.Scale(gramLeaf))), nil
}

// gradientStatistic is the sum of x g, g the residual y - x theta clamped to [-Clip, Clip].
type gradientStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Theta   []float64
	Clip    float64
}

// New implements [mechanism.Statistic].
func (x gradientStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := linear.FrameOf(x.Columns, x.Ranges)
	return &gradientPass{f.NewLimitedRows(m), m.NewCross(f.Slots(), f.LimitedNorm(), x.Clip),
		x.Theta}
}

type gradientPass struct {
	rows  *linear.TargetRows
	cross *mechanism.Cross
	theta []float64
}

func (p *gradientPass) Add(b mechanism.Block) {
	p.rows.Encode(b.Block)
	g := p.rows.Y
	for k, column := range p.rows.X {
		w := p.theta[k] / mechanism.FixedOne
		for i, x := range column {
			g[i] -= float64(w * float64(x)) // the conversion forbids fusing
		}
	}
	p.cross.Add(p.rows.X, g)
}

func (p *gradientPass) Cells() mechanism.Cells {
	return p.cross.Cells()
}

func releaseGradient(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	x gradientStatistic,
	round, rounds int,
) ([]float64, error) {
	acc, err := mechanism.Sum[*gradientPass](ctx, s, r, x)
	if err != nil {
		return nil, err
	}
	noisy, err := mechanism.GaussianPart(
		s,
		gradientsLeaf,
		0,
		round,
		rounds,
		acc.cross.Bound(),
	)
	if err != nil {
		return nil, err
	}
	return noisy.Value(), nil
}
