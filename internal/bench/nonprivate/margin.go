package nonprivate

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/columns"
	"github.com/dptrain/dptrain/regression"
)

// ClassDesign is a table to fit a classifier on: dense numeric columns, all of the
// length of Labels. Cells are treated as in a [regression.Design]. A label is an index into
// Classes; a row with any other is left out. The slices are read only.
type ClassDesign struct {
	Names   []string // column names, all different
	X       [][]float64
	Target  string
	Classes []string // at least two, different
	Labels  []int32
}

// MarginOptions adjusts [Logistic] and [LinearSVM].
type MarginOptions struct {
	// Lambda > 0 is the penalty, in the units of a squared column; scikit-learn's
	// C is 1/Lambda.
	Lambda float64
	// Standardize divides each column by its standard deviation for the penalty,
	// so that units do not matter. Coefficients stay in original units.
	Standardize bool
}

// ErrClasses is returned for a design with fewer than two classes.
var ErrClasses = errors.New("a classifier needs at least two classes")

// Logistic fits logistic regression with an intercept, without privacy: it
// minimises
//
//	sum_i log(1 + exp(-y_i (x_i.w + b))) + Lambda/2 |w|^2
//
// as scikit-learn's LogisticRegression does with C = 1/Lambda, by Newton's method.
// The intercept is not penalised (but for 1e-9 of a row, so that a table with one
// class has a solution). More than two classes have one model each, against the
// rest. It stops when rounding prevents further progress, or after 200 steps, which
// no tested table has needed.
//
// Errors: [ErrShape], [ErrClasses], [ErrLambda], a [*regression.ModelError] for names, or
// that of ctx.
func Logistic(
	ctx context.Context,
	d ClassDesign,
	opts MarginOptions,
) (*regression.Classifier, error) {
	return d.fitMargin(ctx, opts, logisticLoss)
}

// LinearSVM fits a support vector machine with the huberised hinge loss, the one
// that package svm trains with privacy (0 from margin 3/2 on, a parabola between
// 1/2 and 3/2, of slope -1 below), and is like [Logistic] otherwise.
// (O. Chapelle, "Training a support vector machine in the primal", Neural
// Computation 19, 2007)
func LinearSVM(
	ctx context.Context,
	d ClassDesign,
	opts MarginOptions,
) (*regression.Classifier, error) {
	return d.fitMargin(ctx, opts, hingeLoss)
}

// marginLoss returns the value of a loss at margin m and its two derivatives.
type marginLoss func(m float64) (value, slope, curve float64)

func logisticLoss(m float64) (value, slope, curve float64) {
	e := math.Exp(-math.Abs(m))
	value, p := math.Log1p(e), 1/(1+e) // p: probability of the side m is on
	if m < 0 {
		return value - m, -p, p * (1 - p)
	}
	return value, -(1 - p), p * (1 - p)
}

func hingeLoss(m float64) (value, slope, curve float64) {
	switch {
	case m >= 1.5:
		return 0, 0, 0
	case m <= .5:
		return 1 - m, -1, 0
	}
	return (1.5 - m) * (1.5 - m) / 2, m - 1.5, 1
}

