package pipeline

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// FitPlan is [Pipeline.Fit] with a plan that p made before: pricing takes
// longer than training on a small table, and a plan never changes. Every call
// opens a session of its own and spends what the plan priced once more.
func (p *Pipeline) FitPlan(ctx context.Context, plan *Plan, t *dataset.Table, o Options) (*Result, error) {
	s, err := mechanism.NewSession(plan.Priced)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, plan, s, t, o)
}
