//go:build replay

package audit

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// OwnTableFaulty is [OwnTable] of runs that carry a fault out. It exists in test
// builds only.
func OwnTableFaulty(
	ctx context.Context,
	p *pipeline.Pipeline,
	t *dataset.Table,
	o Options,
	f mechanism.Fault,
) (Verdict, error) {
	return ownTable(ctx, p, t, o,
		func(
			ctx context.Context, plan *pipeline.Plan, t *dataset.Table, o pipeline.Options,
		) (*pipeline.Result, error) {
			return p.FitFaulty(ctx, plan, t, o, f)
		})
}
