//go:build replay

package describe

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// RunRecorded is Run in a session that a recorder watches. It exists in test builds only: the recorder holds exact private
// values.
func (p *Plan) RunRecorded(
	ctx context.Context,
	t *dataset.Table,
	r *mechanism.Recorder,
) (*Result, error) {
	return p.runPlan(ctx, t, func(priced *budget.Priced) (*mechanism.Session, error) {
		return mechanism.NewRecordedSession(priced, r), nil
	}, "")
}
