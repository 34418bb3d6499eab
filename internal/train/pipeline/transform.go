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

// A transform of the target is a rule that is public, total, and about one record alone. So two tables that
// are neighbours are neighbours again after it, and whatever is released of the transformed table has the
// sensitivity that it has of any table: ranges, models and metrics know nothing of it. One release comes
// after the model, the size of its errors on the training part, which the way back to the units of
// the target needs (docs/proofs/transform.md, "Algorithm"). The plan then is
//
//	train (seq): vocabulary, if words are found first
//	             train: what stages.go shows, or a search
//	             way-back: errors
//	holdout (seq): r2, r2-transformed

// The names of the nodes.
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
	// errorWeight is that of the sums that are large anyhow.
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

// rule returns what happens to the target.
func (p *Pipeline) rule() rescale.Rule {
	c := p.Schema.Columns[p.Schema.Index(p.Target)]
	return rescale.Rule{Transform: p.Transform, Ranged: c.Ranged, Lower: c.Lower}
}

// transformed returns the target as what follows sees it: the ends of its range are public, and go through
// the rule as cells do.
func (p *Pipeline) transformed(c dataset.Column) dataset.Column {
	if p.Transform == rescale.None {
		return c
	}
	rule := p.rule()
	if c.Ranged {
		c.Lower, c.Upper = rule.Of(c.Lower), rule.Of(c.Upper)
	}
	if c.HasMissing {
		c.Missing = rule.Of(c.Missing)
	}
	return c
}

// transformedTable returns a table with the transformed target.
func (p *Pipeline) transformedTable(t *dataset.Table) *dataset.Table {
	if p.Transform == rescale.None {
		return t
	}
	j := p.Schema.Index(p.Target)
	return t.Mapped(j, p.transformed(p.Schema.Columns[j]), p.rule().Of)
}

// OfTransformed returns the run on a table whose target is transformed already.
func (p *Pipeline) OfTransformed() *Pipeline {
	if p.Transform == rescale.None {
		return p
	}
	out := p.clone()
	j := out.Schema.Index(p.Target)
	out.Schema.Columns[j], out.Transform = p.transformed(p.Schema.Columns[j]), rescale.None
	return out
}

// transform checks the transform of the target.
func (r *rules) transform() {
	if r.Transform == rescale.None {
		return
	}
	var c dataset.Column
	if j := r.Schema.Index(r.Target); j >= 0 {
		c = r.Schema.Columns[j]
	}
	wrong := func(hint, format string, args ...any) {
		r.wrong(ErrTransform, fault.Child(fault.Child("data.columns", r.Target), "transform"), hint, format, args...)
	}
	switch {
	case r.Transform != rescale.Log && r.Transform != rescale.Sqrt:
		wrong("it is log, sqrt or none", "%v: %q is no transform", ErrTransform, r.Transform)
	case r.classification():
		wrong("remove it", "a transform is for a target of numbers, and this one has classes")
	case c.Ranged && r.Transform == rescale.Log && !(c.Lower > 0):
		wrong("numbers below the lower end count as it", "the logarithm of the target needs a lower end above 0, not %v", c.Lower)
	case c.Ranged && r.Transform == rescale.Sqrt && !(c.Lower >= 0):
		wrong("numbers below the lower end count as it", "the root of the target needs a lower end of at least 0, not %v", c.Lower)
	case r.Budget.Delta == 0 && r.Budget.Epsilon > 0:
		wrong("give a delta, such as 1e-6", "a transform of the target needs a delta: the size of the errors is released with Gaussian noise")
	}
}

// wayBackStage is the release that the way back needs.
func wayBackStage(share float64) budget.Node {
	return budget.Seq(wayBackNode, budget.GaussianLeaf(errorsLeaf, share, 1).Of(mechanism.StatSums)).As(budget.Stage)
}

// withTransformed is the held-out metric of a transformed target: in its own units, and in transformed ones.
func withTransformed(metric budget.Node) []budget.Node {
	again := metric.Scaled(transformedShare)
	again.Name = transformedNode
	return []budget.Node{metric.Scaled(1 - transformedShare), again}
}

