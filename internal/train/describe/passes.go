package describe

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// An interval is a numeric column of a statistic: its position in the records, and a range or the limits of a cut.
type interval struct {
	Column       int
	Lower, Upper float64
	// Fill is the value of a missing cell, in the units of the mapped column; NaN to leave it missing.
	Fill float64
}

// mapValues writes the values of a column with the interval mapped to [-1, 1]. What is outside is clamped.
func (x interval) mapValues(out, column []float64) {
	middle := x.Lower/2 + x.Upper/2
	half := x.Upper/2 - x.Lower/2
	for k, v := range column {
		z := x.Fill
		if v == v {
			z = min(max((v-middle)/half, -1), 1)
		}
		out[k] = z
	}
}

// writeCells writes the cell of each value, as [mechanism.TreeCounts] numbers them.
func (x interval) writeCells(out []uint16, column []float64) {
	half := x.Upper/2 - x.Lower/2
	for k, v := range column {
		switch {
		case v != v:
			out[k] = mechanism.TreeMissing
		case v < x.Lower:
			out[k] = mechanism.TreeBelow
		case v > x.Upper:
			out[k] = mechanism.TreeAbove
		default:
			out[k] = uint16(min(
				max(math.Floor((v/2-x.Lower/2)/half*mechanism.TreeLeaves), 0),
				mechanism.TreeLeaves-1,
			))
		}
	}
}

// treeStatistic counts the records in the cells of numeric columns and by the codes of category columns.
type treeStatistic struct {
	Numeric  []interval
	Category []int
	Levels   []int // of category columns, others included
}

// New implements [mechanism.Statistic].
func (x treeStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &treePass{
		treeStatistic: x,
		counts:        m.NewTreeCounts(len(x.Numeric), x.Levels),
		cells:         make([][]uint16, len(x.Numeric)+len(x.Category)),
	}
}

type treePass struct {
	treeStatistic
	counts *mechanism.TreeCounts
	cells  [][]uint16
	floats []float64
	codes  []int32
}

// Add implements [mechanism.Accumulator].
func (p *treePass) Add(b mechanism.Block) {
	n := b.Len()
	p.floats, p.codes = resizeBuffer(p.floats, n), resizeBuffer(p.codes, n)
	for i := range p.cells {
		p.cells[i] = resizeBuffer(p.cells[i], n)
	}
	for i, x := range p.Numeric {
		x.writeCells(p.cells[i], b.Float(x.Column, p.floats))
	}
	for i, j := range p.Category {
		for k, code := range b.Codes(j, p.codes) {
			p.cells[len(p.Numeric)+i][k] = uint16(code)
		}
	}
	p.counts.Add(p.cells)
}

// Cells implements [mechanism.Accumulator].
func (p *treePass) Cells() mechanism.Cells {
	return p.counts.Cells()
}

// momentStatistic adds up values and their squares.
type momentStatistic struct{ Numeric []interval }

// New implements [mechanism.Statistic].
func (x momentStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &momentPass{
		momentStatistic: x,
		moments:         m.NewMoments(len(x.Numeric)),
		values:          make([][]float64, len(x.Numeric)),
	}
}

type momentPass struct {
	momentStatistic
	moments *mechanism.Moments
	values  [][]float64
	floats  []float64
}

// Add implements [mechanism.Accumulator].
func (p *momentPass) Add(b mechanism.Block) {
	p.floats = resizeBuffer(p.floats, b.Len())
	for i, x := range p.Numeric {
		p.values[i] = resizeBuffer(p.values[i], b.Len())
		x.mapValues(p.values[i], b.Float(x.Column, p.floats))
	}
	p.moments.Add(b.Len(), p.values)
}

// Cells implements [mechanism.Accumulator].
func (p *momentPass) Cells() mechanism.Cells {
	return p.moments.Cells()
}

// matrixStatistic adds up the products of the entries of a record; see [Matrix]. A record has a numeric entry of at most 1 per
// numeric column, exactly one entry of 1 per category column, and the constant 1. So its squared length is at most
// the number of columns plus 1, and no record is ever shortened.
type matrixStatistic struct {
	Numeric  []interval
	Category []int
	// Entries maps, by category column, each code to an entry.
	Entries [][]int32
	Levels  []int // number of entries of category columns
}

// squaredLimit returns the squared length that no record exceeds.
func (x matrixStatistic) squaredLimit() float64 {
	return float64(len(x.Numeric) + len(x.Category) + 1)
}

// New implements [mechanism.Statistic].
func (x matrixStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	size := len(x.Numeric) + 1
	for _, n := range x.Levels {
		size += n
	}
	return &matrixPass{
		matrixStatistic: x,
		gram:            m.NewGram(size, x.squaredLimit()),
		rows:            make([][]int16, size),
	}
}

type matrixPass struct {
	matrixStatistic
	gram   *mechanism.Gram
	rows   [][]int16
	floats []float64
	values []float64
	codes  []int32
}

// Add implements [mechanism.Accumulator].
func (p *matrixPass) Add(b mechanism.Block) {
	n := b.Len()
	p.floats, p.values, p.codes = resizeBuffer(p.floats, n), resizeBuffer(p.values, n),
		resizeBuffer(p.codes, n)
	for i := range p.rows {
		p.rows[i] = resizeBuffer(p.rows[i], n)
	}
	for i, x := range p.Numeric {
		x.mapValues(p.values, b.Float(x.Column, p.floats))
		for k, z := range p.values {
			p.rows[i][k] = int16(math.Round(z * mechanism.FixedOne))
		}
	}
	at := len(p.Numeric)
	for i, j := range p.Category {
		entries := p.rows[at : at+p.Levels[i]]
		at += p.Levels[i]
		for _, row := range entries {
			clear(row)
		}
		for k, code := range b.Codes(j, p.codes) {
			entries[p.Entries[i][code]][k] = mechanism.FixedOne
		}
	}
	for k := range p.rows[at] {
		p.rows[at][k] = mechanism.FixedOne
	}
	p.gram.Add(p.rows)
}

// Cells implements [mechanism.Accumulator].
func (p *matrixPass) Cells() mechanism.Cells {
	return p.gram.Cells()
}

// groupStatistic adds up values by the codes of a category column.
type groupStatistic struct {
	By      int
	Groups  int
	Numeric []interval
	Counted []bool
}

// New implements [mechanism.Statistic].
func (x groupStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &groupPass{
		groupStatistic: x,
		sums:           m.NewGroupSums(x.Groups, x.Counted),
		values:         make([][]float64, len(x.Numeric)),
	}
}

type groupPass struct {
	groupStatistic
	sums   *mechanism.GroupSums
	values [][]float64
	floats []float64
	codes  []int32
}

// Add implements [mechanism.Accumulator].
func (p *groupPass) Add(b mechanism.Block) {
	p.floats = resizeBuffer(p.floats, b.Len())
	p.codes = resizeBuffer(p.codes, b.Len())
	for i, x := range p.Numeric {
		p.values[i] = resizeBuffer(p.values[i], b.Len())
		x.mapValues(p.values[i], b.Float(x.Column, p.floats))
	}
	p.sums.Add(b.Codes(p.By, p.codes), p.values)
}

// Cells implements [mechanism.Accumulator].
func (p *groupPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// resizeBuffer returns a slice of length n, reusing buf where it has room.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
