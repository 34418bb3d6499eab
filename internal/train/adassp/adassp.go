package adassp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	settings "github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// Settings of AdaSSP as published (docs/proofs/adassp.md, "Budget and defaults").
const (
	// eigenvalueShare, matrixShare and momentsShare are the default shares of the model's mu^2 for the three
	// releases.
	eigenvalueShare = .10
	matrixShare     = .45
	momentsShare    = .45
	// failure is beta: the failure probability of each of the two bounds on which the ridge penalty rests.
	failure = .05
	// eigenFloor is the smallest eigenvalue that is inverted.
	eigenFloor = 1e-9
)

// AdaSSP is the trainer of Y.-X. Wang, "Revisiting differentially private linear regression" (2018), algorithm
// 2, as published except for its accounting: three Gaussian releases, of the smallest eigenvalue of X^T X, of
// X^T X and of X^T y, composed as Gaussian privacy (mu^2 adds; docs/proofs/adassp.md, "Sensitivity and proof")
// instead of by thirds of epsilon and delta, which needs 1.26 to 2.05 times the noise. The ridge penalty is the
// smallest that a bound on the released eigenvalue permits.
//
// Rows x hold the scaled features and the constant [linear.Kappa] for the intercept. Their features are limited
// to norm F, so |x|^2 <= B^2 = F^2 + kappa^2 (see [linear.Frame.NewLimitedRows]); the target is scaled to [-1,
// 1], so |y| <= C = 1 and the sensitivity of X^T y is B.
//
// [JointGram] is usually the better choice: the eigenvalues of the released matrix replace the first release,
// and the matrix contains the third.
type AdaSSP settings.AdaSSP

// errShares is wrapped by the error of a plan with shares that are out of range or do not add up to 1.
var errShares = errors.New("the shares of AdaSSP must be above 0 and below 1 and add up to 1")

// shareTolerance is the permitted deviation of the sum of the shares from 1: they are written with few digits.
const shareTolerance = 1e-9

// shares returns the shares of the eigenvalue, the matrix and the moments.
func (t AdaSSP) shares() ([3]float64, error) {
	asked := [3]float64{t.EigenvalueShare, t.GramShare, t.CrossShare}
	shares := [3]float64{eigenvalueShare, matrixShare, momentsShare}
	left := 1.
	weights := 0.
	for i, x := range asked {
		switch {
		case x == 0:
			weights += shares[i]
		case !(x > 0 && x < 1):
			return shares, fmt.Errorf("%w, not %v", errShares, x)
		}
		left -= x
	}
	switch {
	case asked == [3]float64{}:
		return shares, nil
	case weights == 0 && math.Abs(left) > shareTolerance, weights > 0 && left <= shareTolerance:
		return shares, fmt.Errorf("%w, not to %v", errShares, 1-left)
	}
	for i, x := range asked {
		if x != 0 {
			shares[i] = x
		} else {
			shares[i] *= left / weights
		}
	}
	return shares, nil
}

// Name returns "adassp".
func (AdaSSP) Name() string {
	return "adassp"
}

// Node names of the plan.
const (
	adasspNode     = "adassp"
	eigenvalueLeaf = "eigenvalue"
	matrixLeaf     = "gram"
	momentsLeaf    = "moments"
)

// Plan returns the three Gaussian leaves, or that of the products with the target if the run protects the target only. Its errors are [linear.ErrTooWide] and one for shares that are out of
// range or do not add up to 1.
func (t AdaSSP) Plan(f method.Facts) (budget.Node, error) {
	if _, err := linear.NewFrame(f.Columns, nil); err != nil {
		return budget.Node{}, err
	}
	shares, err := t.shares()
	if err != nil {
		return budget.Node{}, err
	}
	if f.LabelOnly {
		return budget.Sequence(adasspNode,
			budget.GaussianLeaf(momentsLeaf, linear.GramShare, 1).
				WithStatistic(mechanism.StatLabelSums)), nil
	}
	return budget.Sequence(adasspNode,
			budget.GaussianLeaf(eigenvalueLeaf, linear.GramShare*shares[0],
				1).WithStatistic(mechanism.StatEigenvalue),
			budget.GaussianLeaf(matrixLeaf, linear.GramShare*shares[1], 1).
				WithStatistic(mechanism.StatGram),
			budget.GaussianLeaf(momentsLeaf, linear.GramShare*shares[2],
				1).WithStatistic(mechanism.StatCross)),
		nil
}

