package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/describe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Description is the section of a description of the columns of a table. Records, Columns, Correlations and By are
// estimates, with intervals of confidence 95% about the values in the table. They follow from Released.
type Description struct {
	Records      describe.Estimate      `json:"records" layout:"line"`
	Columns      []describe.ColumnCard  `json:"columns"`
	Correlations []describe.Association `json:"correlations"`
	By           *describe.GroupCard    `json:"by"`
	Released     *describe.Released     `json:"released"`
}

// NewDescription returns the report of a description. It looks at the public half of the result only.
func NewDescription(res *describe.Result) *Report {
	r := newReport(
		DescriptionFormat,
		res.Guarantee,
		res.Addition,
		res.Unprotected,
		res.Warnings,
	)
	r.addEvents(res.Events, &pipeline.Result{Branch: res.Branch})
	r.Description = &Description{Released: res.Released}
	r.Description.setCard(describe.Read(res.Released))
	return r
}

// setCard sets the estimates.
func (d *Description) setCard(c *describe.Card) {
	d.Records = c.Records
	d.Columns = c.Columns
	d.Correlations = c.Correlations
	d.By = c.By
}

// target names the columns, in the place where runs with a model name their target.
func (d *Description) target() string {
	var names []string
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// validate refuses released numbers and estimates that contradict themselves.
func (d *Description) validate(*Report) error {
	if d.Released == nil {
		return fmt.Errorf("%w: it has no released numbers", ErrContent)
	}
	if err := d.Released.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrContent, err)
	}
	return d.checkCard()
}

// checkCard rejects estimates that cannot be shown on a page.
func (d *Description) checkCard() error {
	whole := func(e describe.Estimate) bool {
		return e.Value != nil && e.Lower != nil && e.Upper != nil
	}
	open := func(e describe.Estimate) bool {
		return e.Value == nil || whole(e)
	}
	fits := whole(d.Records)
	for _, c := range d.Columns {
		fits = fits && open(c.Missing) &&
			(c.Kind != describe.Numeric || whole(c.Below) && whole(c.Above))
		for _, x := range c.Categories {
			fits = fits && whole(x.Count)
		}
	}
	for _, a := range d.Correlations {
		fits = fits && open(describe.Estimate{
			Value: a.Value,
			Lower: a.Lower,
			Upper: a.Upper,
		}) &&
			open(describe.Estimate{
				Value: a.Value,
				Lower: a.LowerAll,
				Upper: a.UpperAll,
			})
	}
	if d.By != nil {
		for _, g := range d.By.Groups {
			fits = fits && whole(g.Count)
		}
	}
	if !fits {
		return fmt.Errorf("%w: an estimate has no value or no interval", ErrContent)
	}
	for _, c := range d.Columns {
		numeric := c.Kind == describe.Numeric
		if c.Kind != describe.Category && c.Kind != describe.Unread && !numeric ||
			numeric != (c.Bins != nil) || numeric && (len(c.Range) != 2 || len(c.Quartiles) != 3) {
			return fmt.Errorf("%w: column %s has keys that do not match its kind", ErrContent,
				printableName(c.Name))
		}
		if numeric &&
			(len(c.Bins.Counts) != mechanism.TreeLeaves ||
				len(c.Bins.Edges) != mechanism.TreeLeaves+1) {
			return fmt.Errorf("%w: the histogram of %s does not have %d bins", ErrContent, printableName(c.Name),
				mechanism.TreeLeaves)
		}
	}
	return nil
}

// grouped formats x with the given number of decimals and a comma between groups of three digits, or in scientific
// notation if x is very large or very small. With -3 decimals, x is rounded to thousands.
func grouped(x float64, decimals int) string {
	if decimals < 0 {
		unit := math.Pow10(-decimals)
		x = math.Round(x/unit) * unit
	}
	size := math.Abs(x)
	if size >= 1e12 || decimals > 6 && size > 0 {
		return fmt.Sprintf("%.3g", x)
	}
	text := fmt.Sprintf("%.*f", max(decimals, 0), size)
	whole, rest, _ := strings.Cut(text, ".")
	var b strings.Builder
	if x < 0 && strings.Trim(text, "0.") != "" {
		b.WriteByte('-')
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if rest != "" {
		b.WriteString("." + rest)
	}
	return b.String()
}

// decimalsFor returns the number of decimals for numbers that differ by the given amount: their last digits differ by
// 2 to 20.
func decimalsFor(difference float64) int {
	if !(difference > 0) || math.IsInf(difference, 0) {
		return 3
	}
	return -int(math.Floor(math.Log10(difference / 2)))
}

// interval prints an estimate with its interval: "38.6 (38.3 to 38.9)".
func interval(value, lower, upper *float64) string {
	if value == nil {
		return "unknown"
	}
	decimals := 3
	switch {
	case lower != nil && upper != nil:
		decimals = decimalsFor(*upper - *lower)
	case lower != nil:
		decimals = decimalsFor(*value - *lower)
	case upper != nil:
		decimals = decimalsFor(*upper - *value)
	}
	show := func(x float64) string {
		return grouped(x, decimals)
	}
	switch {
	case lower != nil && upper != nil:
		return fmt.Sprintf("%s (%s to %s)", show(*value), show(*lower), show(*upper))
	case lower != nil:
		return fmt.Sprintf("%s (at least %s)", show(*value), show(*lower))
	case upper != nil:
		return fmt.Sprintf("%s (at most %s)", show(*value), show(*upper))
	}
	return show(*value) + " (no bound)"
}

// counts prints a number of records.
func counts(e describe.Estimate) string {
	if e.Value == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s (%s to %s)", grouped(*e.Value, 0), grouped(*e.Lower, 0),
		grouped(*e.Upper, 0))
}
