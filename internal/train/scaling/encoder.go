package scaling

import (
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/simd"
)

// A Slot is one entry of an encoded row: a numeric column, the indicator of its
// missing cells, or one category of a category column.
type Slot struct {
	Column   int // index into the view's columns
	Category int // NumberSlot, MissingSlot or the code; len(Categories) is "other"
}

// Categories of slots that do not represent a listed category.
const (
	NumberSlot  = -1 // a numeric column
	MissingSlot = -2 // the indicator of its missing cells
)

// An Encoder maps records to fixed-point rows. It holds public facts only.
type Encoder struct {
	columns []dataset.Column
	ranges  []Range
	slots   []Slot
	first   []int // first slot of each column
}

// NewEncoder returns the encoder of the columns, in order. A numeric column has one
// slot, and another for its missing cells if it has an indicator. A category column
// has one slot per category, and another for other values if it keeps them.
func NewEncoder(columns []dataset.Column, ranges []Range) *Encoder {
	e := &Encoder{columns: columns, ranges: ranges}
	for j, c := range columns {
		e.first = append(e.first, len(e.slots))
		if c.Kind == dataset.Numeric {
			e.slots = append(e.slots, Slot{j, NumberSlot})
			if c.Indicator {
				e.slots = append(e.slots, Slot{j, MissingSlot})
			}
			continue
		}
		levels := len(c.Categories)
		if c.Other {
			levels++
		}
		for k := range levels {
			e.slots = append(e.slots, Slot{j, k})
		}
	}
	return e
}

// Slots lists the entries of an encoded row.
func (e *Encoder) Slots() []Slot {
	return e.slots
}

// Range returns the range of a numeric column.
func (e *Encoder) Range(column int) Range {
	return e.ranges[column]
}

// Encode writes the rows of a block: one slice per slot, each of the block's
// length. buf is scratch space.
func (e *Encoder) Encode(b dataset.Block, dst [][]int16, buf *Scratch) {
	n := b.Len()
	for j, c := range e.columns {
		if c.Kind == dataset.Numeric {
			buf.floats = resizeBuffer(buf.floats, n)
			cells := b.Float(j, buf.floats)
			e.encodeNumeric(dst[e.first[j]][:n], cells, j)
			if c.Indicator {
				encodeMissing(dst[e.first[j]+1][:n], cells)
			}
			continue
		}
		last := len(e.slots)
		if j+1 < len(e.first) {
			last = e.first[j+1]
		}
		buf.codes = resizeBuffer(buf.codes, n)
		encodeCategory(dst[e.first[j]:last], b.Codes(j, buf.codes), c.Levels)
	}
}

// Scratch is reusable memory of one goroutine.
type Scratch struct {
	floats []float64
	codes  []int32
}

// encodeNumeric maps [Lower, Upper] to [-1, 1], clamps and rounds toward zero
// to the grid. A missing value becomes the column's substitute.
func (e *Encoder) encodeNumeric(dst []int16, column []float64, j int) {
	r := e.ranges[j]
	center := r.Center()
	scale := mechanism.FixedOne / r.Half()
	missing := e.Missing(j)
	grid := simd.Grid{
		Missing: missing,
		Center:  center,
		Scale:   scale,
	}
	for i := grid.Fixed(dst, column); i < len(column); i++ {
		x := column[i]
		if x != x {
			x = missing
		}
		v := (x - center) * scale
		switch {
		case v >= mechanism.FixedOne:
			dst[i] = mechanism.FixedOne
		case v <= -mechanism.FixedOne:
			dst[i] = -mechanism.FixedOne
		case v != v: // 0 times infinity, for a range narrower than float64 resolves
			dst[i] = 0
		default:
			dst[i] = int16(v)
		}
	}
}

// encodeCategory writes a 0/1 block: at most one slot of a row is 1, so the
// block's norm is at most 1.
func encodeCategory(dst [][]int16, codes, levels []int32) {
	for _, slot := range dst {
		clear(slot)
	}
	for i, c := range codes {
		if 0 <= c && int(c) < len(levels) {
			c = levels[c]
		}
		if 0 <= c && int(c) < len(dst) {
			dst[c][i] = mechanism.FixedOne
		}
	}
}

// NormLimit returns B^2, the public limit on the squared norm of an encoded row
// with a constant entry kappa: [NumericNorm] for every numeric column, with an
// indicator or not ([MissingEntry]), 1 for every category block that has an entry, and kappa^2
// (docs/proofs/joint-gram.md, "Algorithm").
func (e *Encoder) NormLimit(kappa float64) float64 {
	total := kappa * kappa
	for _, c := range e.columns {
		if c.Kind == dataset.Numeric {
			total += NumericNorm
		} else if c.Other || len(c.Categories) > 0 {
			total++
		}
	}
	return total
}

// NumericNorm is the contribution of a numeric column to the squared norm limit of a row. Longer rows are
// shortened, shorter ones keep their weight; see docs/proofs/scaling.md, "How the settings were chosen".
const NumericNorm = .2

// FixedPoint returns x in [-1, 1] on the grid of encoded rows.
func FixedPoint(x float64) int16 {
	return int16(math.Trunc(x * mechanism.FixedOne))
}
