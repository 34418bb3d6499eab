package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// A CardColumn is a noisy histogram of the training records by the value of a column, in equal bins over [Lower,
// Upper]. The outermost bins also count all values outside this range. Each count has noise of standard deviation
// Scale.
type CardColumn struct {
	Column string    `json:"column"`
	Lower  float64   `json:"lower"`
	Upper  float64   `json:"upper"`
	Counts []float64 `json:"counts"`
	Scale  float64   `json:"scale"`
}

// mostCard is the maximum number of columns in the card of a report: the first ones of the table.
const mostCard = 512

func cardOf(list []pipeline.Histogram) []CardColumn {
	var out []CardColumn
	for _, h := range list[:min(len(list), mostCard)] {
		out = append(out, CardColumn{h.Column, h.Lower, h.Upper, h.Counts, h.Sigma})
	}
	return out
}

// cardZ is the quantile of the intervals of the card, which have confidence 95%.
const cardZ = 1.959964

// An estimate is a number with the ends of its interval. An open end is infinite.
type estimate struct{ value, lower, upper float64 }

// text prints an estimate.
func (e estimate) text() string {
	switch {
	case math.IsNaN(e.value):
		return "unknown"
	case math.IsInf(e.lower, -1) && math.IsInf(e.upper, 1):
		return short(e.value) + " (interval unknown)"
	case math.IsInf(e.lower, -1):
		return fmt.Sprintf("%s (at most %s)", short(e.value), short(e.upper))
	case math.IsInf(e.upper, 1):
		return fmt.Sprintf("%s (at least %s)", short(e.value), short(e.lower))
	}
	return fmt.Sprintf("%s (%s to %s)", short(e.value), short(e.lower), short(e.upper))
}

// unknownEstimate is an estimate hidden by the noise.
func unknownEstimate() estimate {
	return estimate{math.NaN(), math.Inf(-1), math.Inf(1)}
}

// width is the width of a bin, and middle the centre of bin k.
func (c CardColumn) width() float64 {
	return (c.Upper - c.Lower) / float64(len(c.Counts))
}

func (c CardColumn) middle(k int) float64 {
	return c.Lower + c.width()*(float64(k)+.5)
}

// records is the number of records with a value.
func (c CardColumn) records() estimate {
	total := 0.
	for _, n := range c.Counts {
		total += n
	}
	half := cardZ * c.Scale * math.Sqrt(float64(len(c.Counts)))
	return estimate{max(total, 0), max(total-half, 0), max(total+half, 0)}
}

// total is the noisy number of records with a value; ok is false if it is not significantly above 0, so that no
// estimate is possible.
func (c CardColumn) total() (n float64, ok bool) {
	for _, x := range c.Counts {
		n += x
	}
	return n, n > 4*c.Scale*math.Sqrt(float64(len(c.Counts)))
}

// mean estimates the mean of the values clamped to [Lower, Upper], m = Σ c mid / N. To first order, the noise e of
// the counts moves the mean by Σ e (mid - m)/N, with standard deviation Scale √Σ (mid - m)² / N, and a value differs
// from the middle of its bin by at most half a width.
func (c CardColumn) mean() estimate {
	n, ok := c.total()
	if !ok {
		return unknownEstimate()
	}
	m, spread := c.moment(n, func(x float64) float64 {
		return x
	})
	half := cardZ*c.Scale*math.Sqrt(spread)/n + c.width()/2
	return estimate{m, m - half, m + half}
}

// moment returns m = Σ c f(mid) / n and Σ (f(mid) - m)².
func (c CardColumn) moment(
	n float64,
	f func(float64) float64,
) (m, spread float64) {
	for k, count := range c.Counts {
		m += count * f(c.middle(k)) / n
	}
	for k := range c.Counts {
		d := f(c.middle(k)) - m
		spread += d * d
	}
	return m, spread
}

