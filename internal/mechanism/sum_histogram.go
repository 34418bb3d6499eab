package mechanism

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
)

// countUnit is the grid of released counts. It is far finer than any noise scale in
// use, so rounding the scale up to the grid has a negligible effect.
const countUnit = 0x1p-20

// A Histogram counts, for each of several columns, how many records fall into
// each of the column's bins. Every bin is released, empty ones too, so no
// delta is needed (docs/proofs/scaling.md, "The three releases").
//
// A column may weigh more than others: its counts are multiplied by a public
// integer weight before noise is added, so that, of one budget, its noise is
// smaller in proportion and the others' a little larger.
type Histogram struct {
	weights  []int
	starts   []int // column c has the cells starts[c] to starts[c+1] of counts
	relation budget.Relation
	counts   []int64
	others   [2][]int64 // partial counts of the column that is being counted
	bin      []uint16   // of one column; see AddColumns
}

// NewHistogram returns an empty histogram with one column per weight, all with the
// same number of bins. Weights are from 1 to 2^8; it panics for a larger one.
func (m Maker) NewHistogram(weights []int, bins int) *Histogram {
	return m.NewUnevenHistogram(weights, slices.Repeat([]int{bins}, len(weights)))
}

// NewUnevenHistogram is [Maker.NewHistogram] for columns with different numbers of
// bins: bins has one entry per weight. It panics if it has not.
func (m Maker) NewUnevenHistogram(weights, bins []int) *Histogram {
	if len(bins) != len(weights) {
		panic("mechanism: a histogram needs one number of bins per column")
	}
	h := &Histogram{
		weights:  weights,
		starts:   make([]int, 1, len(bins)+1),
		relation: m.Relation(),
	}
	cells := 0
	widest := 0
	for c, w := range weights {
		if w > maxCountWeight {
			panic("mechanism: the weight of a column of a histogram is above 2^8")
		}
		cells += bins[c]
		widest = max(widest, bins[c])
		h.starts = append(h.starts, cells)
	}
	h.counts = make([]int64, cells)
	for i := range h.others {
		h.others[i] = make([]int64, widest)
	}
	return h
}

// Add counts a block of records. bins holds one slice per column and one bin per
// record; a bin outside the histogram is ignored. Add panics if the slices differ in
// number or length: otherwise a record might count twice.
func (h *Histogram) Add(bins [][]uint16) {
	if len(bins) != len(h.weights) {
		panic("mechanism: a histogram block has one slice per column")
	}
	for c, column := range bins {
		if len(column) != len(bins[0]) {
			panic("mechanism: the columns of a histogram block differ in length")
		}
		h.countColumn(c, column)
	}
}

// AddColumns is Add for a block of n records whose bins are written column by column: write is called once for each, and
// sets every bin.
func (h *Histogram) AddColumns(n int, write func(c int, bins []uint16)) {
	h.bin = slices.Grow(h.bin[:0], n)[:n]
	for c := range h.weights {
		write(c, h.bin)
		h.countColumn(c, h.bin)
	}
}

// countColumn adds the bins of column c.
func (h *Histogram) countColumn(c int, column []uint16) {
	counts := h.counts[h.starts[c]:h.starts[c+1]]
	a := h.others[0][:len(counts)]
	b := h.others[1][:len(counts)]
	for len(column) > 3 { // separate counters, so that equal neighbours need not wait for each other
		w := column[0]
		x := column[1]
		y := column[2]
		z := column[3]
		column = column[4:]
		if int(w) < len(counts) {
			counts[w]++
		}
		if int(x) < len(a) {
			a[x]++
		}
		if int(y) < len(b) {
			b[y]++
		}
		if int(z) < len(counts) {
			counts[z]++
		}
	}
	for _, k := range column {
		if int(k) < len(counts) {
			counts[k]++
		}
	}
	for k := range counts {
		counts[k] += a[k] + b[k]
	}
	clear(a)
	clear(b)
}

// Cells are those that [Histogram.Add] adds to.
func (h *Histogram) Cells() Cells {
	return sumCells(h.counts)
}

// Bound returns the weighted counts, column by column, with their L2
// sensitivity.
//
// Add or remove one record: in column j at most one cell moves, by its weight
// w_j, so the change is at most sqrt(sum w_j^2): sqrt(c) for c columns of
// weight 1. Substitution: in each column at most one cell falls by w_j and one
// rises by w_j, so at most sqrt(2 sum w_j^2). Both are attained. The number of bins
// of a column does not matter, because a record is in at most one bin.
func (h *Histogram) Bound() Bounded[Vector] {
	squares := 0
	for _, w := range h.weights {
		squares += w * w
	}
	if h.relation != budget.AddRemove {
		squares *= 2
	}
	out := make(Vector, len(h.counts))
	for c, w := range h.weights {
		for i := h.starts[c]; i < h.starts[c+1]; i++ {
			out[i] = h.counts[i] * int64(w) << 20
		}
	}
	return Bounded[Vector]{out, L2, roundUp(math.Sqrt(float64(squares))) / countUnit, countUnit,
		StatHistogram}
}

// StatHistogram is the statistic of [Histogram.Bound].
const StatHistogram budget.Statistic = "histogram"

// Count returns a number of records, such as those with a target that can be read, as a
// statistic that can be released.
//
// Add or remove one record: it moves by at most 1. Substitution: by at most 1 as well,
// where only one of the two records counts.
func (s *Session) Count(records int) Bounded[int64] {
	return Bounded[int64]{int64(records) << 20, Absolute, 1 / countUnit, countUnit, StatCount}
}

// StatCount is the statistic of [Session.Count].
const StatCount budget.Statistic = "count"
