package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// An Outer accumulates the sum of w z^T over records: z a fixed-point row whose Euclidean norm it
// limits to a public bound B first, exactly as [Gram] does, and w a vector of weights in [-1, 1], which
// it rounds toward zero to the grid of rows and then shortens, as a whole and in integers, to a
// public norm C. Gradients of softmax models and sums by cell are such sums. They are exact
// integers, independent of the order of records and of threads.
type Outer struct {
	rows, weights *Gram // shorten; their own sums stay empty
	grid          [][]int16
	sums          []int64 // by weight, then by entry
}

// NewOuter returns an empty accumulator for rows of p >= 1 entries of norm at most sqrt(limit2), as in
// [Session.NewGram], and k >= 1 weights of norm at most bound, in [2^-7, 2^7].
func (m Maker) NewOuter(k, p int, bound, limit2 float64) *Outer {
	if !(bound >= 0x1p-7 && bound <= 0x1p7) {
		panic("mechanism: the norm of the weights of an Outer leaves [2^-7, 2^7]")
	}
	return &Outer{
		rows:    m.newClipper(p, limit2),
		weights: m.newClipper(k, bound*bound),
		grid:    make([][]int16, k),
		sums:    make([]int64, k*p),
	}
}

// A Shortener limits the norm of fixed-point rows as [Gram.Add] does, for a caller that limits a part
// of a row separately. No sensitivity depends on it.
type Shortener struct{ gram *Gram }

// NewShortener returns a Shortener of rows of p entries to norm at most sqrt(limit2), limit2 >= 0.
func (m Maker) NewShortener(p int, limit2 float64) *Shortener {
	return &Shortener{m.newClipper(p, limit2)}
}

// Clip limits the rows of a block in place. Rows without entries are left as they are.
func (s *Shortener) Clip(rows [][]int16) {
	if len(rows) > 0 {
		s.gram.clipRows(rows)
	}
}

// newClipper returns a Gram without sums, which only clips rows.
func (m Maker) newClipper(p int, limit2 float64) *Gram {
	return &Gram{
		tap:      m.tap,
		p:        p,
		limit:    uint64(limit2 / gramUnit),
		relation: m.Relation(),
	}
}

// Clip limits the rows of a block in place as Add does, for a caller whose weights depend on
// the limited rows. Add then leaves them as they are.
func (o *Outer) Clip(rows [][]int16) {
	if len(rows) != o.rows.p {
		panic("mechanism: an Outer block has one slice per entry of the row")
	}
	o.rows.clipRows(rows)
}

// Add clips a block of records in place and adds its products. rows holds one slice per entry of the
// row, weights one per weight, both with one number per record; NaN counts as 0. The weights of a
// record must depend on that record and on public values only. Add panics if the slices differ in
// number or length.
func (o *Outer) Add(rows [][]int16, weights [][]float64) {
	o.Clip(rows)
	if len(weights) != len(o.grid) {
		panic("mechanism: an Outer block has one slice per weight")
	}
	n := len(rows[0])
	for j, w := range weights {
		if len(w) != n {
			panic("mechanism: the slices of an Outer block differ in length")
		}
		if cap(o.grid[j]) < n {
			o.grid[j] = make([]int16, n)
		}
		o.grid[j] = o.grid[j][:n]
		for i, v := range w {
			o.grid[j][i] = gridWeight(v)
		}
	}
	o.clipWeights()
	for j, w := range o.grid {
		sums := o.sums[j*o.rows.p:]
		for k, column := range rows {
			sums[k] += gram.Dot(w, column)
		}
	}
}

// clipWeights shortens every record's weights as a whole.
func (o *Outer) clipWeights() {
	if o.weights.tap.weightsAlone() {
		for j := range o.grid {
			o.weights.clipRows(o.grid[j : j+1])
		}
		return
	}
	o.weights.clipRows(o.grid)
}

// gridWeight rounds a weight toward zero to the grid of rows and clamps it to [-1, 1]; NaN is 0.
func gridWeight(v float64) int16 {
	v *= FixedOne
	switch {
	case v >= FixedOne:
		return FixedOne
	case v <= -FixedOne:
		return -FixedOne
	case v != v:
		return 0
	}
	return int16(v)
}

// Cells are those that [Outer.Add] adds to.
func (o *Outer) Cells() Cells {
	return sumCells(o.sums)
}

// Bound returns the sum of w z^T, by weight and then by entry, with its L2 sensitivity.
//
// Add or remove one record: the change is w z^T and |w z^T|_F = |w| |z| <= C B, attained by any w
// and z of full length. Both lengths hold for the integers that are multiplied: rows and weights are
// shortened after they were rounded. Substitution: the change is w z^T - w' z'^T, at most 2 C B by the
// triangle inequality, attained by z' = z and w' = -w. (docs/proofs/prototypes.md,
// "Sensitivity and proof")
func (o *Outer) Bound() Bounded[Vector] {
	sens := roundUp(math.Sqrt(float64(o.rows.limit)) * math.Sqrt(float64(o.weights.limit)))
	if o.rows.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[Vector]{append(Vector(nil), o.sums...), L2, sens, gramUnit, StatOuter}
}

// StatOuter is the statistic of [Outer.Bound].
const StatOuter budget.Statistic = "outer"
