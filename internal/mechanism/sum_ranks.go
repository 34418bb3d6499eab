package mechanism

import (
	"context"
)

// A RankEngine is an engine that counts how columns of a part go together by their ranks, without all
// records in memory.
type RankEngine interface {
	Engine
	// Concordance returns [kendall.S] of each of the first d columns of a part against column j of it.
	Concordance(ctx context.Context, p Part, d, j int) ([]int64, error)
}

// NewKendallOver is [Maker.NewKendall] of the columns of r but the last, against the last, on an engine that counts by itself.
// It returns nil if the engine does not: then the records have to be gathered.
func (m Maker) NewKendallOver(ctx context.Context, r Records) (*Kendall, error) {
	e, ok := r.engine.(RankEngine)
	if !ok {
		return nil, nil
	}
	d := len(r.part.Columns) - 1
	n, err := r.Len(ctx)
	if err != nil {
		return nil, err
	}
	k := &Kendall{relation: m.Relation(), n: n, between: make([]int64, d)}
	k.against = func(ctx context.Context, j int) ([]int64, error) { return e.Concordance(ctx, r.part, d, j) }
	counts, err := k.against(ctx, d)
	if err != nil {
		return nil, err
	}
	k.target = k.tau(counts)
	return k, nil
}
