package regression

import (
	"fmt"
	"math"
	"sort"
)

// An Interval says how far targets lie from predictions: a fresh record's target
// is within HalfWidth of its prediction with a probability of about Level.
type Interval struct {
	Level     float64 `json:"level"`      // in (0, 1)
	HalfWidth float64 `json:"half_width"` // in units of the target, finite and > 0
}

// Probability turns the score s of a row into the probability of the second class: a curve that is linear
// between points, or without points 1/(1 + exp(-(Intercept + Slope s))).
type Probability struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"` // >= 0
	// Scores increase, and Values, in [0, 1], do not decrease. Below the first and above the last score the curve is
	// constant. Where there are points, Intercept and Slope are the line of log odds that the curve refines.
	Scores []float64 `json:"scores,omitempty" format:"2?,3?"`
	Values []float64 `json:"values,omitempty" format:"2?,3?"` // one per score
}

// At returns the probability, in [0, 1], at a finite score.
func (p Probability) At(score float64) float64 {
	if len(p.Scores) == 0 {
		return 1 / (1 + math.Exp(-(p.Intercept + float64(p.Slope*score)))) // the conversion forbids fusing
	}
	above := sort.SearchFloat64s(p.Scores, score) // the first point at or above score
	switch above {
	case 0:
		return p.Values[0]
	case len(p.Scores):
		return p.Values[above-1]
	}
	from, to := p.Scores[above-1], p.Scores[above]
	low, high := p.Values[above-1], p.Values[above]
	share := (score - from) / (to - from)
	return min(low+float64((high-low)*share), high)
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
	case len(p.Scores) != len(p.Values):
		return &ModelError{"probability.values", "must have one number per score"}
	}
	return p.validPoints()
}

// validPoints reports scores that do not increase, and values that decrease or leave [0, 1].
func (p *Probability) validPoints() error {
	if p == nil {
		return nil
	}
	for k, score := range p.Scores {
		value := p.Values[k]
		switch {
		case !finite(score) || k > 0 && score <= p.Scores[k-1]:
			return &ModelError{fmt.Sprintf("probability.scores[%d]", k), "must be finite and above the one before"}
		case !(value >= 0 && value <= 1) || k > 0 && value < p.Values[k-1]:
			return &ModelError{fmt.Sprintf("probability.values[%d]", k), "must be within [0, 1] and not below the one before"}
		}
	}
	return nil
}
