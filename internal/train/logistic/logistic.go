// Package logistic provides logistic regression under differential privacy: by noisy gradients or, with the
// form [Output], as a minimiser released with noise. It trains on the category target itself and returns a
// [regression.Classifier]: one linear score for two classes, one per class (one-versus-rest) for more. A record
// in none of the declared classes is ignored.
//
// [Logistic] minimises a logistic loss by a few noisy steps of a second-order method: one release of the matrix
// of second moments, which bounds the Hessian at every point (Böhning and Lindsay, 1988), then a fixed number
// of releases of the gradient. The rows are limited to norm B and the slope of the loss to 1/2, so one record
// moves a gradient by B/2 at most. The bound requires no convergence. docs/proofs/logistic.md, "Figures",
// compares its accuracy with that of the minimiser with noise.
package logistic

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	settings "github.com/dptrain/dptrain/logistic"
	"github.com/dptrain/dptrain/regression"
)

// Forms of [Logistic], as named in recipes.
const (
	Gradients = "gradients" // releases noisy gradients
	Output    = "output"    // releases the minimiser with noise
)

const (
	// steps is the number of gradients that are released.
	steps = 16
	// matrixShare is the share of mu^2 for the matrix of second moments; the gradients take the rest.
	matrixShare = .15
	// slopeClip bounds the slope of the loss. The slope is 1/2 at margin 0, so the loss is linear for records
	// on the wrong side of the boundary.
	slopeClip = .5
)

// Node names of the plan.
const (
	logisticNode  = "logistic"
	matrixLeaf    = "gram"
	gradientsLeaf = "gradients"
	labelsLeaf    = "labels" // of a run that protects the target only
)

// Logistic is logistic regression by private second-order gradient steps. With
// rows z = (x, kappa), kappa = [linear.Kappa], limited to norm B as a whole, and
// labels y of -1 and +1, it minimises
//
//	F(theta) = sum_i l(y_i theta.z_i), l'(m) = -min(1/2, 1/(1 + e^m)),
//
// which is the logistic loss for records on the right side of the boundary and
// its tangent at 0 for those on the wrong one. It is convex, and where a single
// record is uncertain it has its least at the same class (l'(0) < 0: Bartlett,
// Jordan and McAuliffe, "Convexity, classification, and risk bounds", 2006).
//
// # The steps
//
// The second derivative of l is at most 1/4, so A/4 with A = sum z z^T bounds the Hessian of F everywhere, and
//
//	theta <- theta - (A/4)^-1 grad F(theta)
//
// never raises F (Böhning and Lindsay, "Monotonicity of quadratic-approximation
// algorithms", 1988). A is released once, its negative eigenvalues become 0 and
// the size of its noise is added as in [adassp.JointGram]; a gradient is released
// in each of 16 rounds. Stopping after so few is the regularisation: there
// is no penalty, and no direction that the noise of A hides is followed far.
//
// # Privacy
//
// Adding or removing one record moves A by z z^T, at most B^2 in the Frobenius norm, and a gradient by l' y z,
// at most B/2. Substitution moves them by sqrt2 B^2 and B. Both are exact integers under bounds of package
// mechanism ([mechanism.Gram], [mechanism.Cross]), theta is computed from released values, and the number of
// steps is fixed, so the whole is an adaptive composition of Gaussian steps. With more than two classes a round
// has one gradient per class; each takes an equal part of the draw ([mechanism.GaussianPart]).
//
// # Private labels
//
// If the run protects the target only, the labels enter the loss through one vector, whose release is the whole cost; see
// [linear.LabelScores]. The loss is then the logistic one, without a bound on its slope.
//
// # Output
//
// In the form Output the method is output-perturbed logistic regression, which differs from package svm only in
// the loss: the minimiser of the logistic loss with the same penalty, released with noise (Chaudhuri,
// Monteleoni and Sarwate 2011, algorithm 1, in sum form). It is less accurate.
type Logistic struct {
	Form   string  // [Gradients] (also if empty) or [Output]
	Lambda float64 // penalty of the form Output, as in package svm

	pure bool // use Laplace noise in the form Output
}

// PureForm returns the trainer with Laplace noise, in the form [Output] unless another form is set.
func (t Logistic) PureForm() method.Trainer {
	if t.Form == "" {
		t.Form = Output
	}
	t.pure = t.Form == Output
	return t
}

