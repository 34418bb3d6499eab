package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// A transform of the target is a public, total rule that depends on one record only. So neighbouring tables
// remain neighbouring, and releases of the transformed table have the usual sensitivity: ranges, models and
// metrics need no change. One release follows the model, the size of its errors on the training part, which is
// needed to convert predictions back to the units of the target (docs/proofs/transform.md, "Algorithm"). The
// plan is
//
//	train (seq): vocabulary, if words are found first
//	             train: the stages of stages.go, or a search
//	             way-back: errors
//	holdout (seq): r2, r2-transformed

// Node names.
const (
	wayBackNode     = "way-back"
	errorsLeaf      = "errors"
	transformedNode = "r2-transformed"
)

// The settings. They are public constants; docs/proofs/transform.md, "How the settings were chosen".
const (
	// DefaultTransformShare is the share of mu^2 of the training part that the errors take.
	DefaultTransformShare = .03
	// transformedShare is the share of mu^2 of the held-out part that R² of the transformed target takes.
	transformedShare = .25
	// errorWeight is the weight of the sums that are large in any case.
	errorWeight = .5
	errorRidge  = 1
	// errorReach is where errors are cut, in half widths of the range of the transformed target.
	errorReach = .75
)

// mostLogError is where errors of logarithms are cut: at a factor of four.
var mostLogError = math.Log(4)

// TransformFact names the transform among the facts that are not protected.
const TransformFact = "transform of the target"

// ErrTransform is returned for a transform of a target that cannot have it.
var ErrTransform = errors.New("the target cannot be transformed so")

// targetRule returns the transform of the target.
func (p *Pipeline) targetRule() rescale.Rule {
	c := p.Schema.Columns[p.Schema.Index(p.Target)]
	return rescale.Rule{Transform: p.Transform, Ranged: c.Ranged, Lower: c.Lower}
}

// transformedTarget returns the target as later stages see it: the bounds of its range are public, and are
// transformed like cells.
func (p *Pipeline) transformedTarget(c dataset.Column) dataset.Column {
	if p.Transform == rescale.None {
		return c
	}
	rule := p.targetRule()
	if c.Ranged {
		c.Lower, c.Upper = rule.Apply(c.Lower), rule.Apply(c.Upper)
	}
	if c.HasMissing {
		c.Missing = rule.Apply(c.Missing)
	}
	return c
}

// transformedTable returns a table with the transformed target.
func (p *Pipeline) transformedTable(t *dataset.Table) *dataset.Table {
	if p.Transform == rescale.None {
		return t
	}
	j := p.Schema.Index(p.Target)
	return t.Mapped(j, p.transformedTarget(p.Schema.Columns[j]), p.targetRule().Apply)
}

// OfTransformed returns the run on a table whose target is transformed already.
func (p *Pipeline) OfTransformed() *Pipeline {
	if p.Transform == rescale.None {
		return p
	}
	out := p.clone()
	j := out.Schema.Index(p.Target)
	out.Schema.Columns[j] = p.transformedTarget(p.Schema.Columns[j])
	out.Transform = rescale.None
	return out
}

// checkTransform checks the transform of the target.
func (r *rules) checkTransform() {
	if r.Transform == rescale.None {
		return
	}
	var c dataset.Column
	if j := r.Schema.Index(r.Target); j >= 0 {
		c = r.Schema.Columns[j]
	}
	wrong := func(hint, format string, args ...any) {
		r.addProblem(
			ErrTransform,
			fault.Child(fault.Child("data.columns", r.Target), "transform"),
			hint,
			format,
			args...,
		)
	}
	switch {
	case r.Transform != rescale.Log && r.Transform != rescale.Sqrt:
		wrong("it is log, sqrt or none", "%v: unknown transform %q", ErrTransform, r.Transform)
	case r.isClassification():
		wrong("remove it", "a transform needs a numeric target, but this one has classes")
	case c.Ranged && r.Transform == rescale.Log && !(c.Lower > 0):
		wrong(
			"numbers below the lower end are set to it",
			"the logarithm of the target needs a lower end above 0, not %v",
			c.Lower,
		)
	case c.Ranged && r.Transform == rescale.Sqrt && !(c.Lower >= 0):
		wrong(
			"numbers below the lower end are set to it",
			"the root of the target needs a lower end of at least 0, not %v",
			c.Lower,
		)
	case r.Budget.Delta == 0 && r.Budget.Epsilon > 0:
		wrong(
			"give a delta, such as 1e-6",
			"a transform of the target needs a delta: the size of the errors is released with Gaussian noise",
		)
	}
}

