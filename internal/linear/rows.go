package linear

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/scaling"
)

// Rows is the reusable memory in which one goroutine encodes blocks as fixed-point rows.
type Rows struct {
	X [][]int16 // one slice per entry, the constant [Kappa] last; the norm is not limited yet

	enc     *scaling.Encoder
	scratch scaling.Scratch
}

// NewRows returns memory for the rows of an encoder and the constant.
func NewRows(enc *scaling.Encoder) *Rows {
	return &Rows{X: make([][]int16, len(enc.Slots())+1), enc: enc}
}

// Encode replaces X by the rows of a block.
func (r *Rows) Encode(b dataset.Block) {
	for k := range r.X {
		r.X[k] = slices.Grow(r.X[k][:0], b.Len())[:b.Len()]
	}
	last := len(r.X) - 1
	r.enc.Encode(b, r.X[:last], &r.scratch)
	for i := range r.X[last] {
		r.X[last][i] = scaling.FixedPoint(Kappa)
	}
}

// TargetRows are rows x of features with the constant, and apart from them the target.
type TargetRows struct {
	X [][]int16 // one slice per entry of x, fixed-point; its norm is not limited yet
	Y []float64 // the target, in [-1, 1], on the grid of X

	all *Rows // the target before the constant
}

// Encode replaces X and Y by the rows of a block.
func (r *TargetRows) Encode(b dataset.Block) {
	r.all.Encode(b)
	last := len(r.all.X) - 1
	r.X = append(append(r.X[:0], r.all.X[:last-1]...), r.all.X[last])
	r.Y = slices.Grow(r.Y[:0], b.Len())[:b.Len()]
	for i, y := range r.all.X[last-1] {
		r.Y[i] = float64(y) / mechanism.FixedOne
	}
}

// gramStatistic is the sum of z z^T over the encoded rows z, the constant Kappa last,
// limited to norm B.
type gramStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
}

// New implements [mechanism.Statistic].
func (x gramStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	enc := scaling.NewEncoder(x.Columns, x.Ranges)
	return &gramPass{NewRows(enc), m.NewGram(len(enc.Slots())+1, enc.NormLimit(Kappa))}
}

type gramPass struct {
	rows *Rows
	gram *mechanism.Gram
}

func (p *gramPass) Add(b mechanism.Block) {
	p.rows.Encode(b.Block)
	p.gram.Add(p.rows.X)
}

func (p *gramPass) Cells() mechanism.Cells { return p.gram.Cells() }

// Statistics lists the statistics of this package, for workers.
func Statistics() []mechanism.Statistic { return []mechanism.Statistic{gramStatistic{}} }