// Method describes the trainer.
func (Logistic) Method() method.Method {
	return method.Method{
		Name:           Logistic{}.Name(),
		Summary:        "logistic regression, noisy gradients or noisy minimiser",
		ClassesFrom:    2,
		Relations:      method.EveryRecord(),
		PublicFeatures: true,
		Keys: []method.Key{
			{
				Name:  "form",
				Kind:  method.Word,
				Text:  "Variant of the method",
				Own:   "gradients, or output (noise on the minimiser)",
				Words: []string{Gradients, Output},
				Doc:   "For `logistic`, `gradients` releases noisy gradients, and `output` the minimiser with noise.",
			},
			lambdaKey(),
		},
		Statistics: []mechanism.Statistic{gradientStatistic{}},
		Is:         method.HasType[Logistic],
		FromSettings: method.FromSettings(func(x settings.Logistic) method.Trainer {
			return Logistic{Form: x.Form, Lambda: x.Lambda}
		}),
		New: func(v method.Values) method.Trainer {
			return Logistic{
				Form:   v.Word("form"),
				Lambda: v.Number(linear.LambdaName),
			}
		},
	}
}

// lambdaKey returns the key of the penalty, which only the form [Output] has.
func lambdaKey() method.Key {
	k := linear.LambdaKey()
	k.Needs = method.Link{
		Key:   "form",
		Words: []string{Output},
		Hint:  "the gradient form has no penalty; set model.form: " + Output + ", or remove it",
	}
	return k
}

// Name returns "logistic".
func (Logistic) Name() string {
	return "logistic"
}

// NeedsCount reports whether the penalty depends on the number of records.
func (t Logistic) NeedsCount() bool {
	return t.Form == Output
}

// Gathers reports whether all rows are needed in one place, as for a minimiser.
func (t Logistic) Gathers() bool {
	return t.Form == Output
}

// FormName returns the form.
func (t Logistic) FormName() string {
	return t.Form
}

func (t Logistic) minimizer() linear.PerturbedMinimizer {
	return linear.PerturbedMinimizer{
		Lambda:   t.Lambda,
		Leaf:     "output",
		Logistic: true,
		Pure:     t.pure,
	}
}

// Plan returns the leaves of the matrix and the gradients, that of the labels if the run protects the target only, or, in the form Output, that of the minimiser. Its
// errors are [method.ErrForm], [linear.ErrTarget], [linear.ErrFeatures], [linear.ErrLambda] and
// [linear.ErrTooWide].
func (t Logistic) Plan(f method.Facts) (budget.Node, error) {
	switch {
	case t.Form == Output:
		return t.minimizer().Plan(f)
	case t.Form != "" && t.Form != Gradients:
		return budget.Node{},
			fmt.Errorf("%w: logistic %q; use one of %v", method.ErrForm, t.Form,
				[]string{Gradients, Output})
	case t.Lambda != 0:
		return budget.Node{},
			fmt.Errorf("%w: %v; of the form %s there is no penalty", linear.ErrLambda, t.Lambda,
				Gradients)
	}
	if _, err := linear.PlanClassFrame(f.Columns); err != nil {
		return budget.Node{}, err
	}
	if f.LabelOnly {
		return budget.Sequence(logisticNode,
			budget.GaussianLeaf(labelsLeaf, linear.GramShare, 1).
				WithStatistic(mechanism.StatLabelSums)), nil
	}
	return budget.Sequence(logisticNode,
		budget.GaussianLeaf(matrixLeaf, linear.GramShare*matrixShare, 1).
			WithStatistic(mechanism.StatGram),
		budget.GaussianLeaf(gradientsLeaf, linear.GramShare*(1-matrixShare),
			steps).WithStatistic(mechanism.StatCross)), nil
}

// Fit trains; see [method.Trainer].
func (t Logistic) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	if t.Form == Output {
		return t.minimizer().Fit(ctx, s, d)
	}
	f, err := linear.NewClassFrame(d.Columns, d.Ranges)
	if err != nil {
		return nil, err
	}
	if d.LabelOnly {
		return fitLabels(ctx, s.Sub(logisticNode), d, f)
	}
	s = s.Sub(logisticNode)
	records := d.Records
	sums, err := linear.ReleaseGram(
		ctx,
		s,
		matrixLeaf,
		records,
		d.Columns,
		d.Ranges,
		linear.InClass,
	)
	if err != nil {
		return nil, err
	}
	theta := make([][]float64, f.Scores())
	for c := range theta {
		theta[c] = make([]float64, f.Slots()+1)
	}
	inverse := stepMatrix(sums.Symmetric(), s.Scale(matrixLeaf))
	for round := range steps {
		if theta, err = gradientStep(ctx, s, records, gradientStatistic{d.Columns, d.Ranges, theta},
			inverse, round); err != nil {
			return nil, err
		}
	}
	return f.Fit(linearScores(f, theta, inverse, s.Scale(gradientsLeaf))), nil
}

// fitLabels fits a run that protects the target only, from one release of the products of features and labels.
func fitLabels(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
	f *linear.ClassFrame,
) (*method.Fit, error) {
	m, err := linear.ReleaseLabels(ctx, s, labelsLeaf, d)
	if err != nil {
		return nil, err
	}
	x, err := m.Logistic(ctx, s, d)
	if err != nil {
		return nil, err
	}
	scores := make([]regression.Model, f.Scores())
	for t := range scores {
		score := f.Linear(x.Theta[t], m.Covariance(func(k int) float64 {
			return x.Spread(t, k) * x.Spread(t, k)
		}), linear.Kappa)
		scores[t] = &score
	}
	return f.Fit(scores), nil
}

