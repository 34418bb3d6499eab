package transform

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/stage"
	"github.com/dptrain/dptrain/regression"
)

// AfterTraining releases the size of the errors on the training part, with which the model converts predictions back,
// and measures the model in transformed units.
func (x Stage) AfterTraining(
	ctx context.Context,
	run *stage.Run,
	train, held *mechanism.Session,
	fit *method.Fit,
) error {
	back, err := x.releaseErrors(ctx, run, train, fit)
	if err != nil {
		return fmt.Errorf("way back: %w", err)
	}
	m := fit.Linear()
	if x.Holdout > 0 {
		m.Back = onlyLine(back, m)
		if run.Findings.Transformed, err = evaluateTransformed(ctx, run, held, fit); err != nil {
			return fmt.Errorf("held-out metric: %w", err)
		}
	}
	m.Back = back
	return nil
}

// errorStatistic adds up, over the records with a target, with p the prediction of a released model, u =
// (p-Center)/Half limited to [-1, 1] and e the difference between target and p, in units of Limit and limited
// to [-1, 1]:
//
//	w, w u, w u², w e, u e, e²     with w = errorWeight
//
// These sums determine the line that fits the targets best, and the variance around it.
type errorStatistic struct {
	Model  method.Predictor
	Center float64
	Half   float64
	Limit  float64
}

// New implements [mechanism.Statistic].
//
// The contribution of a record depends only on that record and on released numbers, and is 0 if it has no
// target. Adding or removing one record: at most the root of 4 w² + 2 = sqrt(3), attained at |u| = |e| = 1.
// Substitution: u and e change by up to 2 and so does u e; the count, u² and e² by up to their maximum: at most
// the root of (1 + 4 + 1 + 4) w² + 4 + 1 = sqrt(7.5). The intervals passed to [mechanism.Sums] express this.
func (x errorStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	const w = errorWeight
	return &errorPass{
		x:    x,
		sums: m.NewSums([]float64{0, -w, 0, -w, -1, 0}, []float64{w, w, w, w, 1, 1}),
	}
}

type errorPass struct {
	x      errorStatistic
	sums   *mechanism.Sums
	target []float64
	values [6][]float64

	predicted []float64
}

func (p *errorPass) Add(b mechanism.Block) {
	n := b.Len()
	if cap(p.target) < n {
		p.target = make([]float64, n)
		for k := range p.values {
			p.values[k] = make([]float64, n)
		}
	}
	values := make([][]float64, len(p.values))
	for k := range values {
		values[k] = p.values[k][:n]
	}
	p.predicted = p.x.Model.Predict(b.Block, p.predicted)
	for i, z := range b.Float(len(p.x.Model.Features), p.target) {
		u := min(max((p.predicted[i]-p.x.Center)/p.x.Half, -1), 1)
		e := min(
			max((min(max(z, p.x.Center-p.x.Half), p.x.Center+p.x.Half)-p.predicted[i])/p.x.Limit,
				-1), 1)
		add := [6]float64{errorWeight, errorWeight * u, errorWeight * u * u, errorWeight * e, u * e,
			e * e}
		if z-z != 0 || u != u || e != e { // no number: the record has no target
			add = [6]float64{}
		}
		for k, x := range add {
			values[k][i] = x
		}
	}
	p.sums.Add(values)
}

func (p *errorPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// releaseErrors releases the statistics for converting predictions back, on the training part. s is the session of
// the whole training part.
func (x Stage) releaseErrors(
	ctx context.Context,
	run *stage.Run,
	s *mechanism.Session,
	fit *method.Fit,
) (*regression.BackTransform, error) {
	defer run.Start(Node)()
	s = s.Sub(Node)
	m := fit.Linear()
	errors := errorStatistic{
		Model:  method.NewPredictor(fit.Model, run.Facts.Columns),
		Center: m.Lower/2 + m.Upper/2,
		Half:   max(m.Upper/2-m.Lower/2, narrowest),
		Limit:  errorLimit(x.Transform, m),
	}
	pass, err := mechanism.Sum[*errorPass](ctx, s, run.Training, errors)
	if err != nil {
		return nil, err
	}
	released, err := mechanism.Gaussian(s, errorsLeaf, pass.sums.Bound())
	if err != nil {
		return nil, err
	}
	intercept, slope, variance := errorLine(released.Value(), s.Scale(errorsLeaf))
	bend := errors.Limit / errors.Half * slope
	return &regression.BackTransform{
		Transform: string(x.Transform),
		Slope:     min(max(1+bend, 0), rescale.MostSlope),
		Intercept: errors.Limit*intercept - bend*errors.Center,
		Variance:  variance * errors.Limit * errors.Limit,
		Lower:     x.Transform.Inverse(m.Lower),
		Upper:     x.Transform.Inverse(m.Upper),
	}, nil
}

// onlyLine returns the part of a conversion that stays in the units of the transformed target: the line.
func onlyLine(
	back *regression.BackTransform,
	m *regression.Linear,
) *regression.BackTransform {
	return &regression.BackTransform{
		Intercept: back.Intercept,
		Slope:     back.Slope,
		Lower:     m.Lower,
		Upper:     m.Upper,
	}
}

// narrowest is the smallest half width of a range.
const narrowest = 0x1p-1000

// errorLimit returns where errors are cut.
func errorLimit(t rescale.Transform, m *regression.Linear) float64 {
	limit := errorReach * (m.Upper/2 - m.Lower/2)
	if t == rescale.Log {
		limit = min(limit, mostLogError)
	}
	return max(limit, math.SmallestNonzeroFloat64)
}

// errorLine computes the line e = intercept + slope u that fits best, and the mean square around it, in [0, 1],
// from released sums with noise sigma in each. To limit the effect of noise, the diagonal of the normal
// equations grows by errorRidge standard deviations of its noise, and the mean square v is multiplied by v²/(v²
// + d²), d the standard deviation of its noise. All three are 0 if the count is not significantly above 0.
func errorLine(
	a []float64,
	sigma float64,
) (intercept, slope, variance float64) {
	if !(a[0] > 2*sigma) {
		return 0, 0, 0
	}
	const w = errorWeight
	n := a[0] / w
	ridge := errorRidge * sigma / w
	u := a[1] / w
	e := a[3] / w
	p := n + ridge
	q := max(a[2]/w, u*u/n) + ridge
	det := float64(p*q) - float64(u*u)
	intercept = (float64(q*e) - float64(u*a[4])) / det
	slope = (float64(p*a[4]) - float64(u*e)) / det
	v := min(max((a[5]-float64(intercept*e)-float64(slope*a[4]))/n, 0), 1)
	d := sigma / n
	if v > 0 {
		variance = v * v * v / (v*v + d*d)
	}
	return intercept, slope, variance
}

// evaluateTransformed releases R² of the transformed target. For it the model keeps only the line of the
// conversion.
func evaluateTransformed(
	ctx context.Context,
	run *stage.Run,
	held *mechanism.Session,
	fit *method.Fit,
) (*evaluate.R2, error) {
	defer run.Start(stage.HeldOut)()
	r2, err := evaluate.Regression{}.Run(
		ctx,
		held.Sub(transformedNode),
		run.PairsOf(run.Held, fit),
	)
	if err != nil {
		return nil, err
	}
	return &r2, nil
}
