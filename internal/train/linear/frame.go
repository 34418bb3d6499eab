package linear

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// A Frame describes the encoding of a record by the trainers that separate features and target, and the
// conversion of their results: x, the scaled features with the constant [Kappa] last, to be limited to norm B
// as a whole, and y, the target scaled and clamped to [-1, 1] and not limited otherwise. It holds public facts
// only.
type Frame struct {
	columns []dataset.Column
	enc     *scaling.Encoder
	slots   int
	limit   float64
}

// NewFrame returns the frame of the columns, the numeric target last, with one
// range a column. Without ranges (nil) it serves for planning only. Features
// encode to at most [MaxSlots] entries of x, or it gives [ErrTooWide].
func NewFrame(
	columns []dataset.Column,
	ranges []scaling.Range,
) (*Frame, error) {
	f := FrameOf(columns, ranges)
	return f, CheckWidth(f.slots, "entries a row")
}

// FrameOf is [NewFrame] where a plan has checked the width.
func FrameOf(columns []dataset.Column, ranges []scaling.Range) *Frame {
	features := scaling.NewEncoder(columns[:len(columns)-1], nil)
	return &Frame{
		columns: columns,
		enc:     scaling.NewEncoder(columns, ranges),
		slots:   len(features.Slots()) + 1,
		limit:   features.NormLimit(Kappa),
	}
}

// CheckWidth returns [ErrTooWide] if entries exceeds [MaxSlots]. what names the entries in the message.
func CheckWidth(entries int, what string) error {
	if entries > MaxSlots {
		return fmt.Errorf(
			"%w: %d %s, but at most %d are allowed; select features or exclude columns",
			ErrTooWide,
			entries,
			what,
			MaxSlots,
		)
	}
	return nil
}

// Slots returns the number of entries of x, the constant included.
func (f *Frame) Slots() int {
	return f.slots
}

// NormLimit returns B^2, the public limit on |x|^2: the feature part of
// [scaling.Encoder.NormLimit].
func (f *Frame) NormLimit() float64 {
	return f.limit
}

// Target returns the range of the target.
func (f *Frame) Target() scaling.Range {
	return f.enc.Range(len(f.columns) - 1)
}

// NewRows returns memory for the blocks of one goroutine. The norm of its rows is not limited.
func (f *Frame) NewRows() *TargetRows {
	return &TargetRows{
		X:   make([][]int16, f.slots),
		all: NewRows(f.enc),
	}
}

// NewLimitedRows returns memory for the blocks of one goroutine. The features of its rows are
// limited by themselves, so that the constant keeps its weight and the mean residual of a fit is 0
// over long rows too. Rows are then within [Frame.LimitedNorm], which accumulators enforce.
func (f *Frame) NewLimitedRows(m mechanism.Maker) *TargetRows {
	r := f.NewRows()
	r.limit = m.NewShortener(f.slots-1, f.featureLimit())
	return r
}

// featureLimit returns F^2, the public limit on the squared norm of the features: that of
// [scaling.Encoder.NormLimit], but at least 1. A single column is never shortened, because without a constant
// all rows beyond the limit would become equal.
func (f *Frame) featureLimit() float64 {
	return max(f.limit-Kappa*Kappa, 1)
}

// LimitedNorm returns B^2, the public limit on |x|^2 for [Frame.NewLimitedRows].
func (f *Frame) LimitedNorm() float64 {
	return f.featureLimit() + Kappa*Kappa
}

// Fit converts coefficients of the scaled target by the entries of x, with the covariance of the privacy noise
// in them, to a model that shortens features as [Frame.NewLimitedRows] does. cross is the noisy sum of kappa y,
// from which, with the noisy number of records in d, the target's mean is computed.
func (f *Frame) Fit(
	theta []float64,
	cov *mat.SymDense,
	cross float64,
	d Distribution,
) *method.Fit {
	y := f.Target()
	center := y.Center() + y.Half()*Kappa*theta[f.slots-1]
	m := &regression.ClippedLinear{
		Linear: *Model(f.columns, f.enc, Solution{theta, cov}, d, false),
		Norm:   math.Sqrt(f.featureLimit()),
		Center: &center,
	}
	mean := MeanOf(
		f.Target(),
		cross,
		d.sumOfProducts(d.constantIndex(), d.constantIndex()).value,
	)
	return FitOf(m, mean, Spreads(f.columns, f.enc, Solution{theta, cov}, d))
}