// errorStatistic adds up, over the records with a target, with p what a released model predicts, u = (p-Center)/Half within
// [-1, 1] and e the difference of the target to p, in units of Limit and within [-1, 1]:
//
//	w, w u, w u², w e, u e, e²     with w = errorWeight
//
// of which the line is made that fits the targets best, and the variance around it.
type errorStatistic struct {
	Model               predictor
	Center, Half, Limit float64
}

// New implements [mechanism.Statistic].
//
// What a record adds is of that record and of released numbers alone, and nothing if it has no target. Add or remove one: at
// most the root of 4 w² + 2 = sqrt(3), attained by |u| = |e| = 1. Substitution: u and e move by 2 and so does u e; the count,
// u² and e² by as much as they can be large: at most the root of (1 + 4 + 1 + 4) w² + 4 + 1 = sqrt(7.5). The
// intervals say so to [mechanism.Sums].
func (x errorStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	const w = errorWeight
	return &errorPass{x: x, sums: m.NewSums([]float64{0, -w, 0, -w, -1, 0}, []float64{w, w, w, w, 1, 1})}
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
		e := min(max((min(max(z, p.x.Center-p.x.Half), p.x.Center+p.x.Half)-p.predicted[i])/p.x.Limit, -1), 1)
		add := [6]float64{errorWeight, errorWeight * u, errorWeight * u * u, errorWeight * e, u * e, e * e}
		if z-z != 0 || u != u || e != e { // no number: the record has no target
			add = [6]float64{}
		}
		for k, x := range add {
			values[k][i] = x
		}
	}
	p.sums.Add(values)
}

func (p *errorPass) Cells() mechanism.Cells { return p.sums.Cells() }

// wayBack releases what the way back of a model needs, on the training part. s is the session of the whole training part.
func (r *runner) wayBack(ctx context.Context, s *mechanism.Session, v mechanism.Records, f *method.Fit) (*rescale.Back, error) {
	defer r.stage(wayBackNode)()
	s = s.Sub(wayBackNode)
	m := f.Linear()
	x := errorStatistic{newPredictor(f.Model, r.facts.Columns), m.Lower/2 + m.Upper/2, max(m.Upper/2-m.Lower/2, narrowest), errorLimit(r.pipeline.Transform, m)}
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
	return &rescale.Back{
		Transform: t, Slope: min(max(1+bend, 0), rescale.MostSlope), Intercept: x.Limit*intercept - bend*x.Center,
		Variance: variance * x.Limit * x.Limit, Lower: t.Inverse(m.Lower), Upper: t.Inverse(m.Upper),
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

// errorLine reads the line e = intercept + slope u that fits best, and the mean square around it, in [0, 1], from released
// sums with noise sigma in each. Noise is kept from leading: the diagonal of the normal equations grows by errorRidge standard
// deviations of its noise, and the mean square v is multiplied by v²/(v² + d²), d the standard deviation of its noise. All
// three are 0 where the count is not told from 0.
func errorLine(a []float64, sigma float64) (intercept, slope, variance float64) {
	if !(a[0] > 2*sigma) {
		return 0, 0, 0
	}
	const w = errorWeight
	n, ridge := a[0]/w, errorRidge*sigma/w
	u, e := a[1]/w, a[3]/w
	p, q := n+ridge, max(a[2]/w, u*u/n)+ridge
	det := float64(p*q) - float64(u*u)
	intercept, slope = (float64(q*e)-float64(u*a[4]))/det, (float64(p*a[4])-float64(u*e))/det
	v := min(max((a[5]-float64(intercept*e)-float64(slope*a[4]))/n, 0), 1)
	d := sigma / n
	if v > 0 {
		variance = v * v * v / (v*v + d*d)
	}
	return intercept, slope, variance
}

// evaluateTransformed releases R² of the transformed target. The model has the line of its way back alone.
func (r *runner) evaluateTransformed(ctx context.Context, s *mechanism.Session, f *method.Fit) (*evaluate.R2, error) {
	defer r.stage(heldOutStage)()
	return r.r2(ctx, s.Sub(transformedNode), r.held, f)
}
