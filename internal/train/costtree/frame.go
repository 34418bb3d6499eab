package costtree

import (
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/greedy"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// A frame describes the encoding of a record: the scaled features, the target and the constant [linear.Kappa],
// limited to norm B as a whole, as in joint-gram. Classes are a block of one 0/1 entry each. It holds public
// facts only.
type frame struct {
	columns []dataset.Column // features, and then the target
	enc     *scaling.Encoder
	first   int // number of entries of the features, and index of the first entry of the target
	side    int // entries of a row, the constant last
}

// newFrame returns the frame of the columns, the target last. If ranges is nil, the frame can only be used for
// planning.
func newFrame(columns []dataset.Column, ranges []scaling.Range) *frame {
	last := len(columns) - 1
	if ranges != nil && columns[last].Kind == dataset.Category {
		ranges = append(ranges[:last:last], scaling.Range{
			Lower:    -1,
			Upper:    1,
			Declared: true,
		})
	}
	f := &frame{
		columns: columns,
		enc:     scaling.NewEncoder(columns, ranges),
	}
	slots := f.enc.Slots()
	for f.first < len(slots) && slots[f.first].Column < last {
		f.first++
	}
	f.side = len(slots) + 1
	return f
}

// targetRange returns the range of the target.
func (f *frame) targetRange() scaling.Range {
	return f.enc.Range(len(f.columns) - 1)
}

// targetMean returns the mean of a numeric target, from the sums of its products with the constant and of the
// constant's square, limited to the target's range.
func (f *frame) targetMean(r greedy.Released) float64 {
	last := f.side - 1
	return linear.MeanOf(f.targetRange(), r.Entry(f.first, last), r.Entry(last, last))
}

// rows encodes blocks for one goroutine.
type rows struct {
	*linear.Rows
	first int // of the target's entries
}

func newRows(f *frame) rows {
	return rows{linear.NewRows(f.enc), f.first}
}

// scoreInto writes the products of weights, those of the features and of the constant, with the rows.
func (r *rows) scoreInto(out, weights []float64) {
	clear(out)
	for k, w := range weights {
		if w == 0 {
			continue
		}
		column := r.X[len(r.X)-1]
		if k < r.first {
			column = r.X[k]
		}
		w /= mechanism.FixedOne
		for i, v := range column {
			if v != 0 {
				out[i] += float64(w * float64(v)) // the conversion forbids fusing
			}
		}
	}
}

// originalUnits converts a score in scaled units,
//
//	center + half theta.z,
//
// with z the scaled features and the constant, to an intercept and one coefficient per entry in original units.
func (f *frame) originalUnits(
	theta []float64,
	center, half float64,
) (intercept float64, coefficients []float64) {
	intercept = center + half*linear.Kappa*theta[f.first]
	coefficients = make([]float64, f.first)
	for i, slot := range f.enc.Slots()[:f.first] {
		unit, middle := f.slotUnit(slot)
		coefficients[i] = half * unit * theta[i]
		intercept -= coefficients[i] * middle
	}
	return intercept, coefficients
}

// slotUnit returns the slope of an entry per unit of its column and the value at which the entry is 0: 1/h and c
// for a number whose range has the middle c and the half width h.
func (f *frame) slotUnit(slot scaling.Slot) (unit, middle float64) {
	switch slot.Category {
	case scaling.NumberSlot:
		r := f.enc.Range(slot.Column)
		return 1 / r.Half(), r.Center()
	case scaling.MissingSlot:
		return scaling.MissingEntry, 0
	}
	return 1, 0
}

// slotTerm returns the term of an entry, without its column index.
func (f *frame) slotTerm(slot scaling.Slot) regression.Term {
	switch categories := f.columns[slot.Column].Categories; {
	case slot.Category == scaling.NumberSlot:
		return regression.Term{}
	case slot.Category == scaling.MissingSlot:
		return regression.Term{Missing: true}
	case slot.Category == len(categories):
		return regression.Term{Other: true}
	default:
		return regression.Term{Category: categories[slot.Category]}
	}
}

// medianPoints returns the public points among which a median of scores, in scaled units, is chosen.
func medianPoints() []float64 {
	points := make([]float64, 601)
	for i := range points {
		points[i] = float64(i-300) / 200
	}
	return points
}

// sigmoid returns 1/(1 + e^-x).
func sigmoid(x float64) float64 {
	return 1 / (1 + math.Exp(-x))
}
