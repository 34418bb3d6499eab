package linear

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// Errors of Plan. They depend on the recipe only.
var (
	// ErrTarget is returned where the last column is no category column of at
	// least two classes.
	ErrTarget = errors.New(
		"the target must be a category column with at least two declared classes")
	// ErrFeatures is returned if there is no column other than the target.
	ErrFeatures = errors.New("a classifier needs at least one feature")
	// ErrLambda is returned for a penalty outside [LeastLambda, MostLambda].
	ErrLambda = errors.New("the penalty lambda is out of range")
)

// A ClassFrame describes the encoding of records and the conversion of coefficients to original units. It holds
// public facts only.
type ClassFrame struct {
	columns []dataset.Column // features
	Encoder *scaling.Encoder // of the features
	target  dataset.Column
}

// NewClassFrame returns the frame of the columns, the target last. ranges is nil for
// planning; otherwise it has one entry per column, and that of the target is not
// looked at.
func NewClassFrame(
	columns []dataset.Column,
	ranges []scaling.Range,
) (*ClassFrame, error) {
	last := len(columns) - 1
	if last < 0 || columns[last].Kind != dataset.Category || len(columns[last].Categories) < 2 {
		return nil, ErrTarget
	}
	f := ClassFrameOf(columns, ranges)
	return f, CheckWidth(f.Slots()+1, "entries a row")
}

// ClassFrameOf is [NewClassFrame] where a plan has checked the columns.
func ClassFrameOf(
	columns []dataset.Column,
	ranges []scaling.Range,
) *ClassFrame {
	last := len(columns) - 1
	f := &ClassFrame{
		columns: columns[:last],
		target:  columns[last],
	}
	if ranges != nil {
		ranges = ranges[:last]
	}
	f.Encoder = scaling.NewEncoder(f.columns, ranges)
	return f
}

// PlanClassFrame returns the frame of a plan, which needs a feature. A run may have no feature if the range of
// no column could be found: its model is then a constant.
func PlanClassFrame(columns []dataset.Column) (*ClassFrame, error) {
	f, err := NewClassFrame(columns, nil)
	if err == nil && f.Slots() == 0 { // no column, or category columns without a category
		return nil, ErrFeatures
	}
	return f, err
}

// Slots returns the number of entries of an encoded row, without the constant.
func (f *ClassFrame) Slots() int {
	return len(f.Encoder.Slots())
}

// Classes returns the number of classes.
func (f *ClassFrame) Classes() int {
	return len(f.target.Categories)
}

// Scores returns the number of scores for the classes.
func (f *ClassFrame) Scores() int {
	if f.Classes() == 2 {
		return 1
	}
	return f.Classes()
}

// NewRows returns memory for the rows of one goroutine.
func (f *ClassFrame) NewRows() *ClassRows {
	return &ClassRows{
		Rows:   *NewRows(f.Encoder),
		column: len(f.columns),
	}
}

// ClassRows are rows of features with the constant, and the codes of the classes.
type ClassRows struct {
	Rows
	Codes []int32

	column int // of the target
}

// Encode replaces X and Codes by those of a block.
func (r *ClassRows) Encode(b dataset.Block) {
	r.Rows.Encode(b)
	r.Codes = b.Codes(r.column, slices.Grow(r.Codes[:0], b.Len())[:b.Len()])
}

// encodeInClass is Encode with 0 for the rows of records in no class.
func (r *ClassRows) encodeInClass(b dataset.Block, classes int) {
	r.Encode(b)
	for i, k := range r.Codes {
		if uint32(k) >= uint32(classes) {
			for _, column := range r.X {
				column[i] = 0
			}
		}
	}
}

// Linear converts theta, one weight per slot of the scaled row followed by that of the constant entry, with the
// covariance of the noise in the weights, to original units:
//
//	score = constant theta_0 + sum_j theta_j (x_j - c_j)/h_j,
//
// with c the middles and h the half widths of the ranges; the indicator of a category is its own scaled value,
// and that of a missing cell is multiplied by [scaling.MissingEntry].
func (f *ClassFrame) Linear(
	theta []float64,
	cov mat.Symmetric,
	constant float64,
) regression.Linear {
	m := regression.Linear{
		Target:  f.target.Name,
		Columns: Inputs(f.columns, f.Encoder),
		Lower:   -regression.Unbounded,
		Upper:   regression.Unbounded,
	}
	g := mat.NewVecDense(len(theta), nil) // the intercept is g.theta
	for i, slot := range f.Encoder.Slots() {
		term := regression.Term{Column: slot.Column}
		unit := 1.
		c := f.columns[slot.Column]
		switch {
		case slot.Category == scaling.NumberSlot:
			r := f.Encoder.Range(slot.Column)
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

// Fit is the fit of one score per class, or of two classes of one score.
func (f *ClassFrame) Fit(scores []regression.Model) *method.Fit {
	return &method.Fit{
		Model: &regression.Classifier{
			Target:  f.target.Name,
			Classes: f.target.Categories,
			Scores:  scores,
		},
		Scale: method.LogOdds,
	}
}