// wayBackStage is the release that the way back needs.
func wayBackStage(share float64) budget.Node {
	return budget.Sequence(wayBackNode,
		budget.GaussianLeaf(errorsLeaf, share, 1).WithStatistic(mechanism.StatSums)).
		WithRole(budget.RoleStage)
}

// withTransformed is the held-out metric of a transformed target: in its own units, and in transformed ones, which is not by
// group.
func withTransformed(metric budget.Node) []budget.Node {
	again := evaluate.Regression{}.Plan().Scaled(transformedShare)
	again.Name = transformedNode
	return []budget.Node{metric.Scaled(1 - transformedShare), again}
}

// errorStatistic adds up, over the records with a target, with p the prediction of a released model, u =
// (p-Center)/Half limited to [-1, 1] and e the difference between target and p, in units of Limit and limited
// to [-1, 1]:
//
//	w, w u, w u², w e, u e, e²     with w = errorWeight
//
// These sums determine the line that fits the targets best, and the variance around it.
type errorStatistic struct {
	Model               method.Predictor
	Center, Half, Limit float64
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

// wayBack releases the statistics for converting predictions back, on the training part. s is the session of
// the whole training part.
func (r *runner) wayBack(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	f *method.Fit,
) (*regression.BackTransform, error) {
	defer r.startStage(wayBackNode)()
	s = s.Sub(wayBackNode)
	m := f.Linear()
	x := errorStatistic{method.NewPredictor(f.Model, r.facts.Columns), m.Lower/2 + m.Upper/2,
		max(m.Upper/2-m.Lower/2, narrowest), errorLimit(r.pipeline.Transform, m)}
	pass, err := mechanism.Sum[*errorPass](ctx, s, v, x)
	if err != nil {
		return nil, fmt.Errorf("way back: %w", err)
	}
	released, err := mechanism.Gaussian(s, errorsLeaf, pass.sums.Bound())
	if err != nil {
		return nil, fmt.Errorf("way back: %w", err)
	}
	intercept, slope, variance := errorLine(released.Value(), s.Scale(errorsLeaf))
	bend := x.Limit / x.Half * slope
	t := r.pipeline.Transform
	return &regression.BackTransform{
		Transform: string(t),
		Slope:     min(max(1+bend, 0), rescale.MostSlope),
		Intercept: x.Limit*intercept - bend*x.Center,
		Variance:  variance * x.Limit * x.Limit,
		Lower:     t.Inverse(m.Lower),
		Upper:     t.Inverse(m.Upper),
	}, nil
}

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
func errorLine(a []float64, sigma float64) (intercept, slope, variance float64) {
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

// onlyLine returns the part of a conversion that stays in the units of the transformed target: the line.
func onlyLine(back *regression.BackTransform, m *regression.Linear) *regression.BackTransform {
	return &regression.BackTransform{
		Intercept: back.Intercept,
		Slope:     back.Slope,
		Lower:     m.Lower,
		Upper:     m.Upper,
	}
}

// evaluateTransformed releases R² of the transformed target. For it the model keeps only the line of the
// conversion.
func (r *runner) evaluateTransformed(
	ctx context.Context, s *mechanism.Session, f *method.Fit,
) (*evaluate.R2, error) {
	defer r.startStage(heldOutStage)()
	return r.r2(ctx, s.Sub(transformedNode), r.held, f, evaluate.Groups{})
}
