package scaling

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// A binner writes the bin of every value of the i-th column: bins and column
// have equal length.
type binner func(i int, bins []uint16, column []float64)

// binPass is the accumulator of one pass that puts every record into one bin
// of each of several columns.
type binPass struct {
	columns []int
	bin     binner
	hist    *mechanism.Histogram
	bins    [][]uint16
	buf     []float64
}

func (p *binPass) Add(b dataset.Block) {
	for i, j := range p.columns {
		p.buf = grow(p.buf, b.Len())
		column := b.Float(j, p.buf)
		p.bins[i] = grow(p.bins[i], len(column))
		p.bin(i, p.bins[i], column)
	}
	p.hist.Add(p.bins)
}

func (p *binPass) Merge(o *binPass) { p.hist.Merge(o.hist) }

// release counts the records of a view in bins of each of the given
// columns, releases the counts, and returns them for each column with the
// standard deviation of the noise in them.
func release(ctx context.Context, s *mechanism.Session, name string, v dataset.View, columns, weights []int, bins int, bin binner) ([]noisyCounts, error) {
	acc, err := dataset.Reduce(ctx, v, 0, func() *binPass {
		return &binPass{columns: columns, bin: bin, hist: s.NewHistogram(weights, bins), bins: make([][]uint16, len(columns))}
	})
	if err != nil {
		return nil, err
	}
	released, err := mechanism.Gaussian(s, name, acc.hist.Bound())
	if err != nil {
		return nil, err
	}
	out := make([]noisyCounts, len(columns))
	for i, w := range weights {
		out[i] = noisyCounts{released.Value()[i*bins : (i+1)*bins], s.Scale(name) / float64(w)}
		for b := range out[i].counts {
			out[i].counts[b] /= float64(w)
		}
	}
	return out, nil
}

// noisyCounts are the released counts of one column.
type noisyCounts struct {
	counts []float64
	sigma  float64
}

// grow returns a slice of length n, reusing buf where it has room.
func grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
