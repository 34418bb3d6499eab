package selection

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/gram"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// classStatistic is the statistic of [mechanism.ClassStats] over records whose columns are the
// candidates and then the target.
type classStatistic struct {
	Facts   Facts
	Weights mechanism.ClassWeights
}

// New implements [mechanism.Statistic].
func (x classStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	e := classEncoder(x.Facts)
	return &classPass{newClassRows(e, x.Facts), m.NewClassStats(
		len(e.Slots()),
		len(x.Facts.Target.Categories),
		e.NormLimit(0),
		x.Weights,
	)}
}

// BlockRows is the number of records of a block.
func (x classStatistic) BlockRows() int {
	return rowsOfBlocks(len(classEncoder(x.Facts).Slots()))
}

// rowsOfBlocks returns the number of records of a block for rows of the given number of entries.
func rowsOfBlocks(entries int) int {
	return min(max(maxBlockCells/max(entries, 1), 1), mostBlockRows)
}

type classPass struct {
	rows *classRows
	sums *mechanism.ClassStats
}

func (p *classPass) Add(b mechanism.Block) {
	p.sums.Add(p.rows.readBlock(b.Block))
}
func (p *classPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// partClassStatistic is that of [mechanism.PartClassStats] over such records.
type partClassStatistic classStatistic

// New implements [mechanism.Statistic].
func (x partClassStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	e := classEncoder(x.Facts)
	var protected []dataset.Column
	for _, c := range x.Facts.Columns {
		if c.Private {
			protected = append(protected, c)
		}
	}
	public := make([]bool, len(e.Slots()))
	for k, slot := range e.Slots() {
		public[k] = !x.Facts.Columns[slot.Column].Private
	}
	limit := scaling.NewEncoder(protected, nil).NormLimit(0)
	return &partClassPass{newClassRows(e, x.Facts),
		m.NewPartClassStats(public, len(x.Facts.Target.Categories), limit, x.Facts.LabelOnly,
			x.Weights)}
}

// BlockRows is the number of records of a block.
func (x partClassStatistic) BlockRows() int {
	return classStatistic(x).BlockRows()
}

type partClassPass struct {
	rows *classRows
	sums *mechanism.PartClassStats
}

func (p *partClassPass) Add(b mechanism.Block) {
	p.sums.Add(p.rows.readBlock(b.Block))
}
func (p *partClassPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// classRows reads blocks: encoded candidates, and codes of classes.
type classRows struct {
	encoder  *scaling.Encoder
	features []int
	rows     [][]int16
	codes    []int32
	scratch  scaling.Scratch
}

func newClassRows(e *scaling.Encoder, f Facts) *classRows {
	r := &classRows{
		encoder: e,
		rows:    make([][]int16, len(e.Slots())),
	}
	for j := range f.Columns {
		r.features = append(r.features, j)
	}
	return r
}

func (r *classRows) readBlock(b dataset.Block) ([][]int16, []int32) {
	for k := range r.rows {
		r.rows[k] = withLength(r.rows[k], b.Len())
	}
	r.encoder.Encode(b.Columns(r.features), r.rows, &r.scratch)
	r.codes = withLength(r.codes, b.Len())
	return r.rows, b.Codes(len(r.features), r.codes)
}

// exactSums are class statistics without a limit on the rows and without noise,
// for experiments on public data.
type exactSums struct {
	counts        []int64
	products      []int64
	sums, squares [][]int64
}

func newExactSums(entries, classes int) *exactSums {
	e := &exactSums{
		counts:   make([]int64, classes),
		products: make([]int64, gram.Len(entries)),
	}
	for range classes {
		e.sums = append(e.sums, make([]int64, entries))
		e.squares = append(e.squares, make([]int64, entries))
	}
	return e
}

func (e *exactSums) Add(columns [][]int16, classes []int32) {
	for i, k := range classes {
		in := uint(k) < uint(len(e.counts))
		if in {
			e.counts[k]++
		}
		for j, column := range columns {
			if !in {
				column[i] = 0
				continue
			}
			x := int64(column[i])
			e.sums[k][j] += x
			e.squares[k][j] += x * x
		}
	}
	gram.Accumulate(e.products, columns)
}

// classMoments returns the sums in the measure of the rows, with no noise.
func (e *exactSums) classMoments() mechanism.ClassMoments {
	const one = 1. / mechanism.FixedOne
	m := mechanism.ClassMoments{
		Counts:   scaledBy(e.counts, 1),
		Products: scaledBy(e.products, one*one),
	}
	for k := range e.sums {
		m.Sums = append(m.Sums, scaledBy(e.sums[k], one))
		m.Squares = append(m.Squares, scaledBy(e.squares[k], one*one))
	}
	return m
}

func scaledBy(values []int64, unit float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v) * unit
	}
	return out
}

// Statistics lists the statistics of this package, for workers.
func Statistics() []mechanism.Statistic {
	return []mechanism.Statistic{classStatistic{}, partClassStatistic{}, productStatistic{},
		greedyStatistic{}}
}
