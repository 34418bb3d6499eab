package boosting

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
)

// countsStatistic counts the records in each fine bin of every list, and the residuals as selected by Counts.
type countsStatistic struct {
	Of     *state
	Counts residualCounts
}

// State implements [mechanism.Stateful].
func (x countsStatistic) State() mechanism.State {
	return x.Of
}

// BlockRows is the number of records of a block.
func (countsStatistic) BlockRows() int {
	return blockRows
}

// New implements [mechanism.Statistic].
func (x countsStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	lists := len(x.Of.Slots) + 1
	return &countsPass{m.NewHistogram(repeatOne(lists), fineBins), make([][]uint16, lists),
		newResidualHistogram(m, x.Counts), nil}
}

func repeatOne(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

type countsPass struct {
	hist      *mechanism.Histogram
	bins      [][]uint16
	residuals *residualHistogram
	g         []float64
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
	if p.residuals != nil {
		p.g = k.residuals(p.g)
		p.residuals.add(p.g)
	}
}

func (p *countsPass) Cells() mechanism.Cells {
	return mechanism.Join(p.hist.Cells(), p.residuals.cells())
}

// sumsStatistic holds the sums of a pass of an epoch, with g the residual of a record clamped to [-Clip, Clip]:
// if Line is set, the sum of x g, x limited to norm B; for each of some lists, the sum of g by step; and counts of
// the residuals.
type sumsStatistic struct {
	Of     *state
	Clip   float64
	Line   bool
	Lists  []int // of bins
	Steps  []int // the number of steps of each list
	Counts residualCounts
}

// State implements [mechanism.Stateful].
func (x sumsStatistic) State() mechanism.State {
	return x.Of
}

// BlockRows is the number of records of a block.
func (sumsStatistic) BlockRows() int {
	return blockRows
}

// New implements [mechanism.Statistic].
func (x sumsStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	p := &sumsPass{
		lists:     x.Lists,
		residuals: newResidualHistogram(m, x.Counts),
		clamped:   mechanism.NewClamped(x.Clip),
	}
	if x.Line {
		f := linear.FrameOf(x.Of.Columns, x.Of.Ranges)
		p.cross, p.x = m.NewCross(f.Slots(), f.NormLimit(), x.Clip), make([][]int16, f.Slots())
	}
	for _, steps := range x.Steps {
		p.steps = append(p.steps, m.NewBinSums(steps, x.Clip))
	}
	return p
}

type sumsPass struct {
	cross     *mechanism.Cross // nil without a line
	x         [][]int16        // a copy, because cross limits rows in place
	lists     []int
	steps     []*mechanism.BinSums
	residuals *residualHistogram
	g         []float64

	clamped *mechanism.Clamped // g
}

func (p *sumsPass) Add(b mechanism.Block) {
	k := b.Kept.(*kept)
	p.g = k.residuals(p.g)
	if p.residuals != nil {
		p.residuals.add(p.g)
	}
	if p.cross != nil {
		k.eachRow(b.Block, func(x [][]int16) {
			for j, column := range x {
				p.x[j] = append(p.x[j][:0], column...)
			}
		})
		p.cross.Add(p.x, p.g)
	}
	if len(p.lists) > 0 {
		p.clamped.Set(p.g)
	}
	for i, list := range p.lists {
		p.steps[i].AddClamped(k.list(list), p.clamped)
	}
}

func (p *sumsPass) Cells() mechanism.Cells {
	all := []mechanism.Cells{p.residuals.cells()}
	if p.cross != nil {
		all = append(all, p.cross.Cells())
	}
	for _, s := range p.steps {
		all = append(all, s.Cells())
	}
	return mechanism.Join(all...)
}
