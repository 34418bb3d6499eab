package mechanism

import (
	"context"
)

// NewKendallOver is [Maker.NewKendall] of the columns of r but the last, against the last, on an engine that counts by itself.
// It returns nil if the engine does not: then the records have to be gathered.
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
	k.against = func(ctx context.Context, j int) ([]int64, error) { return concordance(ctx, r.part, d, j) }
	counts, err := k.against(ctx, d)
	if err != nil {
		return nil, err
	}
	k.target = k.tau(counts)
	return k, nil
}