func (d ClassDesign) fitMargin(
	ctx context.Context,
	opts MarginOptions,
	loss marginLoss,
) (*regression.Classifier, error) {
	switch {
	case len(d.Classes) < 2:
		return nil, ErrClasses
	case !(opts.Lambda > 0) || math.IsInf(opts.Lambda, 0):
		return nil, ErrLambda
	case len(d.Names) != len(d.X) || columns.Check(d.X, len(d.Labels)) != nil:
		return nil, ErrShape
	}
	p := newMarginProblem(d, opts)
	m := &regression.Classifier{
		Target:  d.Target,
		Classes: d.Classes,
	}
	for c := range d.Classes {
		positive := int32(c)
		if len(d.Classes) == 2 && positive == 0 {
			continue // two classes have one score, that of the second
		}
		w, b, err := p.solve(ctx, loss, d.classSigns(positive))
		if err != nil {
			return nil, err
		}
		score := &regression.Linear{
			Target:    d.Target,
			Columns:   make([]regression.Column, len(d.X)),
			Intercept: b,
			Lower:     -regression.Unbounded,
			Upper:     regression.Unbounded,
		}
		for j, x := range p.x {
			score.Columns[j] = regression.Column{
				Name:    d.Names[j],
				Lower:   -regression.Unbounded,
				Upper:   regression.Unbounded,
				Missing: x.Mean,
			}
			score.Terms = append(score.Terms, regression.Term{
				Column:      j,
				Coefficient: w[j],
			})
		}
		if err := score.Validate(); err != nil {
			return nil, err
		}
		m.Scores = append(m.Scores, score)
	}
	return m, nil
}

// classSigns returns +1 for a class, -1 for the others and 0 for rows in no class.
func (d ClassDesign) classSigns(positive int32) []float64 {
	out := make([]float64, len(d.Labels))
	for i, k := range d.Labels {
		switch {
		case k < 0 || int(k) >= len(d.Classes):
		case k == positive:
			out[i] = 1
		default:
			out[i] = -1
		}
	}
	return out
}

// marginProblem holds centred columns in units of their standard deviations, row
// by row, the constant 1 last, and the penalty of each weight.
type marginProblem struct {
	x       []columns.Column
	scale   []float64 // 1 / standard deviation; 0 for a constant column
	rows    *mat.Dense
	penalty []float64
}

func newMarginProblem(d ClassDesign, opts MarginOptions) *marginProblem {
	n := len(d.Labels)
	k := len(d.X)
	p := &marginProblem{
		x:       columns.CleanAll(d.X),
		scale:   make([]float64, k),
		penalty: make([]float64, k+1),
	}
	if n > 0 {
		p.rows = mat.NewDense(n, k+1, nil)
	}
	for j, x := range p.x {
		p.penalty[j] = opts.Lambda
		if x.Spread == 0 {
			continue
		}
		sum := 0.
		for _, v := range x.Values {
			z := (v - x.Mean) / x.Spread
			sum += z * z
		}
		sd := x.Spread * math.Sqrt(sum/float64(n))
		p.scale[j] = 1 / sd
		if !opts.Standardize {
			p.penalty[j] /= sd * sd
		}
		for i, v := range x.Values {
			p.rows.Set(i, j, (v-x.Mean)*p.scale[j])
		}
	}
	const onIntercept = 1e-9
	p.penalty[k] = onIntercept
	for i := range n {
		p.rows.Set(i, k, 1)
	}
	return p
}

// solve returns the weights and the intercept in original units.
func (p *marginProblem) solve(
	ctx context.Context,
	loss marginLoss,
	signs []float64,
) ([]float64, float64, error) {
	k := len(p.x)
	theta := mat.NewVecDense(k+1, nil)
	if p.rows != nil {
		if err := p.minimizeNewton(ctx, loss, signs, theta); err != nil {
			return nil, 0, err
		}
	}
	w := make([]float64, k)
	b := theta.AtVec(k)
	for j, x := range p.x {
		w[j] = theta.AtVec(j) * p.scale[j]
		b -= w[j] * x.Mean
	}
	return w, b, nil
}

