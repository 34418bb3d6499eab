package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// CardKinds holds the noisy numbers of training records whose cell of a column is a number, text, or missing. Each
// has noise of standard deviation Scale. They were released to find out which columns contain text.
type CardKinds struct {
	Column  string  `json:"column"`
	Numbers float64 `json:"numbers"`
	Text    float64 `json:"text"`
	Missing float64 `json:"missing"`
	Scale   float64 `json:"scale"`
}

// CardText holds the noisy numbers of training records of the values found in a text column. Each has noise of
// standard deviation Scale. A value was published because its number reached Least, so numbers close to Least are too
// large on average.
type CardText struct {
	Column string    `json:"column"`
	Values []string  `json:"values"`
	Counts []float64 `json:"counts"`
	Scale  float64   `json:"scale"`
	Least  float64   `json:"least"`
}

func cardKindsOf(list []stage.KindCount) []CardKinds {
	var out []CardKinds
	for _, k := range list[:min(len(list), mostCard)] {
		out = append(out, CardKinds{k.Column, k.Numbers, k.Text, k.Absent, k.Sigma})
	}
	return out
}

func cardTextsOf(list []stage.Vocabulary) []CardText {
	var out []CardText
	for _, v := range list[:min(len(list), mostCard)] {
		if len(v.Words) > 0 {
			out = append(out, CardText{v.Column, v.Words, v.Counts, v.Sigma, v.Least})
		}
	}
	return out
}

// A noisyCount is a released number with the variance of its noise.
type noisyCount struct{ value, variance float64 }

// cardRecords returns the number of training records: each column has noise of variance 3 Scale² in the sum of its
// kinds, and the noise of the columns is independent.
func cardRecords(kinds []CardKinds) noisyCount {
	var n noisyCount
	for _, k := range kinds {
		n.value += (k.Numbers + k.Text + k.Missing) / float64(len(kinds))
		n.variance += 3 * k.Scale * k.Scale / float64(len(kinds)*len(kinds))
	}
	return n
}

// missingShare estimates the share of training records without a value in a column: a missing cell, and in a column
// of numbers also a cell of text. numeric is the histogram of a numeric column, or nil; it counts the numbers too, and
// the two counts are averaged with weights 1/variance. The count is part of the number of records, so their noise has
// a covariance of weight × Scale² / columns.
func missingShare(
	k CardKinds,
	numeric *CardColumn,
	kinds []CardKinds,
) estimate {
	records := cardRecords(kinds)
	some := noisyCount{k.Missing, k.Scale * k.Scale}
	weight := 1.
	if numeric != nil {
		some.value = k.Numbers
		if total := numeric.sum(); total.variance > 0 && some.variance > 0 {
			weight = total.variance / (total.variance + some.variance)
			some.value = weight*some.value + (1-weight)*total.value
			some.variance *= weight
		}
	}
	e := ratio(some, records, weight*k.Scale*k.Scale/float64(len(kinds)))
	if numeric != nil {
		e = estimate{1 - e.value, 1 - e.upper, 1 - e.lower}
	}
	if math.IsNaN(e.value) || math.IsInf(e.lower, 0) || math.IsInf(e.upper, 0) {
		return unknownEstimate()
	}
	inside := func(x float64) float64 {
		return min(max(x, 0), 1)
	}
	return estimate{inside(e.value), inside(e.lower), inside(e.upper)}
}

// ratio returns a/b with Fieller's interval of 95%: the values x at which a - x b, of variance
// var(a) - 2 x cov + x² var(b), is no more than cardZ standard deviations from 0.
func ratio(a, b noisyCount, covariance float64) estimate {
	z := cardZ * cardZ
	square := b.value*b.value - z*b.variance
	if b.value <= 4*math.Sqrt(b.variance) || !(square > 0) {
		return unknownEstimate()
	}
	middle := a.value*b.value - z*covariance
	root := math.Sqrt(max(middle*middle-square*(a.value*a.value-z*a.variance), 0))
	return estimate{a.value / b.value, (middle - root) / square, (middle + root) / square}
}

// shareText prints an estimate of a share in percent.
func (e estimate) shareText() string {
	if math.IsNaN(e.value) {
		return "unknown"
	}
	return fmt.Sprintf(
		"%.1f%% (%.1f%% to %.1f%%)",
		100*e.value,
		100*e.lower,
		100*e.upper,
	)
}

// sum returns the number of records with a value.
func (c CardColumn) sum() noisyCount {
	n, _ := c.total()
	return noisyCount{n, c.Scale * c.Scale * float64(len(c.Counts))}
}

