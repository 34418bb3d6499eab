package audit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/causal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// A Verdict is the result of an audit of a pipeline. It certifies no guarantee: a measure below the claim means
// that no violation was found.
type Verdict struct {
	// Claim is the guarantee of the plan.
	Claim budget.Guarantee
	// Leaves has the steps of the plan in its order, each measured by itself.
	Leaves []Leaf
	// Whole is the measure of the whole run: its published results on pairs of neighbouring tables, with
	// epsilon at the claimed delta.
	Whole Measure
	// Pairs names the tables that were tried for Whole.
	Pairs []string
	// Confidence is the joint confidence of all measures.
	Confidence float64
}

// A Leaf is a step of a plan.
type Leaf struct {
	Path string
	Law  budget.Law
	// Statistic is the name of the released statistic.
	Statistic string
	// Epsilon and Mu are the cost of all draws at the delta of the run; Mu is 0 for noise that is not Gaussian.
	Epsilon, Mu float64
	Measure     Measure
}

// Measured returns the lower bound on the leaf's epsilon: for Gaussian noise, whose curve is known, that of the
// curve with the measured mu, if it is larger.
func (l Leaf) Measured() float64 {
	if l.Law.Kind != budget.Gaussian || l.Measure.Mu == 0 {
		return l.Measure.Epsilon
	}
	return max(l.Measure.Epsilon, budget.GaussianEpsilon(l.Measure.Mu, l.Measure.Delta))
}

// Violation reports whether more was measured than is claimed.
func (l Leaf) Violation() bool {
	return l.Measure.Epsilon > l.Epsilon || l.Law.Kind == budget.Gaussian && l.Measure.Mu > l.Mu
}

// Violations lists the measures above their claims: paths of leaves, and "run" for the whole. With the stated
// confidence it is empty for a correct implementation.
func (v Verdict) Violations() []string {
	var out []string
	for _, l := range v.Leaves {
		if l.Violation() {
			out = append(out, l.Path)
		}
	}
	if v.Whole.Epsilon > v.Claim.Epsilon || v.Whole.Mu > v.Claim.Mu {
		out = append(out, "run")
	}
	return out
}

// Pipeline audits a pipeline: each step of its plan by [Step], on the statistic that the step names, and the
// whole run on the tables of [Pairs], by all of its published results. It reads no table. The confidence of o
// is that of the whole verdict: each of k measures is wrong with probability at most (1-confidence)/k.
func Pipeline(
	ctx context.Context,
	p *pipeline.Pipeline,
	o Options,
) (Verdict, error) {
	o, err := o.filled()
	if err != nil {
		return Verdict{}, err
	}
	plan, err := p.Plan()
	if err != nil {
		return Verdict{}, err
	}
	pairs, err := Pairs(p)
	if err != nil {
		return Verdict{}, err
	}
	return verdict(ctx, plan.Priced, pairs, fitPublisher(p.FitPlan, plan), o)
}

// Study audits a study of causal directions as [Pipeline] does a run that trains a model.
func Study(ctx context.Context, s causal.Study, o Options) (Verdict, error) {
	o, err := o.filled()
	if err != nil {
		return Verdict{}, err
	}
	plan, err := s.Plan()
	if err != nil {
		return Verdict{}, err
	}
	// Pairs of a run with the same columns and no target.
	pairs, err := Pairs(&pipeline.Pipeline{
		Schema: s.Schema,
		Budget: s.Budget,
	})
	if err != nil {
		return Verdict{}, err
	}
	return verdict(ctx, plan.Priced, pairs,
		func(ctx context.Context, t *dataset.Table) (map[string]float64, error) {
			res, err := plan.Again().Run(ctx, t)
			if err != nil {
				return nil, err
			}
			return releasedStudy(res)
		}, o)
}

// verdict audits a plan step by step, and as a whole on pairs of tables.
func verdict(
	ctx context.Context,
	plan *budget.Priced,
	pairs []Pair,
	published publisher,
	o Options,
) (Verdict, error) {
	leaves := plan.Leaves()
	out := Verdict{
		Claim:      plan.Guarantee(),
		Confidence: o.Confidence,
	}
	each := o
	each.Confidence = 1 - (1-o.Confidence)/float64(len(leaves)+1)
	progress := o.Progress
	if progress == nil {
		progress = func(float64) {}
	}
	// Whole runs take about as long as all steps.
	done := map[string]Measure{}
	for i, l := range leaves {
		each.Progress = func(d float64) {
			progress((float64(i) + d) / float64(2*len(leaves)))
		}
		leaf, err := auditLeaf(ctx, l, plan.Target(), each, done)
		if err != nil {
			return out, err
		}
		out.Leaves = append(out.Leaves, leaf)
	}
	each.Progress = func(d float64) {
		progress(.5 + d/2)
	}
	var made []sides
	for _, pair := range pairs {
		made = append(made, sides{pair.Name, func(side int) (*dataset.Table, error) {
			return pair.Tables[side], nil
		}})
	}
	var err error
	out.Whole, out.Pairs, err = measureWhole(ctx, plan.Target().Delta, made, published, each)
	return out, err
}

// auditLeaf measures a leaf, or reuses the measure of one with the same noise and statistic from done.
func auditLeaf(
	ctx context.Context,
	l budget.PricedLeaf,
	target budget.Target,
	o Options,
	done map[string]Measure,
) (Leaf, error) {
	out := Leaf{Path: l.Path, Law: l.Law}
	curve, err := budget.Compose(l.Law)
	if err != nil {
		return out, err
	}
	out.Epsilon = curve.Epsilon(target.Delta)
	if l.Law.Kind == budget.Gaussian {
		out.Mu = l.Law.Mu * math.Sqrt(float64(l.Law.Draws))
	}
	x, err := statisticOf(l, target.Relation)
	if err != nil {
		return out, err
	}
	out.Statistic = string(x.Statistic)
	key := fmt.Sprintf("%s %+v", x.Statistic, l.Law)
	m, ok := done[key]
	if !ok {
		if m, err = Step(ctx, x, l.Law, target.Relation, target.Delta, o); err != nil {
			return out, err
		}
		done[key] = m
	}
	out.Measure = m
	return out, nil
}

// statisticOf returns the worst pair of the statistic that a leaf names. Its error is
// [ErrStatistic].
func statisticOf(l budget.PricedLeaf, rel budget.Relation) (WorstPair, error) {
	x, ok := WorstPairOf(l.Statistic)
	if ok {
		_, ok = x.RelationFor(rel)
	}
	if !ok || x.Kind != l.Law.Kind {
		return x,
			fmt.Errorf("%w: %q of %s as %v under %v", ErrStatistic, l.Statistic, l.Path, l.Law.Kind,
				rel)
	}
	return x, nil
}

func sortedTrue(set map[string]bool) []string {
	var out []string
	for k, v := range set {
		if v {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}