// Fit trains; see [method.Trainer].
//
// If the run protects the target only, X^T X and its smallest eigenvalue are exact. The bound on the noise in the matrix
// is then 0 and so is the ridge penalty, and only X^T y is released.
func (AdaSSP) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	frame, err := linear.NewFrame(d.Columns, d.Ranges)
	if err != nil {
		return nil, err
	}
	if d.LabelOnly {
		return linear.FitLabels(ctx, s.Sub(adasspNode), momentsLeaf, d, false)
	}
	acc, err := mechanism.Sum[*momentsPass](
		ctx,
		s,
		d.Records,
		momentsStatistic{d.Columns, d.Ranges},
	)
	if err != nil {
		return nil, err
	}
	r, err := acc.releaseMoments(s.Sub(adasspNode))
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fit := r.solve()
	last := frame.Slots() - 1
	lambda, _ := r.ridge()
	fit.LiftConstant(r.matrix.Entry(last, last), lambda)
	return frame.Fit(fit.Theta, fit.Cov, r.moments[last],
		linear.NewDistribution(r.matrix.Symmetric(), r.s2)), nil
}

// momentsStatistic is the sums of x x^T and of x y over the rows of a [linear.Frame].
type momentsStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
}

// New implements [mechanism.Statistic].
func (x momentsStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := linear.FrameOf(x.Columns, x.Ranges)
	return &momentsPass{f.NewLimitedRows(m), m.NewGram(f.Slots(), f.LimitedNorm()),
		m.NewCross(f.Slots(), f.LimitedNorm(), 1)}
}

type momentsPass struct {
	rows  *linear.TargetRows
	gram  *mechanism.Gram
	cross *mechanism.Cross
}

func (p *momentsPass) Add(b mechanism.Block) {
	p.rows.Encode(b.Block)
	p.gram.Add(p.rows.X)
	p.cross.Add(p.rows.X, p.rows.Y)
}

func (p *momentsPass) Cells() mechanism.Cells {
	return mechanism.Join(p.gram.Cells(), p.cross.Cells())
}

// noisyMoments holds the three noisy statistics and the standard deviations of their noise: s1, s2 and s3 of
// docs/proofs/adassp.md, "Budget and defaults".
type noisyMoments struct {
	smallest float64
	matrix   linear.Packed
	moments  []float64
	s1       float64
	s2       float64
	s3       float64
}

// releaseMoments spends the three leaves.
func (p *momentsPass) releaseMoments(s *mechanism.Session) (noisyMoments, error) {
	smallest, err := mechanism.Gaussian(s, eigenvalueLeaf, p.gram.SmallestEigenvalue())
	if err != nil {
		return noisyMoments{}, err
	}
	matrix, err := mechanism.SymmetricGaussian(s, matrixLeaf, p.gram.Bound())
	if err != nil {
		return noisyMoments{}, err
	}
	moments, err := mechanism.Gaussian(s, momentsLeaf, p.cross.Bound())
	if err != nil {
		return noisyMoments{}, err
	}
	return noisyMoments{
		smallest.Value()[0], linear.Packed{
			P:      len(moments.Value()),
			Values: matrix.Value(),
		},
		moments.Value(),
		s.Scale(eigenvalueLeaf), s.Scale(matrixLeaf), s.Scale(momentsLeaf),
	}, nil
}

// ridge returns the penalty lambda = max(0, eta - l), with l a lower bound on the smallest eigenvalue and eta
// an upper bound on the operator norm of the noise in the matrix. Each bound fails with probability at most
// beta. noisy reports whether the noise in the released eigenvalue affects lambda.
func (r noisyMoments) ridge() (lambda float64, noisy bool) {
	d := float64(r.matrix.P)
	bound := r.smallest - mathext.NormalQuantile(1-failure)*r.s1
	eta := r.s2 * math.Sqrt(2*d*math.Log(2*d*d/failure))
	return max(0, eta-max(0, bound)), bound > 0 && bound < eta
}

// solve returns theta = (G + lambda I)^-1 v, with G the noisy matrix and v the noisy moments; eigenvalues of
// the inverted matrix are at least 1e-9. It is total.
//
// To first order the error of theta is S (e - E theta - f theta), with S the inverse and the noises e of v
// (covariance s3^2 I), E of G (E theta has covariance s2^2/2 (|theta|^2 I + theta theta^T)) and f of lambda
// (variance s1^2, or 0).
func (r noisyMoments) solve() linear.Solution {
	lambda, noisy := r.ridge()
	inverse := linear.NewSpectrum(r.matrix.Symmetric()).Apply(func(e float64) float64 {
		return 1 / max(e+lambda, eigenFloor)
	})
	theta := mat.NewVecDense(r.matrix.P, nil)
	theta.MulVec(inverse, mat.NewVecDense(r.matrix.P, r.moments))
	along := r.s2 * r.s2 / 2
	alike := r.s3*r.s3 + along*mat.Dot(theta, theta)
	if noisy {
		along += r.s1 * r.s1
	}
	return linear.Solution{
		Theta: theta.RawVector().Data,
		Cov:   linear.Sandwich(inverse, theta, alike, along),
	}
}
