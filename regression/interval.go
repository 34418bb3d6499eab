package regression

import (
	"fmt"
	"math"
)

// An Interval says how far targets lie from predictions: a fresh record's target
// is within HalfWidth of its prediction with a probability of about Level.
type Interval struct {
	Level     float64 `json:"level"`      // in (0, 1)
	HalfWidth float64 `json:"half_width"` // in units of the target, finite and > 0
}

// Probability turns the score s of a row into the probability of the second
// class, 1/(1 + exp(-(Intercept + Slope s))).
type Probability struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"` // >= 0
}

// At returns the probability, in [0, 1], at a finite score.
func (p Probability) At(score float64) float64 {
	return 1 / (1 + math.Exp(-(p.Intercept + float64(p.Slope*score)))) // the conversion forbids fusing
}

// IntervalsOf returns the intervals of prediction of a model, by increasing
// level: none for a model without them.
func IntervalsOf(m Model) []Interval {
	if l := LinearPart(m); l != nil {
		return l.Intervals
	}
	return nil
}

// WithIntervals sets the intervals of prediction of a regression model before it
// is handed on, and reports whether its kind has any. list goes by increasing
// level.
func WithIntervals(m Model, list []Interval) bool {
	l := LinearPart(m)
	if l != nil {
		l.Intervals = list
	}
	return l != nil
}

// WithGuarantee writes what training guaranteed into a model before it is handed on,
// and reports whether its kind has a place for it.
func WithGuarantee(m Model, g *Guarantee) bool {
	if c, ok := m.(*Classifier); ok {
		c.Guarantee = g
		return true
	}
	l := LinearPart(m)
	if l != nil {
		l.Guarantee = g
	}
	return l != nil
}

// LinearPart returns the linear model that m is or embeds, or nil: what is written to
// it is seen in m.
func LinearPart(m Model) *Linear {
	if m, ok := m.(linearBased); ok {
		return m.linear()
	}
	return nil
}

// validIntervals reports a level outside (0, 1), a half width that is not finite
// and above 0, levels that do not increase and half widths that decrease.
func validIntervals(list []Interval) error {
	for i, v := range list {
		path := fmt.Sprintf("interval[%d]", i)
		switch {
		case !(v.Level > 0 && v.Level < 1):
			return &ModelError{path + ".level", "must be above 0 and below 1"}
		case !finite(v.HalfWidth) || v.HalfWidth <= 0:
			return &ModelError{path + ".half_width", "must be finite and above 0"}
		case i > 0 && v.Level <= list[i-1].Level:
			return &ModelError{path + ".level", "is not above the one before"}
		case i > 0 && v.HalfWidth < list[i-1].HalfWidth:
			return &ModelError{path + ".half_width", "is below that of a lower level"}
		}
	}
	return nil
}

func (p *Probability) validate(classes int) error {
	switch {
	case p == nil:
	case classes > 2:
		return &ModelError{"probability", "is for two classes"}
	case !finite(p.Intercept):
		return &ModelError{"probability.intercept", "is not finite"}
	case !finite(p.Slope) || p.Slope < 0:
		return &ModelError{"probability.slope", "must be finite and at least 0"}
	}
	return nil
}
