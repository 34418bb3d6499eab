package linear

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

const (
	// Bias is kb, the constant entry of every row, where the features have norm
	// at most 1. It is as much part of the penalty as the others.
	Bias = .5
	// LeastLambda and MostLambda bound the penalty. Below it the noise is larger
	// than any useful weight.
	LeastLambda = .1
	MostLambda  = 1e12
	// defaultFactor is the factor of the default penalty; see DefaultLambda.
	defaultFactor = .5
)

// LambdaName is the name of the key of the penalty in recipes.
const LambdaName = "lambda"

// LambdaKey is the key of the penalty of a [PerturbedMinimizer].
func LambdaKey() method.Key {
	return method.Key{
		Name:   LambdaName,
		Kind:   method.Number,
		Text:   "Penalty of the minimiser",
		Min:    LeastLambda,
		Max:    MostLambda,
		Rest:   ", Lambda of sum of losses + Lambda/2 |w|^2",
		Absent: "chosen from the noise and the number of records",
		Hint:   "omit it to let the method choose; a larger penalty needs less noise",
		Doc: "Λ in Σ losses + Λ/2 ‖w‖², where rows are scaled to length 1 at most. The noise is proportional to 1/Λ. Λ is the number of records times " +
			"the penalty in the mean form of Chaudhuri, Monteleoni and Sarwate (2011), which the experiments of DPFSDR (2022, section 5.4) use. " +
			"For `logistic`, only with form `output`.",
	}
}

// DefaultLambda returns the default penalty for at least that many records and noise of noise/Lambda in each
// direction of a score, R = 1:
//
//	max(1, .5 (atLeast noise^2)^(1/3)).
//
// The loss due to a penalty Lambda grows like Lambda, and that due to the noise like n times its variance, n
// noise^2/Lambda^2; the sum is smallest for Lambda of the order of (n noise^2)^(1/3). The factor is empirical
// (docs/proofs/svm.md, "Figures"); a fixed share of n would fit one table and one epsilon only.
func DefaultLambda(atLeast int, noise float64) float64 {
	v := defaultFactor * math.Cbrt(float64(max(atLeast, 1))*noise*noise)
	return min(max(v, 1), MostLambda) // a v that is no number stays one: noise is public and finite
}

// A PerturbedMinimizer is the linear classifier of least loss with a ridge penalty,
// released with noise ([mechanism.Minimizer]). Its rows are z = (x/B, Bias), x the
// features scaled and limited to norm B, the public bound of
// [scaling.Encoder.NormLimit] without a constant; so |z| <= R = sqrt(1 + Bias^2).
type PerturbedMinimizer struct {
	Lambda   float64 // within [LeastLambda, MostLambda], or 0 for [DefaultLambda]
	Leaf     string  // of the plan
	Logistic bool    // the logistic loss, not the hinge
	// Pure releases the minimiser with Laplace noise on every coordinate, so that delta may be 0; otherwise with Gaussian noise.
	Pure bool
}

// Plan returns the leaf of the release. Its errors are [ErrTarget], [ErrFeatures],
// [ErrLambda] and [ErrTooWide].
func (t PerturbedMinimizer) Plan(facts method.Facts) (budget.Node, error) {
	if t.Lambda != 0 && !(t.Lambda >= LeastLambda && t.Lambda <= MostLambda) {
		return budget.Node{}, fmt.Errorf(
			"%w: %v; choose one in [%v, %v], or 0 for the default",
			ErrLambda,
			t.Lambda,
			LeastLambda,
			float64(MostLambda),
		)
	}
	if _, err := PlanClassFrame(facts.Columns); err != nil {
		return budget.Node{}, err
	}
	if t.Pure {
		return budget.PureLeaf(t.Leaf, GramShare, 1).
			WithStatistic(mechanism.StatMinimizerCoordinates), nil
	}
	return budget.GaussianLeaf(t.Leaf, GramShare, 1).WithStatistic(mechanism.StatMinimizer), nil
}

