package mechanism

import (
	"context"
)

// NewKendallOver is [Maker.NewKendall] of all columns of r except the last, against the last, on an engine that has
// [Capabilities.Concordance]. It returns nil for other engines, for which the records have to be gathered.
func (m Maker) NewKendallOver(ctx context.Context, r Records) (*Kendall, error) {
	concordance := CapabilitiesOf(r.engine).Concordance
	if concordance == nil {
		return nil, nil
	}
	d := len(r.part.Columns) - 1
	n, err := r.Len(ctx)
	if err != nil {
		return nil, err
	}
	k := &Kendall{relation: m.Relation(), n: n, between: make([]int64, d)}
	k.against = func(ctx context.Context, j int) ([]int64, error) {
		return concordance(ctx, r.part, d, j)
	}
	counts, err := k.against(ctx, d)
	if err != nil {
		return nil, err
	}
	k.target = k.gridTau(counts)
	return k, nil
}