// stepMatrix returns ((A+ + r I)/4)^-1 for a released matrix A with noise sigma, with A+ having 0 for negative
// eigenvalues and r = RidgeFactor sigma sqrt(2 d).
func stepMatrix(a *mat.SymDense, sigma float64) *mat.SymDense {
	ridge := max(linear.RidgeFactor*sigma*math.Sqrt(2*float64(a.SymmetricDim())),
		math.SmallestNonzeroFloat64)
	return linear.NewSpectrum(a).Apply(func(e float64) float64 {
		return 4 / (max(e, 0) + ridge)
	})
}

// gradientStatistic is the sum of -l' y z for each score, whose weights are Theta.
type gradientStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Theta   [][]float64
}

// New implements [mechanism.Statistic].
func (x gradientStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := linear.ClassFrameOf(x.Columns, x.Ranges)
	p := &gradientPass{
		classes: f.Classes(),
		rows:    f.NewRows(),
		cross:   make([]*mechanism.Cross, f.Scores()),
		theta:   x.Theta,
	}
	for c := range p.cross {
		p.cross[c] = m.NewCross(
			f.Slots()+1,
			f.Encoder.NormLimit(linear.Kappa),
			slopeClip,
		)
	}
	return p
}

type gradientPass struct {
	classes int
	rows    *linear.ClassRows
	cross   []*mechanism.Cross
	theta   [][]float64
	slopes  []float64
}

func (p *gradientPass) Add(b mechanism.Block) {
	p.rows.Encode(b.Block)
	p.cross[0].Clip(p.rows.X)
	p.slopes = slices.Grow(p.slopes[:0], b.Len())[:b.Len()]
	for c, cross := range p.cross {
		linear.RowMargins(p.slopes, p.rows.X, p.theta[c])
		for i, k := range p.rows.Codes {
			p.slopes[i] = lossSlope(p.slopes[i], labelFor(p.classes, k, c))
		}
		cross.Add(p.rows.X, p.slopes)
	}
}

func (p *gradientPass) Cells() mechanism.Cells {
	var all []mechanism.Cells
	for _, cross := range p.cross {
		all = append(all, cross.Cells())
	}
	return mechanism.Join(all...)
}

// labelFor returns the label of class code k for score c: 0 for a record in no class.
func labelFor(classes int, k int32, c int) float64 {
	positive := int32(c)
	if classes == 2 {
		positive = 1
	}
	switch {
	case uint32(k) >= uint32(classes):
		return 0
	case k == positive:
		return 1
	}
	return -1
}

// lossSlope returns -l'(y m) y for the score m: the weight of a record with label y in the gradient of the
// score.
func lossSlope(m, y float64) float64 {
	return y * min(slopeClip, 1/(1+math.Exp(y*m)))
}

// gradientStep releases a gradient for each score and returns the next theta.
func gradientStep(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	x gradientStatistic,
	inverse *mat.SymDense,
	round int,
) ([][]float64, error) {
	theta := x.Theta
	acc, err := mechanism.Sum[*gradientPass](ctx, s, r, x)
	if err != nil {
		return nil, err
	}
	next := make([][]float64, len(theta)) // passes may still use the old slice
	for c, cross := range acc.cross {
		noisy, err := mechanism.GaussianPart(
			s,
			gradientsLeaf,
			round,
			c,
			len(theta),
			cross.Bound(),
		)
		if err != nil {
			return nil, err
		}
		var move mat.VecDense
		move.MulVec(inverse, mat.NewVecDense(len(theta[c]), noisy.Value()))
		next[c] = make([]float64, len(theta[c]))
		for j, w := range theta[c] {
			next[c][j] = w + move.AtVec(j)
		}
	}
	return next, nil
}

// linearScores returns the scores as linear models. Rows were shortened as a whole, including the constant, so
// shortening changes no sign and no order of scores, and the models omit it.
//
// The covariance is that of the noise in all steps added up, steps sigma^2 S S, with S the matrix of the steps.
// It is an upper bound in practice: where the loss is curved, a later step reverses part of the noise of
// earlier ones.
func linearScores(
	f *linear.ClassFrame,
	theta [][]float64,
	inverse *mat.SymDense,
	sigma float64,
) []regression.Model {
	cov := mat.NewSymDense(inverse.SymmetricDim(), nil)
	cov.ScaleSym(steps*sigma*sigma, linear.Square(inverse))
	out := make([]regression.Model, len(theta))
	for c := range out {
		m := f.Linear(theta[c], cov, linear.Kappa)
		out[c] = &m
	}
	return out
}
