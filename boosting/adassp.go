package boosting

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

const (
	// DefaultRounds is the number of rounds where none is given. One is best on
	// small tables: every further round adds noise to all. With a known lower
	// bound on the number of records 10 suits 1000 and more; 100 needs 30000
	// (docs/methods/boosted-adassp.md).
	DefaultRounds = 1
	// MaxRounds is the largest number of rounds.
	MaxRounds = 1000
	// ResidualClip is C, the clamp of residuals in half widths of the target's
	// range. The target itself lies in [-1, 1], so the first round clamps
	// nothing.
	ResidualClip = 1
)

// ErrRounds is returned at plan time for a number of rounds outside
// [0, MaxRounds].
var ErrRounds = errors.New("boosting: the number of rounds is out of range")

// BoostedAdaSSP is Boosted AdaSSP; see the package comment.
type BoostedAdaSSP struct {
	// Columns are the features in order and then the target, which must be
	// numeric.
	Columns []dataset.Column
	// Rounds is T, at most MaxRounds; 0 stands for DefaultRounds. It must be
	// chosen from public facts.
	Rounds int
}

// The names of the nodes of the plan.
const (
	rootNode      = "boosted-adassp"
	gramLeaf      = "gram"
	gradientsLeaf = "gradients"
)

// Plan returns the leaf of the matrix and that of the gradients, one draw a
// round, with half of the model's mu^2 each. Its errors are [ErrRounds] and
// [adassp.ErrTooWide].
func (t BoostedAdaSSP) Plan() (budget.Node, error) {
	if t.Rounds < 0 || t.Rounds > MaxRounds {
		return budget.Node{}, fmt.Errorf("%w: %d; choose 1 to %d, or 0 for the default of %d", ErrRounds, t.Rounds, MaxRounds, DefaultRounds)
	}
	if _, err := adassp.NewFrame(t.Columns, nil); err != nil {
		return budget.Node{}, err
	}
	return budget.Seq(rootNode,
		budget.GaussianLeaf(gramLeaf, adassp.GramShare/2, 1),
		budget.GaussianLeaf(gradientsLeaf, adassp.GramShare/2, t.rounds())), nil
}

func (t BoostedAdaSSP) rounds() int {
	if t.Rounds == 0 {
		return DefaultRounds
	}
	return t.Rounds
}

// Run trains on the records of v. ranges has one entry a column. s is the
// session of the parent of the node that Plan returned.
func (t BoostedAdaSSP) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*adassp.Fit, error) {
	frame, err := adassp.NewFrame(t.Columns, ranges)
	if err != nil {
		return nil, err
	}
	s = s.Sub(rootNode)
	matrix, err := releaseGram(ctx, s, v, frame)
	if err != nil {
		return nil, err
	}
	solver := newSolver(matrix, s.Scale(gramLeaf))
	var cross float64 // the sum of kappa w y: the residual of round 0 is y
	for r := range t.rounds() {
		gradient, err := releaseGradient(ctx, s, v, frame, solver.theta, r)
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
	adassp.LiftConstant(theta, cov, residual, noise, matrix.At(last, last), solver.lambda)
	return frame.Fit(theta, cov, cross, adassp.NewDistribution(matrix, s.Scale(gramLeaf))), nil
}

// gramPass sums x x^T over the rows of blocks.
type gramPass struct {
	rows *adassp.Rows
	gram *mechanism.Gram
}

func (p *gramPass) Add(b dataset.Block) {
	p.rows.Encode(b)
	p.gram.Add(p.rows.X)
}

func (p *gramPass) Merge(o *gramPass) { p.gram.Merge(o.gram) }

func releaseGram(ctx context.Context, s *mechanism.Session, v dataset.View, f *adassp.Frame) (*mat.SymDense, error) {
	acc, err := dataset.Reduce(ctx, v, 0, func() *gramPass {
		return &gramPass{f.NewRows(), s.NewGram(f.Slots(), f.NormLimit())}
	})
	if err != nil {
		return nil, err
	}
	noisy, err := mechanism.SymmetricGaussian(s, gramLeaf, acc.gram.Bound())
	if err != nil {
		return nil, err
	}
	return adassp.Symmetric(f.Slots(), noisy.Value()), nil
}

// gradientPass sums x g over the rows of blocks, g the residual y - x theta
// clamped to [-C, C].
type gradientPass struct {
	rows  *adassp.Rows
	cross *mechanism.Cross
	theta []float64
}

func (p *gradientPass) Add(b dataset.Block) {
	p.rows.Encode(b)
	p.cross.Clip(p.rows.X)
	g := p.rows.Y
	for k, column := range p.rows.X {
		w := p.theta[k] / mechanism.FixedOne
		for i, x := range column {
			g[i] -= float64(w * float64(x)) // the conversion forbids fusing
		}
	}
	p.cross.Add(p.rows.X, g)
}

func (p *gradientPass) Merge(o *gradientPass) { p.cross.Merge(o.cross) }

func releaseGradient(ctx context.Context, s *mechanism.Session, v dataset.View, f *adassp.Frame, theta []float64, round int) ([]float64, error) {
	acc, err := dataset.Reduce(ctx, v, 0, func() *gradientPass {
		return &gradientPass{f.NewRows(), s.NewCross(f.Slots(), f.NormLimit(), ResidualClip), theta}
	})
	if err != nil {
		return nil, err
	}
	noisy, err := mechanism.GaussianDraw(s, gradientsLeaf, round, acc.cross.Bound())
	if err != nil {
		return nil, err
	}
	return noisy.Value(), nil
}
