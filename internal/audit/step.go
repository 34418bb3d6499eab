package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// ErrStatistic is returned for a statistic that is unknown, has no bound under the relation, or is released
// with another distribution.
var ErrStatistic = errors.New("the statistic is not released so")

// Step measures one step of a plan: all draws of a noise distribution, spent on a statistic through a session,
// on its worst pair of neighbours under the relation. Epsilon is measured at delta.
func Step(
	ctx context.Context,
	x WorstPair,
	law budget.Law,
	rel budget.Relation,
	delta float64,
	o Options,
) (Measure, error) {
	return step(ctx, x, law, rel, delta, o, mechanism.NewSession)
}

// step is Step with sessions that open makes.
func step(
	ctx context.Context, x WorstPair, law budget.Law, rel budget.Relation, delta float64, o Options, open func(*budget.Priced) (*mechanism.Session, error),
) (Measure, error) {
	o, err := o.filled()
	if err != nil {
		return Measure{}, err
	}
	rel, ok := x.RelationFor(rel)
	if !ok || x.Kind != law.Kind {
		return Measure{},
			fmt.Errorf("%w: %q as %v under %v", ErrStatistic, x.Statistic, law.Kind, rel)
	}
	priced, err := budget.Calibrate(budget.Sequence("audit", x.leaves("step", law)...),
		budget.Target{
			Epsilon:  1e6,
			Delta:    .9,
			Relation: rel,
		})
	if err != nil {
		return Measure{}, err
	}
	var sides [2]WorstRelease
	for side := range sides {
		s, err := open(priced.Again())
		if err != nil {
			return Measure{}, err
		}
		if sides[side], err = x.Prepare(ctx, s, law, side); err != nil {
			return Measure{}, err
		}
	}
	draws := law.Draws
	if x.Single {
		draws = 1
	}
	run := func(_ context.Context, side int) ([]float64, error) {
		s, err := open(priced.Again())
		if err != nil {
			return nil, err
		}
		var out []float64
		for i := range draws {
			values, err := sides[side](s, "step", i)
			if err != nil {
				return nil, err
			}
			out = append(out, values...)
		}
		return out, nil
	}
	runs := o.Draws
	if x.Slow {
		runs = max(runs/100, 100)
	}
	progress := o.Progress
	if progress == nil {
		progress = func(float64) {}
	}
	return measureTrials(ctx, []trial{run}, runs, 1-o.Confidence, delta, progress)
}
