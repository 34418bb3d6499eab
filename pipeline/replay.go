//go:build replay

package pipeline

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// FitRecorded is Fit of a plan of p in a session that a recorder watches. It
// exists in test builds only: the recorder holds exact private values.
func (p *Pipeline) FitRecorded(ctx context.Context, plan *Plan, t *dataset.Table, o Options, r *mechanism.Recorder) (*Result, error) {
	return p.run(ctx, plan, mechanism.NewRecordedSession(plan.Priced, r), t, o)
}

// FitFaulty is FitPlan with faults planted in every session.
func (p *Pipeline) FitFaulty(ctx context.Context, plan *Plan, t *dataset.Table, o Options, f mechanism.Fault) (*Result, error) {
	s, err := mechanism.NewFaultySession(plan.Priced, f)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, plan, s, t, o)
}
