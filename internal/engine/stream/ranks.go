package stream

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// rankedRows is the number of records that a goroutine keeps in memory to count ranks, 40 bytes each.
const rankedRows = 1 << 20

// Concordance implements [mechanism.Capabilities.Concordance]. Every goroutine takes one column after the other.
func (e *Engine) Concordance(
	ctx context.Context,
	p mechanism.Part,
	d, j int,
) ([]int64, error) {
	return e.concordanceIn(ctx, p, d, j, rankedRows)
}

// concordanceIn is Concordance with the given number of records in memory.
func (e *Engine) concordanceIn(
	ctx context.Context,
	p mechanism.Part,
	d, j, most int,
) ([]int64, error) {
	counts := make([]int64, d)
	errs := make([]error, d)
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

// concordanceOf returns [kendall.S] of columns i and j of a part.
func (e *Engine) concordanceOf(
	ctx context.Context,
	p mechanism.Part,
	i, j, most int,
) (int64, error) {
	p.Columns = []int{p.Columns[i], p.Columns[j]}
	external := kendall.NewExternal(e.file, most)
	r := e.acquireReader()
	var keys [2][]uint64
	floats := make([]float64, e.chunkRows)
	codes := make([]int32, e.chunkRows)
	for c := range e.chunks {
		v, err := r.readPart(ctx, p, c)
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