// deviation estimates the standard deviation of the values clamped to [Lower, Upper]: v = Σ c (mid - m)² / N, with
// noise of standard deviation Scale √Σ ((mid - m)² - v)² / N. Centring is a projection and binning moves the column
// by at most half a width in the root mean square, so the ends move by no more than that.
func (c CardColumn) deviation() estimate {
	n, ok := c.total()
	if !ok {
		return unknownEstimate()
	}
	m, _ := c.moment(n, func(x float64) float64 {
		return x
	})
	v, spread := c.moment(n, func(x float64) float64 {
		return (x - m) * (x - m)
	})
	noise := cardZ * c.Scale * math.Sqrt(spread) / n
	return estimate{
		math.Sqrt(max(v, 0)), max(math.Sqrt(max(v-noise, 0))-c.width()/2, 0),
		math.Sqrt(max(v+noise, 0)) + c.width()/2,
	}
}

// quantile estimates the q-quantile of the values. S_k is the number of values in the first k bins less q times that
// of all, of variance ((1-q)² k + q² (K-k)) Scale² for K bins. The lower end is the last edge, scanning upwards, at
// which S_k is certainly below 0 before it no longer is: it exceeds the quantile only if S_k is certainly below 0 at
// one fixed edge, the first one above the quantile, which has probability 2.5%. The upper end likewise. A quantile in
// an outermost bin has no end on that side.
func (c CardColumn) quantile(q float64) estimate {
	total, ok := c.total()
	if !ok {
		return unknownEstimate()
	}
	bins := len(c.Counts)
	s := make([]float64, bins+1)
	sd := make([]float64, bins+1)
	sum := 0.
	for k := range bins + 1 {
		if k > 0 {
			sum += c.Counts[k-1]
		}
		s[k] = sum - q*total
		sd[k] = c.Scale * math.Sqrt((1-q)*(1-q)*float64(k)+q*q*float64(bins-k))
	}
	out := estimate{c.Lower, math.Inf(-1), math.Inf(1)}
	for k := 1; k < bins && s[k] < -cardZ*sd[k]; k++ {
		out.lower = c.Lower + c.width()*float64(k)
	}
	for k := bins - 1; k > 0 && s[k] > cardZ*sd[k]; k-- {
		out.upper = c.Lower + c.width()*float64(k)
	}
	most := s[0]
	for k := 1; k <= bins; k++ {
		if s[k] >= 0 && most < 0 {
			out.value = c.Lower + c.width()*(float64(k-1)+min(max(-s[k-1]/(s[k]-s[k-1]), 0), 1))
			break
		}
		most = max(most, s[k])
	}
	out.value = min(max(out.value, out.lower), out.upper)
	return out
}

// cardBars is the maximum number of bars in a histogram of the card.
const cardBars = 16

// bars adds up neighbouring bins for a picture. All bins beyond those that are visible are one bar at each end, whose
// interval holds wherever this end is.
func (c CardColumn) bars() ([]chart.Bar, *document.Table) {
	bins := len(c.Counts)
	each := max(1, (bins+cardBars-1)/cardBars)
	from, to := c.visible()
	from -= from % each
	to = min(to+(each-to%each)%each, bins)
	var out []chart.Bar
	table := &document.Table{Head: []string{"values", "records", "lower", "upper"}}
	add := func(first, end int, z float64) {
		n := 0.
		for _, x := range c.Counts[first:end] {
			n += x
		}
		half := z * c.Scale * math.Sqrt(float64(end-first))
		lower := short(c.Lower + c.width()*float64(first))
		upper := short(c.Lower + c.width()*float64(end))
		label := lower + " to " + upper
		switch {
		case first == 0 && end < bins:
			label = "below " + upper
		case end == bins && first > 0:
			label = "above " + lower
		}
		value, low, high := max(n, 0), max(n-half, 0), max(n+half, 0)
		out = append(out,
			chart.Bar{
				Label: label,
				Value: value,
				Low:   low,
				High:  high,
				Text:  roundedCount(value, c.Scale),
			})
		table.Rows = append(table.Rows,
			[]string{label, roundedCount(value, c.Scale), roundedCount(low, c.Scale), roundedCount(high, c.Scale)})
	}
	if from > 0 {
		add(0, from, beyondZ(bins))
	}
	for k := from; k < to; k += each {
		add(k, min(k+each, to), cardZ)
	}
	if to < bins {
		add(to, bins, beyondZ(bins))
	}
	return out, table
}