// minimizeNewton minimises by Newton's method from theta on: a full step if it halves the smallest gradient so far,
// otherwise the minimum along the step.
func (p *marginProblem) minimizeNewton(
	ctx context.Context,
	loss marginLoss,
	signs []float64,
	theta *mat.VecDense,
) error {
	const steps = 200
	d := theta.Len()
	at := p.derivatives(loss, signs, theta)
	best := mat.Norm(at.gradient, 2)
	for range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		var factor mat.Cholesky
		step := mat.NewVecDense(d, nil)
		if !factor.Factorize(at.hessian) {
			return nil // only for a penalty that is negligible in float64
		}
		var condition mat.Condition
		if err := factor.SolveVecTo(step, at.gradient); err != nil && !errors.As(err, &condition) {
			return nil
		}
		step.ScaleVec(-1, step)
		if !(-mat.Dot(step, at.gradient) > 1e-28*(1+at.value)) { // a gain that rounding hides
			return nil
		}
		next := mat.NewVecDense(d, nil)
		next.AddVec(theta, step)
		after := p.derivatives(loss, signs, next)
		if mat.Norm(after.gradient, 2) > best/2 {
			t := p.lineSearch(loss, signs, theta, step, at)
			if t == 0 {
				return nil
			}
			next.AddScaledVec(theta, t, step)
			after = p.derivatives(loss, signs, next)
		}
		theta.CopyVec(next)
		at, best = after, min(best, mat.Norm(after.gradient, 2))
	}
	return nil
}

// lineSearch returns how far along a descent direction the objective falls, at most
// 1 and to one part in 2^50: its slope along a line increases, so bisection finds
// where the slope changes its sign.
func (p *marginProblem) lineSearch(
	loss marginLoss,
	signs []float64,
	theta, step *mat.VecDense,
	at *marginPoint,
) float64 {
	var changes mat.VecDense
	changes.MulVec(p.rows, step)
	slopeAt := func(t float64) float64 {
		sum := 0.
		for i, y := range signs {
			if y != 0 {
				_, s, _ := loss(y * (at.margins.AtVec(i) + t*changes.AtVec(i)))
				sum += y * s * changes.AtVec(i)
			}
		}
		for j, l := range p.penalty {
			sum += l * (theta.AtVec(j) + t*step.AtVec(j)) * step.AtVec(j)
		}
		return sum
	}
	if slopeAt(1) <= 0 {
		return 1
	}
	low, high := 0., 1.
	for low < high*(1-0x1p-50) && high > 0x1p-200 {
		middle := (low + high) / 2
		if slopeAt(middle) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// marginPoint is the objective at a point, with the values for the next step.
type marginPoint struct {
	value    float64
	margins  mat.VecDense // without signs
	gradient *mat.VecDense
	hessian  *mat.SymDense
}

// derivatives returns the objective with its gradient and Hessian. The Hessian is
// summed over blocks of rows.
func (p *marginProblem) derivatives(
	loss marginLoss,
	signs []float64,
	theta *mat.VecDense,
) *marginPoint {
	n, d := p.rows.Dims()
	out := &marginPoint{
		gradient: mat.NewVecDense(d, nil),
		hessian:  mat.NewSymDense(d, nil),
	}
	out.margins.MulVec(p.rows, theta)
	slopes := mat.NewVecDense(n, nil)
	const blockRows = 512
	weighted := mat.NewDense(blockRows, d, nil)
	for first := 0; first < n; first += blockRows {
		weighted.Zero()
		for i := first; i < min(first+blockRows, n); i++ {
			y := signs[i]
			if y == 0 {
				continue
			}
			v, s, c := loss(y * out.margins.AtVec(i))
			out.value += v
			slopes.SetVec(i, y*s)
			if root := math.Sqrt(c); root > 0 {
				row := weighted.RawRowView(i - first)
				for j, x := range p.rows.RawRowView(i) {
					row[j] = root * x
				}
			}
		}
		out.hessian.SymRankK(out.hessian, 1, weighted.T())
	}
	out.gradient.MulVec(p.rows.T(), slopes)
	for j, l := range p.penalty {
		t := theta.AtVec(j)
		out.value += l * t * t / 2
		out.gradient.SetVec(j, out.gradient.AtVec(j)+l*t)
		out.hessian.SetSym(j, j, out.hessian.At(j, j)+l)
	}
	return out
}
