package mechanism

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"github.com/dptrain/dptrain/internal/sys/parallel"
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

// rankedRows is how many records a goroutine that counts ranks holds, 40 bytes each.
const rankedRows = 1 << 20

// Concordance implements [RankEngine]: every goroutine takes one column after the other.
func (e *Stream) Concordance(ctx context.Context, p Part, d, j int) ([]int64, error) {
	return e.concordanceIn(ctx, p, d, j, rankedRows)
}

// concordanceIn is Concordance with so many records in memory.
func (e *Stream) concordanceIn(ctx context.Context, p Part, d, j, most int) ([]int64, error) {
	counts, errs := make([]int64, d), make([]error, d)
	var next atomic.Int64
	var group parallel.Group
	for range min(runtime.GOMAXPROCS(0), d) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= d || ctx.Err() != nil {
					return
				}
				counts[i], errs[i] = e.concordanceOf(ctx, p, i, j, most)
			}
		})
	}
	group.Wait()
	return counts, errors.Join(ctx.Err(), errors.Join(errs...))
}

// concordanceOf counts columns i and j of a part.
func (e *Stream) concordanceOf(ctx context.Context, p Part, i, j, most int) (int64, error) {
	p.Columns = []int{p.Columns[i], p.Columns[j]}
	external, r := kendall.NewExternal(e.file, most), e.reader()
	var keys [2][]uint64
	floats, codes := make([]float64, e.most), make([]int32, e.most)
	for c := range e.chunks {
		v, err := r.part(ctx, p, c)
		if err != nil {
			return 0, err
		}
		b := v.Block(0, v.Len())
		for k := range keys {
			if x := b.Float(k, floats); x != nil {
				keys[k] = kendall.Keys(keys[k][:0], x, nil)
			} else {
				keys[k] = kendall.Keys(keys[k][:0], nil, b.Codes(k, codes))
			}
		}
		if err := errors.Join(r.err, external.Add(keys[0], keys[1])); err != nil {
			return 0, err
		}
	}
	return external.S()
}
