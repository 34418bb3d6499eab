package scaling

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/rescale"
)

// binStatistic counts the records by bin for each of several numeric columns: in equal bins of an interval, or
// in the bins of magnitudes.
type binStatistic struct {
	Columns []int
	Weights []int      // of the columns
	Numbers []int      // of bins, by column
	Within  []interval // of the columns; nil for magnitudes
	// From is how the last column is transformed: it is counted in the units that it had before, where numbers without a
	// logarithm count as 0.
	From rescale.Transform
}

// New implements [mechanism.Statistic].
func (x binStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &binPass{
		binStatistic: x,
		hist:         m.NewUnevenHistogram(x.Weights, x.Numbers),
	}
}

// binRows is the number of records of a block: one column of it, with its bins, stays in a second-level cache.
const binRows = 1 << 13

// BlockRows returns the number of records per block; see [mechanism.Pass.BlockRows].
func (binStatistic) BlockRows() int {
	return binRows
}

type binPass struct {
	binStatistic
	hist *mechanism.Histogram
	buf  []float64
	back []float64
}

func (p *binPass) Add(b mechanism.Block) {
	p.buf = resizeBuffer(p.buf, b.Len())
	p.hist.AddColumns(b.Len(), func(i int, bins []uint16) {
		column := b.Float(p.Columns[i], p.buf)
		if p.From != rescale.None && i == len(p.Columns)-1 {
			column = p.turnedBack(column)
		}
		if p.Within != nil {
			linearBins(bins, column, p.Within[i], p.Numbers[i])
		} else {
			exponentsOf(bins, column)
		}
	})
}

// turnedBack returns the cells of the transformed column in the units that it had before.
func (p *binPass) turnedBack(column []float64) []float64 {
	p.back = resizeBuffer(p.back, len(column))
	for k, z := range column {
		y := p.From.Inverse(z)
		if p.From == rescale.Log && y <= rescale.Floor {
			y = 0
		}
		p.back[k] = y
	}
	return p.back
}

func (p *binPass) Cells() mechanism.Cells {
	return p.hist.Cells()
}

// releaseCounts releases the counts of a statistic, and returns them for each column with the
// standard deviation of the noise in them.
func (p Private) releaseCounts(
	ctx context.Context,
	s *mechanism.Session,
	name string,
	r mechanism.Records,
	x binStatistic,
) ([]noisyCounts, error) {
	acc, err := mechanism.Sum[*binPass](ctx, s, r, x)
	if err != nil {
		return nil, err
	}
	sigma := 1.
	var released mechanism.Public[[]float64]
	if p.Pure {
		released, err = mechanism.LaplaceCells(s, name, acc.hist.CellBound())
		sigma = math.Sqrt2
	} else {
		released, err = mechanism.Gaussian(s, name, acc.hist.Bound())
	}
	if err != nil {
		return nil, err
	}
	sigma *= s.Scale(name)
	out := make([]noisyCounts, len(x.Columns))
	left := released.Value()
	for i, w := range x.Weights {
		out[i] = noisyCounts{left[:x.Numbers[i]], sigma / float64(w)}
		left = left[x.Numbers[i]:]
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

// resizeBuffer returns a slice of length n, reusing buf where it has room.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// Statistics lists the statistics of this package, for workers.
func Statistics() []mechanism.Statistic {
	return []mechanism.Statistic{binStatistic{}, orderStatistic{}}
}
