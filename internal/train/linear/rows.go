package linear

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// Rows is the reusable memory in which one goroutine encodes blocks as fixed-point rows.
type Rows struct {
	X [][]int16 // one slice per entry, the constant [Kappa] last; the norm is not limited yet

	enc     *scaling.Encoder
	scratch scaling.Scratch
}

// NewRows returns memory for the rows of an encoder and the constant.
func NewRows(enc *scaling.Encoder) *Rows {
	return &Rows{
		X:   make([][]int16, len(enc.Slots())+1),
		enc: enc,
	}
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
	X [][]int16 // one slice per entry of x, fixed-point; see [Frame.NewRows] and [Frame.NewLimitedRows] on its norm
	Y []float64 // the target, in [-1, 1], on the grid of X

	all   *Rows                // the target before the constant
	limit *mechanism.Shortener // of the features only; nil for no limit
}

// Encode replaces X and Y by the rows of a block.
func (r *TargetRows) Encode(b dataset.Block) {
	r.all.Encode(b)
	last := len(r.all.X) - 1
	r.X = append(append(r.X[:0], r.all.X[:last-1]...), r.all.X[last])
	if r.limit != nil {
		r.limit.Clip(r.X[:last-1])
	}
	r.Y = slices.Grow(r.Y[:0], b.Len())[:b.Len()]
	for i, y := range r.all.X[last-1] {
		r.Y[i] = float64(y) / mechanism.FixedOne
	}
}

// RowsOf selects the rows of a Gram matrix.
type RowsOf uint8

const (
	AllColumns RowsOf = iota // every column and the constant [Kappa], last
	Features                 // the features of a numeric target, as a [Frame] sees them
	InClass                  // features of a class target; records in no class are left out
)

// ReleaseGram releases the sum of z z^T over the encoded rows z of the columns, the target last,
// limited to norm B. It spends draw 0 of the Gaussian leaf of that name in s.
func ReleaseGram(
	ctx context.Context,
	s *mechanism.Session,
	leaf string,
	r mechanism.Records,
	columns []dataset.Column,
	ranges []scaling.Range,
	of RowsOf,
) (Packed, error) {
	acc, err := mechanism.Sum[*gramPass](ctx, s, r, gramStatistic{columns, ranges, of})
	if err != nil {
		return Packed{}, err
	}
	var noisy mechanism.Public[[]float64]
	if pureLeaf(s, leaf) {
		noisy, err = mechanism.LaplaceCells(s, leaf, acc.gram.EntryBound())
	} else {
		noisy, err = mechanism.SymmetricGaussian(s, leaf, acc.gram.Bound())
	}
	if err != nil {
		return Packed{}, err
	}
	return Packed{acc.slots, noisy.Value()}, ctx.Err()
}

// pureLeaf reports whether a leaf of a matrix was planned with Laplace noise, which has no mu.
func pureLeaf(s *mechanism.Session, leaf string) bool {
	return s.Mu(leaf) == 0
}

// gramNoise returns the scale of the noise in a matrix that was released: the standard deviation of a diagonal entry and sqrt2
// times that of another. Laplace noise of scale b has the standard deviation sqrt2 b everywhere, which 2 b covers.
func gramNoise(s *mechanism.Session, leaf string) float64 {
	if pureLeaf(s, leaf) {
		return 2 * s.Scale(leaf)
	}
	return s.Scale(leaf)
}

type gramStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Of      RowsOf
}

// New implements [mechanism.Statistic].
func (x gramStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	var encode func(dataset.Block) [][]int16
	var slots int
	var limit float64
	switch x.Of {
	case Features:
		f := FrameOf(x.Columns, x.Ranges)
		rows := f.NewLimitedRows(m)
		slots = f.Slots()
		limit = f.LimitedNorm()
		encode = func(b dataset.Block) [][]int16 {
			rows.Encode(b)
			return rows.X
		}
	case InClass:
		f := ClassFrameOf(x.Columns, x.Ranges)
		rows := f.NewRows()
		slots = f.Slots() + 1
		limit = f.Encoder.NormLimit(Kappa)
		encode = func(b dataset.Block) [][]int16 {
			rows.encodeInClass(b, f.Classes())
			return rows.X
		}
	default:
		enc := scaling.NewEncoder(x.Columns, x.Ranges)
		rows := NewRows(enc)
		slots = len(rows.X)
		limit = enc.NormLimit(Kappa)
		encode = func(b dataset.Block) [][]int16 {
			rows.Encode(b)
			return rows.X
		}
	}
	return &gramPass{slots, encode, m.NewGram(slots, limit)}
}

type gramPass struct {
	slots  int
	encode func(dataset.Block) [][]int16
	gram   *mechanism.Gram
}

func (p *gramPass) Add(b mechanism.Block) {
	p.gram.Add(p.encode(b.Block))
}

func (p *gramPass) Cells() mechanism.Cells {
	return p.gram.Cells()
}

// Statistics lists the statistics of this package, for workers.
func Statistics() []mechanism.Statistic {
	return []mechanism.Statistic{gramStatistic{}, publicGramStatistic{}, labelStatistic{},
		labelGradientStatistic{}}
}
