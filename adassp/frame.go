package adassp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/method"
	"github.com/dptrain/dptrain/internal/scaling"
	"github.com/dptrain/dptrain/regression"
)

// A Frame says how the trainers that keep features and target apart see a
// record, and how they write what they learned: x, the scaled features with the
// constant [Kappa] last, to be limited to norm B as a whole, and y, the target
// scaled to [-1, 1], which no limit but that clamp touches. It holds public
// facts only.
type Frame struct {
	columns []dataset.Column
	enc     *scaling.Encoder
	slots   int
	limit   float64
}

// NewFrame returns the frame of the columns, the numeric target last, with one
// range a column. Without ranges (nil) it serves for planning only. Features
// encode to at most [MaxSlots] entries of x, or it gives [ErrTooWide].
func NewFrame(columns []dataset.Column, ranges []scaling.Range) (*Frame, error) {
	f := frameOf(columns, ranges)
	return f, checkWidth(f.slots)
}

func frameOf(columns []dataset.Column, ranges []scaling.Range) *Frame {
	features := scaling.NewEncoder(columns[:len(columns)-1], nil)
	return &Frame{columns: columns, enc: scaling.NewEncoder(columns, ranges), slots: len(features.Slots()) + 1, limit: features.NormLimit(Kappa)}
}

// checkWidth refuses rows with too many entries.
func checkWidth(slots int) error {
	if slots > MaxSlots {
		return fmt.Errorf("%w: %d entries a row, at most %d; choose features first (selection) or exclude columns", ErrTooWide, slots, MaxSlots)
	}
	return nil
}

// Slots returns the number of entries of x, the constant included.
func (f *Frame) Slots() int { return f.slots }

// NormLimit returns B^2, the public limit on |x|^2: the feature part of
// [scaling.Encoder.NormLimit].
func (f *Frame) NormLimit() float64 { return f.limit }

// Target returns the range of the target.
func (f *Frame) Target() scaling.Range { return f.enc.Range(len(f.columns) - 1) }

// Rows is the reusable memory in which one goroutine encodes blocks.
type Rows struct {
	X [][]int16 // one slice per entry of x, fixed-point; its norm is not limited yet
	Y []float64 // the target, in [-1, 1], on the grid of X

	enc     *scaling.Encoder
	target  []int16
	slices  [][]int16
	scratch scaling.Scratch
}

// NewRows returns memory for the blocks of one goroutine.
func (f *Frame) NewRows() *Rows { return &Rows{X: make([][]int16, f.slots), enc: f.enc} }

// Encode replaces X and Y by the rows of a block.
func (r *Rows) Encode(b dataset.Block) {
	n := b.Len()
	for k := range r.X {
		r.X[k] = grow(r.X[k], n)
	}
	r.target, r.Y = grow(r.target, n), grow(r.Y, n)
	last := len(r.X) - 1
	r.slices = append(append(r.slices[:0], r.X[:last]...), r.target)
	r.enc.Encode(b, r.slices, &r.scratch)
	for i, y := range r.target {
		r.X[last][i] = scaling.FixedPoint(Kappa)
		r.Y[i] = float64(y) / mechanism.FixedOne
	}
}

// grow returns a slice of length n, reusing buf where it has room.
func grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// Fit states coefficients of the scaled target by the entries of x, with the
// covariance of the privacy noise in them, as a model that shortens rows as
// training did. cross is the noisy sum of kappa w y, w the factors by which rows
// were shortened, from which with the noisy number of records in d the target's
// mean is read.
func (f *Frame) Fit(theta []float64, cov *mat.SymDense, cross float64, d Distribution) *method.Fit {
	m := &regression.ClippedLinear{
		Linear:   *linear(f.columns, f.enc, solution{theta, cov}, d, false),
		Constant: Kappa, Norm: math.Sqrt(f.limit),
	}
	mean := meanOf(f.Target(), cross, d.product(d.constant(), d.constant()).value)
	return fitOf(m, mean, spreads(f.columns, f.enc, solution{theta, cov}, d))
}
