package tukey

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// frame holds the public facts needed to fit buckets and to convert a point to a model. Points have one slope
// per slot, in units of the target per unit of the column, followed by the prediction at the anchor.
type frame struct {
	columns []dataset.Column
	slots   []scaling.Slot
	cells   []cell    // one per column
	anchors []float64 // one per slot
	jitter  []float64 // maximum shift of each coordinate by its coin
	target  scaling.Range
}

// jitterWidth bounds the coins added to every coordinate, in half widths of the target's range: a slope times
// half the width of its column's range changes by at most this amount.
//
// Without coins, a coordinate that has the same value in many buckets (the slope of a rare category is 0 in
// every bucket without it) has intervals that collapse from one depth to the next, which the check treats as
// instability. With coins, the width of an interval is at least about that of the jitter. Coins depend on the
// bucket's number and not on records.
const jitterWidth = 0x1p-8

// cell describes the treatment of the cells of a numeric column, in training and in prediction: a missing cell
// is replaced by missing, then all are clamped.
type cell struct{ lower, upper, missing float64 }

func (c cell) prepareValue(x float64) float64 {
	if x != x {
		x = c.missing
	}
	return min(max(x, c.lower), c.upper)
}

// slotsOf lists the slots of the features.
func slotsOf(columns []dataset.Column) []scaling.Slot {
	return scaling.NewEncoder(columns[:len(columns)-1], nil).Slots()
}

func newFrame(columns []dataset.Column, ranges []scaling.Range) *frame {
	last := len(columns) - 1
	f := &frame{
		columns: columns,
		slots:   slotsOf(columns),
		cells:   make([]cell, len(columns)),
		target:  ranges[last],
	}
	for j, c := range columns {
		f.cells[j] = cell{-regression.Unbounded, regression.Unbounded, ranges[j].Fill()}
		if c.Ranged {
			f.cells[j].lower = c.Lower
			f.cells[j].upper = c.Upper
		}
		if c.HasMissing {
			f.cells[j].missing = c.Missing
		}
	}
	for _, slot := range f.slots {
		anchor := ranges[slot.Column].Fill()
		half := ranges[slot.Column].Half()
		switch {
		case slot.Category == scaling.MissingSlot:
			anchor = 0
			half = 1
		case slot.Category >= 0:
			anchor = 1 / float64(categoryLevels(columns[slot.Column]))
			half = 1
		}
		f.anchors = append(f.anchors, anchor)
		f.jitter = append(f.jitter, slopeJitter(f.target, half))
	}
	f.jitter = append(f.jitter, slopeJitter(f.target, 1))
	return f
}

// slopeJitter returns the jitter of a slope whose column extends half from its anchor; 0 if half is unknown.
func slopeJitter(target scaling.Range, half float64) float64 {
	if width := jitterWidth * target.Half() / half; width < regression.Unbounded {
		return width
	}
	return 0
}

// categoryLevels returns the number of slots of a category column.
func categoryLevels(c dataset.Column) int {
	if c.Other {
		return len(c.Categories) + 1
	}
	return len(c.Categories)
}

// fit converts a point to a model.
func (f *frame) fit(point []float64) *method.Fit {
	last := len(f.columns) - 1
	m := &regression.Linear{
		Target:  f.columns[last].Name,
		Columns: make([]regression.Column, last),
		Lower:   f.target.Lower,
		Upper:   f.target.Upper,
	}
	for j, c := range f.columns[:last] {
		in := regression.Column{
			Name:       c.Name,
			Type:       regression.Category,
			Categories: c.Categories,
			Other:      c.Other,
			TextRule:   regression.TextRule(c.TextRule),
		}
		if c.Kind == dataset.Numeric {
			in = regression.Column{
				Name:    c.Name,
				Lower:   f.cells[j].lower,
				Upper:   f.cells[j].upper,
				Missing: f.cells[j].missing,
			}
		}
		m.Columns[j] = in
	}
	m.Intercept = point[len(f.slots)]
	for i, slot := range f.slots {
		term := regression.Term{
			Column:      slot.Column,
			Coefficient: point[i],
			Missing:     slot.Category == scaling.MissingSlot,
		}
		if c := f.columns[slot.Column]; slot.Category >= 0 {
			if term.Other = slot.Category == len(c.Categories); !term.Other {
				term.Category = c.Categories[slot.Category]
			}
		}
		m.Terms = append(m.Terms, term)
		m.Intercept -= point[i] * f.anchors[i]
	}
	return &method.Fit{
		Model:      m,
		TargetMean: f.target.Center(),
	}
}
