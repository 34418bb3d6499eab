package selection

import (
	"context"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// rankAll ranks every candidate and counts it against the target.
func rankAll(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (*mechanism.Kendall, error) {
	if k, err := s.NewKendallOver(ctx, records); k != nil || err != nil {
		return k, err
	}
	v, err := records.View(ctx)
	if err != nil {
		return nil, err
	}
	last := len(f.Columns)
	rows := v.Block(0, v.Len())
	// A view of rows that are not consecutive in their table is gathered column
	// by column: into one buffer per goroutine, not one per column.
	pool := sync.Pool{New: func() any {
		return new(columnBuffer)
	}}
	return s.NewKendallOnce(ctx, last, func(j int, scratch *kendall.Scratch) *kendall.Ranks {
		buf := pool.Get().(*columnBuffer)
		defer pool.Put(buf)
		return buf.rankColumn(rows, j, f.Columns[j].Kind, scratch)
	}, func(scratch *kendall.Scratch) *kendall.Ranks {
		return new(columnBuffer).rankColumn(rows, last, dataset.Numeric, scratch)
	})
}

// columnBuffer is room for the cells of one gathered column.
type columnBuffer struct {
	floats []float64
	codes  []int32
}

// rankColumn ranks column j of a block.
func (b *columnBuffer) rankColumn(
	rows dataset.Block,
	j int,
	kind dataset.Kind,
	scratch *kendall.Scratch,
) *kendall.Ranks {
	if kind == dataset.Category {
		b.codes = withLength(b.codes, rows.Len())
		return kendall.RankCodes(rows.Codes(j, b.codes), scratch)
	}
	b.floats = withLength(b.floats, rows.Len())
	return kendall.Rank(rows.Float(j, b.floats), scratch)
}

// withLength returns buf with length n, its content unspecified.
func withLength[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
