package causal

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// cellStatistic counts, for each of several pairs of columns, the records in each of B x B equal cells. A value
// outside its range counts in the outermost bin; a record with a missing cell is not counted in that column's
// pairs.
type cellStatistic struct {
	Pairs  [][2]int
	Bins   int
	Ranges []scaling.Range // of the columns
}

// New implements [mechanism.Statistic].
func (x cellStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	p := &cellPass{
		cellStatistic: x,
		bins:          make([][]uint16, len(x.Ranges)),
	}
	p.bin = func(out []uint16, column []float64, j int) {
		binsOf(out, column, x.Ranges[j], x.Bins)
	}
	for range x.Pairs {
		p.hists = append(p.hists, m.NewHistogram([]int{1}, x.Bins*x.Bins))
	}
	return p
}

type cellPass struct {
	cellStatistic
	hists []*mechanism.Histogram
	bin   func(out []uint16, column []float64, j int) // of column j
	bins  [][]uint16                                  // by column
	cells []uint16
	buf   []float64
}

// noCell is a bin outside every histogram.
const noCell = 1<<16 - 1

func (p *cellPass) Add(b mechanism.Block) {
	p.buf = resizeBuffer(p.buf, b.Len())
	for j := range p.Ranges {
		p.bins[j] = resizeBuffer(p.bins[j], b.Len())
		p.bin(p.bins[j], b.Float(j, p.buf), j)
	}
	p.cells = resizeBuffer(p.cells, b.Len())
	for i, pair := range p.Pairs {
		x, y := p.bins[pair[0]], p.bins[pair[1]]
		for k := range p.cells {
			p.cells[k] = noCell
			if x[k] != noCell && y[k] != noCell {
				p.cells[k] = x[k]*uint16(p.Bins) + y[k]
			}
		}
		p.hists[i].Add([][]uint16{p.cells})
	}
}

// Cells implements [mechanism.Accumulator].
func (p *cellPass) Cells() mechanism.Cells {
	var all []mechanism.Cells
	for _, h := range p.hists {
		all = append(all, h.Cells())
	}
	return mechanism.Join(all...)
}

// binsOf writes the index of each value among equal bins of a range.
func binsOf(out []uint16, column []float64, r scaling.Range, bins int) {
	// Halves are used because the width of a range may exceed the largest float64.
	scale := float64(bins) / 2 / (r.Upper/2 - r.Lower/2)
	for k, x := range column {
		at := float64((x/2 - r.Lower/2) * 2 * scale) // the conversion forbids fusing
		switch {
		case x != x:
			out[k] = noCell
		case at >= float64(bins):
			out[k] = uint16(bins - 1)
		case at > 0:
			out[k] = uint16(at)
		default:
			out[k] = 0
		}
	}
}

// resizeBuffer returns a slice of length n, reusing buf where it has room.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
