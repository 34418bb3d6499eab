package regression

import (
	"fmt"
	"math"
	"sort"
)

// An Interval is a prediction interval: the target of a new record is within HalfWidth of its prediction with
// probability about Level.
type Interval struct {
	Level     float64 `json:"level"`      // in (0, 1)
	HalfWidth float64 `json:"half_width"` // in units of the target, finite and > 0
}

// Probability maps the score s of a row to the probability of the second class: by linear interpolation between
// points, or, without points, as 1/(1 + exp(-(Intercept + Slope s))).
type Probability struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"` // >= 0
	// Scores increase; Values, in [0, 1], do not decrease. The curve is constant below the first and above the
	// last score. If there are points, Intercept and Slope are the logistic fit that the curve refines.
	Scores []float64 `json:"scores,omitempty" format:"2?,3?"`
	Values []float64 `json:"values,omitempty" format:"2?,3?"` // one per score
}

// Evaluate returns the probability, in [0, 1], at a finite score.
func (p Probability) Evaluate(score float64) float64 {
	if len(p.Scores) == 0 {
		return 1 / (1 + math.Exp(-(p.Intercept + float64(p.Slope*score)))) // the conversion forbids fusing
	}
	above := sort.SearchFloat64s(p.Scores, score) // index of the first point at or above score
	switch above {
	case 0:
		return p.Values[0]
	case len(p.Scores):
		return p.Values[above-1]
	}
	from := p.Scores[above-1]
	to := p.Scores[above]
	low := p.Values[above-1]
	high := p.Values[above]
	share := (score - from) / (to - from)
	return min(low+float64((high-low)*share), high)
}

// IntervalsOf returns the prediction intervals of a model by increasing level, or nil if it has none.
func IntervalsOf(m Model) []Interval {
	if l := LinearPart(m); l != nil {
		return l.Intervals
	}
	return nil
}

// WithIntervals sets the prediction intervals of a new regression model, ordered by increasing level. It
// reports whether the kind of m supports them.
func WithIntervals(m Model, list []Interval) bool {
	l := LinearPart(m)
	if l != nil {
		l.Intervals = list
	}
	return l != nil
}

// WithGuarantee sets the privacy guarantee of a new model. It reports whether the kind of m can hold one.
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

// LinearPart returns the linear model that m is or embeds, or nil. Changes to it change m.
func LinearPart(m Model) *Linear {
	if m, ok := m.(linearBased); ok {
		return m.linearPart()
	}
	return nil
}

// validIntervals validates that levels are in (0, 1) and increase, and that half widths are finite, above 0 and
// do not decrease.
func validIntervals(list []Interval) error {
	for i, v := range list {
		path := fmt.Sprintf("interval[%d]", i)
		switch {
		case !(v.Level > 0 && v.Level < 1):
			return &ModelError{path + ".level", "must be above 0 and below 1"}
		case !isFinite(v.HalfWidth) || v.HalfWidth <= 0:
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
	case !isFinite(p.Intercept):
		return &ModelError{"probability.intercept", "is not finite"}
	case !isFinite(p.Slope) || p.Slope < 0:
		return &ModelError{"probability.slope", "must be finite and at least 0"}
	case len(p.Scores) != len(p.Values):
		return &ModelError{"probability.values", "must have one number per score"}
	}
	return p.validPoints()
}

// validPoints validates that scores increase and that values stay in [0, 1] and do not decrease.
func (p *Probability) validPoints() error {
	if p == nil {
		return nil
	}
	for k, score := range p.Scores {
		value := p.Values[k]
		switch {
		case !isFinite(score) || k > 0 && score <= p.Scores[k-1]:
			return &ModelError{fmt.Sprintf("probability.scores[%d]", k),
				"must be finite and above the one before"}
		case !(value >= 0 && value <= 1) || k > 0 && value < p.Values[k-1]:
			return &ModelError{fmt.Sprintf("probability.values[%d]", k),
				"must be within [0, 1] and not below the one before"}
		}
	}
	return nil
}
