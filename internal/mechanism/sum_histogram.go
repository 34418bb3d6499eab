package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// countUnit is the grid of released counts: far finer than any noise scale in
// use, so that rounding the scale up to the grid costs nothing visible.
const countUnit = 0x1p-20

// A Histogram counts, for each of several columns, how many records fall into
// each of a fixed number of bins. Every bin is released, empty ones too, so no
// delta is needed (docs/methods/scaling.md, "The three releases").
//
// A column may weigh more than others: its counts are multiplied by a public
// integer weight before noise is added, so that, of one budget, its noise is
// smaller in proportion and the others' a little larger.
type Histogram struct {
	weights  []int
	bins     int
	relation budget.Relation
	counts   []int64
	others   []int64 // of one column, while a block is added
}

// NewHistogram returns an empty histogram of one row of bins a weight; weights
// are at least 1.
func (m Maker) NewHistogram(weights []int, bins int) *Histogram {
	return &Histogram{weights, bins, m.Relation(), make([]int64, len(weights)*bins), make([]int64, bins)}
}

// Add counts a block of records. bins holds one slice per column and one bin per
// record; a bin outside the histogram counts nowhere. Add panics if the slices
// differ in number or length: otherwise a record might count twice.
func (h *Histogram) Add(bins [][]uint16) {
	if len(bins) != len(h.weights) {
		panic("mechanism: a histogram block has one slice a column")
	}
	for c, column := range bins {
		if len(column) != len(bins[0]) {
			panic("mechanism: the columns of a histogram block differ in length")
		}
		counts, others := h.counts[c*h.bins:(c+1)*h.bins], h.others
		for len(column) > 1 { // where neighbours are equal, one count need not wait for the other
			a, b := column[0], column[1]
			if int(a) < len(counts) {
				counts[a]++
			}
			if int(b) < len(others) {
				others[b]++
			}
			column = column[2:]
		}
		if len(column) > 0 && int(column[0]) < len(counts) {
			counts[column[0]]++
		}
		for b, n := range others {
			counts[b] += n
		}
		clear(others)
	}
}

// Cells are those that [Histogram.Add] adds to.
func (h *Histogram) Cells() Cells { return sums(h.counts) }

// Bound returns the weighted counts, column by column, with their L2
// sensitivity.
//
// Add or remove one record: in column j at most one cell moves, by its weight
// w_j, so the change is at most sqrt(sum w_j^2): sqrt(c) for c columns of
// weight 1. Substitution: in each column at most one cell falls by w_j and one
// rises by w_j, so at most sqrt(2 sum w_j^2). Both are attained.
func (h *Histogram) Bound() Bounded[Vector] {
	squares := 0
	for _, w := range h.weights {
		squares += w * w
	}
	if h.relation != budget.AddRemove {
		squares *= 2
	}
	out := make(Vector, len(h.counts))
	for i, v := range h.counts {
		out[i] = v * int64(h.weights[i/h.bins]) << 20
	}
	return Bounded[Vector]{out, L2, up(math.Sqrt(float64(squares))) / countUnit, countUnit, StatHistogram}
}

// StatHistogram is the statistic of [Histogram.Bound].
const StatHistogram budget.Statistic = "histogram"

func worstHistogram() WorstPair {
	return vectorPair(StatHistogram, anyRecord(), func(s *Session, side int) (Bounded[Vector], error) {
		h := s.NewHistogram([]int{1, 2}, 3)
		h.Add(pick(RecordOn(s.Relation(), side), [][]uint16{{0}, {2}}, [][]uint16{{}, {}}, [][]uint16{{1}, {0}}))
		return h.Bound(), nil
	})
}