// count estimates the number of records with value k. If it may have been published only because of its noise, the
// interval has no lower end.
func (c CardText) count(k int) estimate {
	n := c.Counts[k]
	e := estimate{max(n, 0), max(n-cardZ*c.Scale, 0), max(n+cardZ*c.Scale, 0)}
	if n < c.Least+3*c.Scale {
		e.lower = 0
	}
	return e
}

// valid reports whether the numbers are well-formed.
func (c CardText) valid() bool {
	return len(c.Values) > 0 && len(c.Values) == len(c.Counts) && c.Scale >= 0
}

func (k CardKinds) valid() bool {
	return k.Scale >= 0 && !math.IsNaN(k.Numbers+k.Text+k.Missing)
}

// bars draws the most frequent values.
func (c CardText) bars() ([]chart.Bar, *document.Table) {
	order := make([]int, len(c.Values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case c.Counts[a] > c.Counts[b]:
			return -1
		case c.Counts[a] < c.Counts[b]:
			return 1
		}
		return 0
	})
	var out []chart.Bar
	table := &document.Table{Head: []string{"value", "records", "lower", "upper"}}
	for _, k := range order[:min(len(order), mostBars)] {
		e := c.count(k)
		label := categoryName(c.Values[k], false)
		out = append(out, chart.Bar{
			Label: label,
			Value: e.value,
			Low:   e.lower,
			High:  e.upper,
			Text:  roundedCount(e.value, c.Scale),
		})
		table.Rows = append(table.Rows,
			[]string{label, roundedCount(e.value, c.Scale), roundedCount(e.lower, c.Scale), roundedCount(e.upper, c.Scale)})
	}
	return out, table
}

// missingOf returns the share of missing cells of a column as text.
func (t *Training) missingOf(column string, numeric *CardColumn) string {
	k := slices.IndexFunc(t.Kinds, func(k CardKinds) bool {
		return k.Column == column
	})
	if k < 0 || !t.Kinds[k].valid() {
		return "not counted"
	}
	return missingShare(t.Kinds[k], numeric, t.Kinds).shareText()
}

// cardTextBlocks describes the text columns of the training data by the values that were found.
func cardTextBlocks(t *Training) []document.Block {
	table := &document.Table{
		Intervals: true,
		Head:      []string{"text column", "values found", "missing cells"},
	}
	var pictures []document.Block
	for _, c := range t.Texts {
		if !c.valid() {
			continue
		}
		table.Rows = append(table.Rows,
			[]string{printableName(c.Column), number(float64(len(c.Values))), t.missingOf(c.Column, nil)})
		if len(pictures) == drawnCard {
			continue
		}
		bars, numbers := c.bars()
		caption := "Training records by the value of " + printableName(c.Column) + ", with 95% intervals."
		if more := len(c.Values) - mostBars; more > 0 {
			caption += fmt.Sprintf(" %s are left out here.", countOf(more, "value"))
		}
		b := figure(chart.Bars("Values of "+printableName(c.Column), bars), caption, numbers)
		if len(pictures) >= openCard {
			b.Fold = "Values of " + printableName(c.Column)
		}
		pictures = append(pictures, b)
	}
	if len(table.Rows) == 0 {
		return nil
	}
	text := "The values of these columns were found from noisy counts, which were paid for too. " +
		"A rare value is not found, so it is not listed. An interval starts at 0 if the value may have been found by chance."
	return append([]document.Block{{
		Text:  text,
		Table: table,
	}}, pictures...)
}

// countProblems lists the counts of kinds and of values that state other noise than the steps that released them.
func (v *verifier) countProblems(t *Training) []string {
	var problems []string
	check := func(column, step, what string, scale float64, ok bool) {
		released := slices.ContainsFunc(v.report.Events, func(e Event) bool {
			return strings.HasSuffix(e.ID, "/"+step) && e.Released > 0 && nearlyEqual(e.Scale, scale)
		})
		switch {
		case !ok:
			problems = append(problems, printableName(column)+": its "+what+" cannot be read")
		case !released:
			problems = append(problems, fmt.Sprintf(
				"%s: the noise of its %s is %s, which is not that of a step that released them",
				printableName(column), what, number(scale)))
		}
	}
	for _, k := range t.Kinds {
		check(
			k.Column,
			"vocabulary/kinds",
			"numbers, text and missing cells",
			k.Scale,
			k.valid(),
		)
	}
	for _, c := range t.Texts {
		check(c.Column, "vocabulary/counts", "counts of values", c.Scale, c.valid())
	}
	return problems
}