// valid reports whether the histogram is well-formed.
func (c CardColumn) valid() bool {
	return c.Lower < c.Upper && !math.IsInf(c.Upper-c.Lower, 0) && len(c.Counts) > 0 && c.Scale >= 0
}

// openCard is the number of histograms that are open on the page, and drawnCard the number that are drawn.
const (
	openCard  = 2
	drawnCard = 40
)

// cardBlocks describes the training data, using the histograms released for the ranges of columns.
func cardBlocks(r *Report) []document.Block {
	table := &document.Table{
		Intervals: true,
		Head: []string{"column", "records", "mean", "standard deviation", "lower quartile",
			"median", "upper quartile"},
	}
	if len(r.Kinds) > 0 {
		table.Head = append(table.Head, "missing cells")
	}
	var pictures []document.Block
	for _, c := range r.Card {
		if !c.valid() {
			continue
		}
		row := []string{printableName(c.Column), c.records().text(), c.mean().text(),
			c.deviation().text(), c.quantile(.25).text(), c.quantile(.5).text(),
			c.quantile(.75).text()}
		if len(r.Kinds) > 0 {
			row = append(row, r.missingOf(c.Column, &c))
		}
		table.Rows = append(table.Rows, row)
		if len(pictures) == drawnCard {
			continue
		}
		bars, numbers := c.bars()
		b := figure(chart.Bars("Histogram of "+printableName(c.Column), bars),
			"Training records by the value of "+printableName(c.Column)+
				", with 95% intervals. The first and the last bar include all smaller and larger values.",
			numbers)
		if len(pictures) >= openCard {
			b.Fold = "Histogram of " + printableName(c.Column)
		}
		pictures = append(pictures, b)
	}
	texts := cardTextBlocks(r.Training)
	if len(table.Rows) == 0 {
		return texts
	}
	text := "The ranges of these columns were found from noisy histograms of the training records, so this description has no extra privacy cost. " +
		"Each interval contains the value for the training records with 95% confidence, separately for each number. Means and standard deviations are of values clamped to the range of the histogram. " +
		"For correlations and more precise numbers, use dptrain describe."
	return slices.Concat([]document.Block{{
		Text:  text,
		Table: table,
	}}, pictures, texts)
}

// card checks that the histograms and counts and the steps that released them state the same noise.
func (v *verifier) card() {
	t := v.report.training()
	card := t.Card
	if len(card)+len(t.Kinds)+len(t.Texts) == 0 {
		return
	}
	var scales []float64
	for _, e := range v.report.Events {
		if strings.HasSuffix(e.ID, "/fine-bins") && e.Released > 0 {
			scale := e.Scale
			if e.Law == "pure" || e.Law == "laplace" {
				scale *= math.Sqrt2
			}
			scales = append(scales, scale, scale/scaling.TargetWeight)
		}
	}
	var problems []string
	for _, c := range card {
		if !c.valid() {
			problems = append(problems, printableName(c.Column)+": its histogram cannot be read")
			continue
		}
		if !slices.ContainsFunc(scales, func(x float64) bool {
			return nearlyEqual(x, c.Scale)
		}) {
			problems = append(problems,
				fmt.Sprintf(
					"%s: the noise of its histogram is %s, which does not match a step that released it",
					printableName(c.Column), number(c.Scale)))
		}
	}
	v.add("card",
		"the noise in the column histograms and counts matches the steps that released them",
		append(problems, v.countProblems(t)...))
}
