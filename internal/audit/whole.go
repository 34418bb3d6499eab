package audit

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// pilot is how many runs on a side show which published numbers vary.
const pilot = 24

// sides is a pair of neighbouring tables. table is called from several goroutines at
// once.
type sides struct {
	name  string
	table func(side int) (*dataset.Table, error)
}

// fit carries a plan out: [pipeline.Pipeline.FitPlan], but in tests that plant faults.
type fit func(ctx context.Context, plan *pipeline.Plan, t *dataset.Table, o pipeline.Options) (*pipeline.Result, error)

// publisher carries a run out on a table and returns what it publishes, as named numbers.
type publisher func(ctx context.Context, t *dataset.Table) (map[string]float64, error)

// fitted publishes what a fit does.
func fitted(fit fit, plan *pipeline.Plan) publisher {
	return func(ctx context.Context, t *dataset.Table) (map[string]float64, error) {
		res, err := fit(ctx, plan.Again(), t, pipeline.Options{}) // nothing of the owner's records is published
		if err != nil {
			return nil, err
		}
		return released(res)
	}
}

// whole measures a run by what it publishes on pairs of tables, with epsilon at delta, and
// returns their names. Without a pair nothing is measured.
func whole(ctx context.Context, delta float64, pairs []sides, published publisher, o Options) (Measure, []string, error) {
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
		if len(columns) == 0 { // nothing that is published varies: neither can it tell
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
		return Measure{Delta: delta, Confidence: o.Confidence}, names, ctx.Err()
	}
	m, err := measure(ctx, trials, o.Runs, alpha, delta, o.Progress)
	return m, names, err
}
