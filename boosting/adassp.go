package boosting

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

const (
	// defaultRounds is the number of rounds where none is given. One is best on
	// small tables: every further round adds noise to all. With a known lower
	// bound on the number of records 10 suits 1000 and more; 100 needs 30000
	// (docs/methods/boosted-adassp.md, "Budget and defaults").
	defaultRounds = 1
	// MaxRounds is the largest number of rounds.
	MaxRounds = 1000
	// residualClip is C, the clamp of residuals in half widths of the target's
	// range. The target itself lies in [-1, 1], so the first round clamps
	// nothing.
	residualClip = 1
)

// ErrRounds is returned at plan time for a number of rounds outside
// [0, MaxRounds].
var ErrRounds = errors.New("the number of rounds is out of range")

// BoostedAdaSSP is Boosted AdaSSP; see the package comment.
type BoostedAdaSSP struct {
	// Rounds is T, at most MaxRounds; 0 stands for 1. It must be
	// chosen from public facts.
	Rounds int
}

// Name returns "boosted-adassp".
func (BoostedAdaSSP) Name() string { return "boosted-adassp" }

// The names of the nodes of the plan.
const (
	rootNode      = "boosted-adassp"
	gramLeaf      = "gram"
	gradientsLeaf = "gradients"
)

// Plan returns the leaf of the matrix and that of the gradients, one draw a
// round, with half of the model's mu^2 each. Its errors are [ErrRounds] and
// [linear.ErrTooWide].
func (t BoostedAdaSSP) Plan(f method.Facts) (budget.Node, error) {
	if t.Rounds < 0 || t.Rounds > MaxRounds {
		return budget.Node{}, fmt.Errorf("%w: %d; choose 1 to %d, or 0 for the default of %d", ErrRounds, t.Rounds, MaxRounds, defaultRounds)
	}
	if _, err := linear.NewFrame(f.Columns, nil); err != nil {
		return budget.Node{}, err
	}
	return budget.Seq(rootNode,
		budget.GaussianLeaf(gramLeaf, linear.GramShare/2, 1).Of(mechanism.StatGram),
		budget.GaussianLeaf(gradientsLeaf, linear.GramShare/2, t.rounds()).Of(mechanism.StatCross)), nil
}

func (t BoostedAdaSSP) rounds() int {
	if t.Rounds == 0 {
		return defaultRounds
	}
	return t.Rounds
}

// Fit trains; see [method.Trainer].
func (t BoostedAdaSSP) Fit(ctx context.Context, s *mechanism.Session, d method.Data) (*method.Fit, error) {
	frame, err := linear.NewFrame(d.Columns, d.Ranges)
	if err != nil {
		return nil, err
	}
	s, records := s.Sub(rootNode), d.Records
	sums, err := linear.ReleaseGram(ctx, s, gramLeaf, records, d.Columns, d.Ranges, linear.Features)
	if err != nil {
		return nil, err
	}
	matrix := sums.Symmetric()
	solver := newSolver(matrix, s.Scale(gramLeaf))
	var cross float64 // the sum of kappa w y: the residual of round 0 is y
	for r := range t.rounds() {
		gradient, err := releaseGradient(ctx, s, records, gradientStatistic{d.Columns, d.Ranges, solver.theta}, r)
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
	theta, cov := slices.Clone(solver.theta), solver.covariance(noise)
	last := len(theta) - 1
	residual := cross
	for k, x := range solver.theta {
		residual -= float64(matrix.At(k, last) * x) // the conversion forbids fusing
	}
	linear.LiftConstant(theta, cov, residual, noise, matrix.At(last, last), solver.lambda)
	return frame.Fit(theta, cov, cross, linear.NewDistribution(matrix, s.Scale(gramLeaf))), nil
}

// gradientStatistic is the sum of x g, g the residual y - x theta clamped to [-C, C].
type gradientStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Theta   []float64
}

// New implements [mechanism.Statistic].
func (x gradientStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := linear.FrameOf(x.Columns, x.Ranges)
	return &gradientPass{f.NewLimitedRows(m), m.NewCross(f.Slots(), f.LimitedNorm(), residualClip), x.Theta}
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

func (p *gradientPass) Cells() mechanism.Cells { return p.cross.Cells() }

func releaseGradient(ctx context.Context, s *mechanism.Session, r mechanism.Records, x gradientStatistic, round int) ([]float64, error) {
	acc, err := mechanism.Sum[*gradientPass](ctx, s, r, x)
	if err != nil {
		return nil, err
	}
	noisy, err := mechanism.GaussianDraw(s, gradientsLeaf, round, acc.cross.Bound())
	if err != nil {
		return nil, err
	}
	return noisy.Value(), nil
}
