//go:build replay

package pipeline

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// FitRecorded is Fit in a session that a recorder watches. It exists in test
// builds only: the recorder holds exact private values.
func (p *Pipeline) FitRecorded(ctx context.Context, t *dataset.Table, o Options, r *mechanism.Recorder) (*Result, error) {
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	return p.run(ctx, plan, mechanism.NewRecordedSession(plan.Priced, r), t, o)
}