// Fit trains; see [method.Trainer]. The number of records determines only the default penalty.
func (t PerturbedMinimizer) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	f, err := NewClassFrame(d.Columns, d.Ranges)
	if err != nil {
		return nil, err
	}
	if f.Slots() == 0 { // no release
		return f.Fit(f.constantScores()), nil
	}
	lambda := t.ridgePenalty(d.AtLeast, t.relativeNoise(s, f))
	limit := f.Encoder.NormLimit(0) // B^2
	// Scaling x by 1/B scales a weight by 1/B too, so the constant and the penalty are B and B^2 times as
	// large.
	start := s.NewMinimizer
	if t.Logistic {
		start = s.NewLogisticMinimizer
	}
	minimizer := start(
		f.Slots(),
		limit,
		Bias*math.Sqrt(limit),
		lambda*limit,
		f.Classes(),
	)
	v, err := d.Records.View(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.addRows(ctx, minimizer, v); err != nil {
		return nil, err
	}
	released, deviation, err := t.releaseMinimizer(ctx, s, minimizer)
	if err != nil {
		return nil, err
	}
	return f.Fit(f.clippedScores(released, deviation, limit)), nil
}

// releaseMinimizer returns the minimiser with noise, and the standard deviation of the noise in a coordinate.
func (t PerturbedMinimizer) releaseMinimizer(
	ctx context.Context,
	s *mechanism.Session,
	m *mechanism.Minimizer,
) (w []float64, deviation float64, err error) {
	if t.Pure {
		bounded, err := m.CoordinateBound(ctx)
		if err != nil {
			return nil, 0, err
		}
		released, err := mechanism.LaplaceCells(s, t.Leaf, bounded)
		return released.Value(), math.Sqrt2 * s.Scale(t.Leaf), err
	}
	bounded, err := m.Bound(ctx)
	if err != nil {
		return nil, 0, err
	}
	released, err := mechanism.Gaussian(s, t.Leaf, bounded)
	return released.Value(), s.Scale(t.Leaf), err
}

// ridgePenalty is the given lambda or the default one.
func (t PerturbedMinimizer) ridgePenalty(atLeast int, noise float64) float64 {
	if t.Lambda == 0 {
		return DefaultLambda(atLeast, noise)
	}
	return t.Lambda
}

// constantScores returns the scores of a model without features: all 0.
func (f *ClassFrame) constantScores() []regression.Model {
	out := make([]regression.Model, f.Scores())
	for c := range out {
		m := f.Linear([]float64{0}, mat.NewDiagDense(1, nil), 0)
		out[c] = &m
	}
	return out
}

// relativeNoise returns the standard deviation of the noise in a coordinate times Lambda/R.
func (t PerturbedMinimizer) relativeNoise(
	s *mechanism.Session,
	f *ClassFrame,
) float64 {
	change := math.Sqrt(float64(f.Scores()))
	if s.Relation() != budget.AddRemove {
		change *= 2
	}
	if t.Pure { // sqrt(2) times the scale of Laplace noise for the L1 sensitivity of all coordinates
		return math.Sqrt(2*float64(f.Scores()*(f.Slots()+1))) * change / s.Epsilon(t.Leaf)
	}
	return change / s.Mu(t.Leaf)
}

// blockRows is the number of records that are encoded at once.
const blockRows = 1024

// addRows hands all rows to a minimizer, which keeps them.
func (f *ClassFrame) addRows(
	ctx context.Context,
	m *mechanism.Minimizer,
	v dataset.View,
) error {
	r := f.NewRows()
	for from := 0; from < v.Len() && ctx.Err() == nil; from += blockRows {
		r.Encode(v.Block(from, min(from+blockRows, v.Len())))
		m.Add(r.X[:f.Slots()], r.Codes) // the minimizer knows the constant
	}
	return ctx.Err()
}

// clippedScores returns the scores for weights of x and the constant with noise sigma in each. Training limited only
// x to norm B and left the constant unchanged. A [regression.ClippedLinear] shortens the deviation from the
// middle of the prediction's range, so that middle is the bias.
func (f *ClassFrame) clippedScores(
	weights []float64,
	sigma, limit float64,
) []regression.Model {
	size := f.Slots() + 1
	constant := Bias * math.Sqrt(limit)
	variance := make([]float64, size)
	for j := range variance {
		variance[j] = sigma * sigma
	}
	cov := mat.NewDiagDense(size, variance)
	out := make([]regression.Model, f.Scores())
	for c := range out {
		theta := weights[c*size : (c+1)*size]
		m := &regression.ClippedLinear{
			Linear: f.Linear(theta, cov, constant),
			Norm:   math.Sqrt(limit),
		}
		// No score is further from the bias than |theta| B.
		reach := 1.0
		for _, w := range theta {
			reach += math.Abs(w) * m.Norm
		}
		bias := constant * theta[size-1]
		m.Lower = bias - reach
		m.Upper = bias + reach
		out[c] = m
	}
	return out
}
