package audit

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// pilot is the number of runs on a side that determine which published numbers vary.
const pilot = 24

// sides is a pair of neighbouring tables. table is called from several goroutines at
// once.
type sides struct {
	name  string
	table func(side int) (*dataset.Table, error)
}

// fit executes a plan: [pipeline.Pipeline.FitPlan], except in tests that plant faults.
type fit func(
	ctx context.Context, plan *pipeline.Plan, t *dataset.Table, o pipeline.Options,
) (*pipeline.Result, error)

// publisher executes a run on a table and returns its published results as named numbers.
type publisher func(ctx context.Context, t *dataset.Table) (map[string]float64, error)

// fitPublisher returns a publisher that executes a plan with fit.
func fitPublisher(fit fit, plan *pipeline.Plan) publisher {
	return func(ctx context.Context, t *dataset.Table) (map[string]float64, error) {
		res, err := fit(ctx, plan.Again(), t, pipeline.Options{}) // the owner's records are not published
		if err != nil {
			return nil, err
		}
		return releasedRun(res)
	}
}

// measureWhole measures a run by its published results on pairs of tables, with epsilon at delta, and returns the
// names of the pairs. Without pairs there is no measure.
func measureWhole(
	ctx context.Context,
	delta float64,
	pairs []sides,
	published publisher,
	o Options,
) (Measure, []string, error) {
	run := func(ctx context.Context, pair sides, side int) (map[string]float64, error) {
		t, err := pair.table(side)
		if err != nil {
			return nil, err
		}
		return published(ctx, t)
	}
	var trials []trial
	names := []string{}
	for _, pair := range pairs {
		var first []map[string]float64
		for i := range 2 * pilot {
			r, err := run(ctx, pair, i%2)
			if err != nil {
				return Measure{}, nil, err
			}
			first = append(first, r)
		}
		columns := columnsOf(first)
		if len(columns) == 0 { // no published number varies, so none distinguishes the sides
			columns = []string{""}
		}
		names = append(names, pair.name)
		trials = append(trials, func(ctx context.Context, side int) ([]float64, error) {
			r, err := run(ctx, pair, side)
			if err != nil {
				return nil, err
			}
			return inOrder(r, columns), nil
		})
	}
	alpha := 1 - o.Confidence
	if len(trials) == 0 {
		return Measure{
			Delta:      delta,
			Confidence: o.Confidence,
		}, names, ctx.Err()
	}
	m, err := measureTrials(ctx, trials, o.Runs, alpha, delta, o.Progress)
	return m, names, err
}
