package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Confidence describes how certain the private choice of features is. It is computed from released numbers and costs
// no budget (docs/proofs/confidence.md, "What each selector releases").
type Confidence struct {
	Selector string `json:"selector"`
	// Columns has every candidate, in decreasing order of probability; empty for a selector that releases no scores.
	Columns []ChoiceProbability `json:"columns"`
	// Gap bounds the error of a selector that releases no scores. It is nil, and absent from the file, for other
	// selectors and if no bound is known.
	Gap     *ChoiceGap `json:"gap,omitempty"`
	Meaning string     `json:"meaning"` // a summary in sentences
}

// ChoiceProbability is the posterior probability that a column is among those that the same rule would choose without
// noise.
type ChoiceProbability struct {
	Column      string  `json:"column"`
	Chosen      bool    `json:"chosen"`
	Probability float64 `json:"probability"`
}

// ChoiceGap bounds the error of a choice whose scores are not released: with probability Level, every choice has a
// score within Score of the best.
type ChoiceGap struct {
	Score  float64 `json:"score"` // in units of Scores
	Level  float64 `json:"level"`
	Scores string  `json:"scores"` // the quantity by which the columns are ranked
	Reach  string  `json:"reach"`  // the largest possible score
}

// confidenceOf returns the confidence of the choice of a run; nil if no features were chosen privately.
func confidenceOf(res *pipeline.Result) *Confidence {
	c := res.Confidence
	if c == nil {
		return nil
	}
	out := &Confidence{
		Selector: c.Selector,
		Columns:  []ChoiceProbability{},
	}
	for _, x := range c.Columns {
		out.Columns = append(out.Columns,
			ChoiceProbability{x.Column, slices.Contains(res.Selected, x.Column), x.Probability})
	}
	slices.SortStableFunc(out.Columns, func(a, b ChoiceProbability) int {
		switch {
		case a.Probability > b.Probability:
			return -1
		case a.Probability < b.Probability:
			return 1
		}
		return 0
	})
	if len(out.Columns) > 0 {
		out.Meaning = "The probability that the same rule would select a column without noise, given the released values."
		return out
	}
	out.Meaning = fmt.Sprintf(
		"The selector %s releases only the selected columns, not their scores, so there are no probabilities; dpfsdr, dpfs, crfs and greedy-gram provide them.",
		c.Selector)
	g := c.Gap
	if g == nil || math.IsInf(g.Score, 0) {
		return out
	}
	out.Gap = &ChoiceGap{
		Score:  g.Score,
		Level:  g.Level,
		Scores: g.Scores,
		Reach:  g.Reach,
	}
	bound := "no rejected column scores more than %s above a selected one"
	if g.Rounds {
		bound = "no round picked a column that scores more than %s below the best column of that round"
	}
	out.Meaning += fmt.Sprintf(" With %g%% probability, "+bound+
		". The score is the %s; the largest possible one is %s.",
		100*g.Level, short(g.Score), g.Scores, g.Reach)
	return out
}

const (
	mostChoices = 12 // number of chosen columns shown on the terminal
	mostMissed  = 4  // number of rejected columns shown
)

// text describes the confidence on the terminal.
func (c *Confidence) text() string {
	if len(c.Columns) == 0 {
		return c.Meaning
	}
	chosen, more := c.listed(true, mostChoices)
	s := "probability that the same rule would select the column without noise: " + chosen
	if more > 0 {
		s += fmt.Sprintf(" and %d more in report.json", more)
	}
	if missed, _ := c.listed(false, mostMissed); missed != "" {
		s += ". Most probable among the rejected columns: " + missed
	}
	return s
}

// listed lists at most the given number of columns that were chosen, or rejected, and returns the number of others.
func (c *Confidence) listed(chosen bool, most int) (text string, more int) {
	var out []string
	for _, x := range c.Columns {
		switch {
		case x.Chosen != chosen:
		case len(out) < most:
			out = append(out, fmt.Sprintf("%s %.2f", printableName(x.Column), x.Probability))
		default:
			more++
		}
	}
	return strings.Join(out, ", "), more
}

// confidenceBlocks describes the confidence on the page.
func confidenceBlocks(r *Report) []document.Block {
	c := r.Confidence
	switch {
	case c == nil:
		return nil
	case len(c.Columns) == 0:
		return []document.Block{prose(c.Meaning)}
	}
	var bars []chart.Bar
	g := &document.Table{Head: []string{"column", "chosen", "probability"}}
	for i, x := range c.Columns {
		chosen := "no"
		label := printableName(x.Column) + " (rejected)"
		if x.Chosen {
			chosen = "yes"
			label = printableName(x.Column)
		}
		if i < mostColumns {
			bars = append(bars,
				chart.Bar{
					Label: label,
					Value: x.Probability,
					Text:  fmt.Sprintf("%.2f", x.Probability),
				})
		}
		g.Rows = append(g.Rows,
			[]string{printableName(x.Column), chosen, fmt.Sprintf("%.3f", x.Probability)})
	}
	return []document.Block{figure(chart.Bars("Confidence in the selection of columns", bars),
		"The probability that the same rule would select the column without noise, given the released values.",
		g)}
}
