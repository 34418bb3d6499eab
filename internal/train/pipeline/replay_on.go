//go:build replay

package pipeline

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// FitRecorded is Fit of a plan of p in a session that a recorder watches. It
// exists in test builds only: the recorder holds exact private values.
func (p *Pipeline) FitRecorded(
	ctx context.Context,
	plan *Plan,
	t *dataset.Table,
	o Options,
	r *mechanism.Recorder,
) (*Result, error) {
	return p.runPlan(
		ctx,
		plan,
		openedSession(mechanism.NewRecordedSession(plan.Priced, r)),
		t,
		o,
	)
}

// FitFaulty is FitPlan with faults planted in every session.
func (p *Pipeline) FitFaulty(
	ctx context.Context,
	plan *Plan,
	t *dataset.Table,
	o Options,
	f mechanism.Fault,
) (*Result, error) {
	return p.runPlan(ctx, plan, func(priced *budget.Priced) (*mechanism.Session, error) {
		return mechanism.NewFaultySession(priced, f)
	}, t, o)
}

// FitOnRecorded is FitOn in a session that a recorder watches.
func (p *Pipeline) FitOnRecorded(
	ctx context.Context,
	plan *Plan,
	e mechanism.Engine,
	o Options,
	r *mechanism.Recorder,
) (*Result, error) {
	return p.runOn(
		ctx,
		plan,
		openedSession(mechanism.NewRecordedSession(plan.Priced, r)),
		e,
		o,
	)
}
