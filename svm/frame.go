package svm

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/method"
	"github.com/dptrain/dptrain/internal/scaling"
	"github.com/dptrain/dptrain/regression"
)

// Errors of Plan. They depend on the recipe only.
var (
	// ErrTarget is returned where the last column is no category column of at
	// least two classes.
	ErrTarget = errors.New("the target must be a category column with at least two declared classes")
	// ErrFeatures is returned where there is no column beside the target.
	ErrFeatures = errors.New("a classifier needs at least one feature")
	// ErrLambda is returned for a penalty outside [LeastLambda, MostLambda].
	ErrLambda = errors.New("the penalty lambda is out of range")
)

// A frame says how a record is seen and how what was learned is written. It
// holds public facts only.
type frame struct {
	columns []dataset.Column // features
	enc     *scaling.Encoder // of the features
	target  dataset.Column
}

// newFrame returns the frame of the columns, the target last. ranges is nil for
// planning; otherwise it has one entry per column, and that of the target is not
// looked at.
func newFrame(columns []dataset.Column, ranges []scaling.Range) (*frame, error) {
	last := len(columns) - 1
	if last < 0 || columns[last].Kind != dataset.Category || len(columns[last].Categories) < 2 {
		return nil, ErrTarget
	}
	f := frameOf(columns, ranges)
	slots := f.slots()
	if slots+1 > adassp.MaxSlots {
		return nil, fmt.Errorf("%w: %d entries a row, at most %d; choose features first (selection) or exclude columns", adassp.ErrTooWide, slots+1, adassp.MaxSlots)
	}
	return f, nil
}

func frameOf(columns []dataset.Column, ranges []scaling.Range) *frame {
	last := len(columns) - 1
	f := &frame{columns: columns[:last], target: columns[last]}
	if ranges != nil {
		ranges = ranges[:last]
	}
	f.enc = scaling.NewEncoder(f.columns, ranges)
	return f
}

// planFrame returns the frame of a plan, which needs a feature. A run may have none,
// where the range of no column could be found: its model is a constant.
func planFrame(columns []dataset.Column) (*frame, error) {
	f, err := newFrame(columns, nil)
	if err == nil && f.slots() == 0 { // no column, or category columns without a category
		return nil, ErrFeatures
	}
	return f, err
}

// slots returns the number of entries of an encoded row, without the constant.
func (f *frame) slots() int { return len(f.enc.Slots()) }

// classes returns the number of classes, scores how many scores they take.
func (f *frame) classes() int { return len(f.target.Categories) }

func (f *frame) scores() int {
	if f.classes() == 2 {
		return 1
	}
	return f.classes()
}

// rows is the reusable memory in which one goroutine encodes blocks.
type rows struct {
	frame   *frame
	x       [][]int16
	codes   []int32 // of the classes; memory to gather them in
	scratch scaling.Scratch
}

// encode writes the fixed-point rows of a block to the first slots of x, which
// has at least as many, and returns the codes of the classes.
func (r *rows) encode(b dataset.Block) []int32 {
	n := b.Len()
	for k := range r.x {
		r.x[k] = grow(r.x[k], n)
	}
	r.frame.enc.Encode(b, r.x[:r.frame.slots()], &r.scratch)
	r.codes = grow(r.codes, n)
	return b.Codes(len(r.frame.columns), r.codes)
}

// grow returns a slice of length n, reusing buf where it has room.
func grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// linear states theta, one weight per slot of the scaled row and then that of the
// constant entry, with the covariance of the noise in them, in original units:
//
//	score = constant theta_0 + sum_j theta_j (x_j - c_j)/h_j,
//
// c the middles and h the half widths of the ranges; a category's indicator is
// its own scaled value, and that of a missing cell times [scaling.MissingEntry].
func (f *frame) linear(theta []float64, cov mat.Symmetric, constant float64) regression.Linear {
	m := regression.Linear{
		Target: f.target.Name, Columns: f.inputs(),
		Lower: -regression.Unbounded, Upper: regression.Unbounded,
	}
	g := mat.NewVecDense(len(theta), nil) // the intercept is g.theta
	for i, slot := range f.enc.Slots() {
		term, unit := regression.Term{Column: slot.Column}, 1.
		c := f.columns[slot.Column]
		switch {
		case slot.Category == scaling.NumberSlot:
			r := f.enc.Range(slot.Column)
			unit /= r.Half()
			g.SetVec(i, -unit*r.Center())
		case slot.Category == scaling.MissingSlot:
			unit *= scaling.MissingEntry
			term.Missing = true
		default:
			if term.Other = slot.Category == len(c.Categories); !term.Other {
				term.Category = c.Categories[slot.Category]
			}
		}
		term.Coefficient = unit * theta[i]
		term.StdError = math.Abs(unit) * math.Sqrt(max(0, cov.At(i, i)))
		m.Terms = append(m.Terms, term)
	}
	g.SetVec(len(theta)-1, constant)
	m.Intercept = mat.Dot(g, mat.NewVecDense(len(theta), theta))
	m.InterceptStdError = math.Sqrt(max(0, mat.Inner(g, cov, g)))
	return m
}

// inputs returns the model's input columns: the clamps are the ranges of
// training.
func (f *frame) inputs() []regression.Column {
	out := make([]regression.Column, len(f.columns))
	for j, c := range f.columns {
		out[j] = regression.Column{Name: c.Name, Type: regression.Category, Categories: c.Categories, Other: c.Other}
		if c.Kind == dataset.Numeric {
			r := f.enc.Range(j)
			out[j] = regression.Column{Name: c.Name, Lower: r.Lower, Upper: r.Upper, Missing: f.enc.Missing(j)}
		}
	}
	return out
}

func (f *frame) fit(scores []regression.Model) *method.Fit {
	return &method.Fit{
		Model: &regression.Classifier{Target: f.target.Name, Classes: f.target.Categories, Scores: scores},
		Scale: method.LogOdds,
	}
}
