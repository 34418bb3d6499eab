package boosting

import (
	"github.com/dptrain/dptrain/internal/linear"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// countsStatistic counts the records in each fine bin of every list.
type countsStatistic struct{ Of *state }

// State implements [mechanism.Stateful].
func (x countsStatistic) State() mechanism.State { return x.Of }

// BlockRows is the number of records of a block.
func (countsStatistic) BlockRows() int { return blockRows }

// New implements [mechanism.Statistic].
func (x countsStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	lists := len(x.Of.Slots) + 1
	return &countsPass{m.NewHistogram(ones(lists), fineBins), make([][]uint16, lists)}
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

type countsPass struct {
	hist *mechanism.Histogram
	bins [][]uint16
}

func (p *countsPass) Add(b mechanism.Block) {
	k := b.Kept.(*kept)
	for i := range p.bins {
		p.bins[i] = p.bins[i][:0]
		for _, bin := range k.list(i) {
			p.bins[i] = append(p.bins[i], uint16(bin))
		}
	}
	p.hist.Add(p.bins)
}

func (p *countsPass) Cells() mechanism.Cells { return p.hist.Cells() }

// sizesStatistic counts the records by the size of their residual.
type sizesStatistic struct{ Of *state }

// State implements [mechanism.Stateful].
func (x sizesStatistic) State() mechanism.State { return x.Of }

// BlockRows is the number of records of a block.
func (sizesStatistic) BlockRows() int { return blockRows }

// New implements [mechanism.Statistic].
func (x sizesStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &sizesPass{hist: m.NewHistogram([]int{1}, sizeBins)}
}

type sizesPass struct {
	hist *mechanism.Histogram
	g    []float64
	bins []uint16
}

func (p *sizesPass) Add(b mechanism.Block) {
	p.g = b.Kept.(*kept).residuals(p.g)
	p.bins = p.bins[:0]
	for _, g := range p.g {
		p.bins = append(p.bins, sizeBin(g))
	}
	p.hist.Add([][]uint16{p.bins})
}

func (p *sizesPass) Cells() mechanism.Cells { return p.hist.Cells() }

// linearStatistic is the sum of x g, x limited to norm B and g the residual clamped to
// [-Clip, Clip].
type linearStatistic struct {
	Of   *state
	Clip float64
}

// State implements [mechanism.Stateful].
func (x linearStatistic) State() mechanism.State { return x.Of }

// BlockRows is the number of records of a block.
func (linearStatistic) BlockRows() int { return blockRows }

// New implements [mechanism.Statistic].
func (x linearStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := linear.FrameOf(x.Of.Columns, x.Of.Ranges)
	return &linearPass{cross: m.NewCross(f.Slots(), f.NormLimit(), x.Clip), x: make([][]int16, f.Slots())}
}

type linearPass struct {
	cross *mechanism.Cross
	x     [][]int16 // limited by Cross in place, so a copy
	g     []float64
}

func (p *linearPass) Add(b mechanism.Block) {
	k := b.Kept.(*kept)
	k.each(b.Block, func(x [][]int16) {
		for j, column := range x {
			p.x[j] = append(p.x[j][:0], column...)
		}
	})
	p.g = k.residuals(p.g)
	p.cross.Add(p.x, p.g)
}

func (p *linearPass) Cells() mechanism.Cells { return p.cross.Cells() }

// shapeStatistic is the sum of the residuals, clamped to [-Clip, Clip], by step of a shape.
type shapeStatistic struct {
	Of          *state
	Bins, Steps int
	Clip        float64
}

// State implements [mechanism.Stateful].
func (x shapeStatistic) State() mechanism.State { return x.Of }

// BlockRows is the number of records of a block.
func (shapeStatistic) BlockRows() int { return blockRows }

// New implements [mechanism.Statistic].
func (x shapeStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &shapePass{list: x.Bins, sums: m.NewBinSums(x.Steps, x.Clip)}
}

type shapePass struct {
	list int
	sums *mechanism.BinSums
	g    []float64
}

func (p *shapePass) Add(b mechanism.Block) {
	k := b.Kept.(*kept)
	p.g = k.residuals(p.g)
	p.sums.Add(k.list(p.list), p.g)
}

func (p *shapePass) Cells() mechanism.Cells { return p.sums.Cells() }
