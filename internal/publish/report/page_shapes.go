package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

const (
	openShapes = 8   // number of columns whose pictures are open
	mostShapes = 48  // number of pictures on a page
	curveSteps = 160 // number of points of a curve
	lineSteps  = 10  // number of points of a line, and of the table next to a line or curve
	mostLevels = 40  // number of categories drawn
)

// A Sum is a model, or the score of a class, that is a sum of the contributions of its columns.
type Sum struct {
	Class string // "" for a whole model
	*regression.Additive
	// Boosted is whether lines and categories were trained together with curves or a kernel. Their standard errors
	// are then smaller than the noise, down to a sixth of it: parts of the model trade their effects. See
	// docs/proofs/boosted-additive.md, "Noise in the curves".
	Boosted bool
	drawn   func(c regression.Column) (lower, upper float64, why reach) // over which a curve is drawn; nil for a model without a report
}

// SumsOf returns the sums that a model consists of; nil for another kind of model, and for no model.
func SumsOf(m regression.Model) []Sum {
	if m == nil {
		return nil
	}
	classes := m.Output().Classes
	var out []Sum
	boosted := isBoosted(m)
	for _, x := range m.Sums() {
		out = append(out, Sum{Additive: x, Boosted: boosted})
	}
	if len(classes) > 0 {
		for i := range out {
			out[i].Class = classes[len(classes)-len(out)+i]
		}
	}
	return out
}

// isBoosted reports whether a model, or a score of it, has curves or a kernel beside its linear part.
func isBoosted(m regression.Model) bool {
	switch m := m.(type) {
	case *regression.Additive, *regression.Kernel:
		return true
	case *regression.Classifier:
		return slices.ContainsFunc(m.Scores, isBoosted)
	}
	return false
}

// StdError returns the standard deviation of the privacy noise in the coefficient of a term, or 0 where it is not known
// or where there is no noise.
func (x Sum) StdError(t regression.Term) float64 {
	if x.Boosted {
		return 0
	}
	return t.StdError
}

// shapeBlocks draws the contribution of each column, the most important first.
func shapeBlocks(s Source) []document.Block {
	sums := SumsOf(s.Model)
	if len(sums) == 0 {
		return nil
	}
	unit := "units of " + s.Report.scale()
	if s.Report.Task == regression.TaskClassification {
		unit = "units of the score"
	}
	zero := "the middle of its range"
	if sums[0].Boosted {
		zero = "its mean over the range that is drawn"
	}
	text := "The contribution of each column to the prediction, in " + unit + ", that of a number relative to " + zero + ". The model is the sum of these curves and a constant."
	if x := s.Report.Interactions; x != nil {
		text = "The contribution of each column to the prediction by itself, in " + unit + ", that of a number relative to " + zero + ". Beyond the sum of these curves, " + x.sentence(unit) + "."
	}
	if sums[0].Boosted {
		text += " The curves contain privacy noise, for which no band is drawn: parts of this model trade their effects, so the noise of one part alone is not known."
	}
	if len(s.Report.training().Card) > 0 {
		text += " A curve ends where the noisy counts of its column show no more records. The section about the training data has the counts beyond."
	}
	out := []document.Block{prose(text)}
	for i := range sums {
		sums[i].drawn = s.Report.drawnRange
	}
	for _, x := range sums {
		if x.Score != nil {
			out = append(out, prose("A curve of the total score is added to the sum over all columns; dptrain report release --shape \"(score)\" prints it."))
			break
		}
	}
	drawn := 0
	left := 0
	for _, name := range byImportance(s.Report, sums) {
		for _, x := range sums {
			if !x.adds(name) {
				continue
			}
			if drawn++; drawn > mostShapes {
				left++
				continue
			}
			b, _ := x.draw(name, unit)
			if drawn > openShapes {
				b.Fold = x.heading(name)
			}
			out = append(out, b)
		}
	}
	if drawn == 0 {
		return nil
	}
	if left > 0 {
		out = append(out, prose(fmt.Sprintf("%d more are not shown; dptrain report release --shape COLUMN prints them.", left)))
	}
	return append(out, pairBlocks(s, unit)...)
}

// byImportance lists the columns of a model, the most important first.
func byImportance(r *Report, sums []Sum) []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, x := range r.Importances {
		add(x.Column)
	}
	for _, x := range sums {
		for _, c := range x.Columns {
			add(c.Name)
		}
	}
	return out
}

func (x Sum) heading(name string) string {
	if x.Class != "" {
		return printableName(name) + ", score of class " + printableName(x.Class)
	}
	return printableName(name)
}

// adds reports whether there is a picture of a column.
func (x Sum) adds(name string) bool {
	j := slices.IndexFunc(x.Columns, func(c regression.Column) bool {
		return c.Name == name
	})
	if j < 0 {
		return false
	}
	words := x.Columns[j].Type == regression.Category
	term := slices.ContainsFunc(x.Terms, func(t regression.Term) bool {
		return t.Column == j
	})
	shape := !words && slices.ContainsFunc(x.Shapes, func(s regression.Shape) bool {
		return s.Column == j
	})
	return (term || shape) && (words || x.Columns[j].Lower < x.Columns[j].Upper)
}

// draw returns the picture of a column; false if the column does not contribute to this sum.
func (x Sum) draw(name, unit string) (document.Block, bool) {
	j := slices.IndexFunc(x.Columns, func(c regression.Column) bool {
		return c.Name == name
	})
	if j < 0 {
		return document.Block{}, false
	}
	if x.Columns[j].Type == regression.Category {
		return x.levels(j, unit)
	}
	return x.curve(j, unit)
}

// levels draws the categories of a column.
func (x Sum) levels(j int, unit string) (document.Block, bool) {
	var bars []chart.Bar
	stated := slices.ContainsFunc(x.Terms, func(t regression.Term) bool {
		return t.Column == j && x.StdError(t) > 0
	})
	g := &document.Table{Head: []string{"category", "adds"}}
	if stated {
		g.Head = append(g.Head, "standard error")
	}
	for _, t := range x.Terms {
		if t.Column != j {
			continue
		}
		name := printableName(t.Category)
		if t.Other {
			name = "all others"
		}
		deviation := x.StdError(t)
		half := 1.96 * deviation
		if len(bars) < mostLevels {
			bars = append(bars, chart.Bar{
				Label: name,
				Value: t.Coefficient,
				Low:   t.Coefficient - half,
				High:  t.Coefficient + half,
				Text:  short(t.Coefficient),
			})
		}
		row := []string{name, short(t.Coefficient)}
		if stated {
			row = append(row, short(deviation))
		}
		g.Rows = append(g.Rows, row)
	}
	if len(bars) == 0 {
		return document.Block{}, false
	}
	caption := x.heading(x.Columns[j].Name) + ": contribution of each category"
	if stated {
		caption += "; the whiskers are 1.96 standard deviations of the privacy noise, without sampling error"
	}
	return figure(chart.Bars(x.heading(x.Columns[j].Name), bars), caption+".", g), true
}

// widest is the widest range that is drawn. A column without a known range has an uninformative one, and is described
// in a line of text.
const widest = 1e30

// slope describes the contribution of a numeric column whose range is too wide for a picture.
func (x Sum) slope(
	c regression.Column,
	slope, deviation float64,
	unit string,
) (document.Block, bool) {
	text := x.heading(c.Name) + ": " + short(slope) + " " + unit + " for each unit"
	if deviation > 0 {
		text += ", with a standard error of " + short(deviation)
	}
	return prose(text + "."), true
}

// statedRanges lists the columns whose range is declared or was computed from a public column.
func (r *Report) statedRanges() []string {
	var out []string
	for _, f := range r.Unprotected {
		if name, ok := strings.CutPrefix(f.Name, "range of "); ok {
			out = append(out, name)
		}
		if f.Name != "public columns" {
			continue
		}
		switch list := f.Value.(type) {
		case []string:
			out = append(out, list...)
		case []any: // in a report that was read back
			for _, name := range list {
				out = append(out, fmt.Sprint(name))
			}
		}
	}
	return out
}

// A reach is the reason for the range over which a curve is drawn.
type reach int

// The reasons.
const (
	reachDeclared  reach = iota // the range is declared, or computed from a public column
	reachVisible                // the noisy counts of the column show records there
	reachQuantiles              // between the outer noisy quantiles of the column
)

// drawnRange returns the range over which the curve of a column is drawn. A private range is wider than the values, so
// the curve ends where the noisy counts of the column show no more records. Without counts, which reports keep for their
// first columns only, it ends at the outer quantiles: the widening of the range is taken back.
func (r *Report) drawnRange(c regression.Column) (lower, upper float64, why reach) {
	if slices.Contains(r.statedRanges(), c.Name) {
		return c.Lower, c.Upper, reachDeclared
	}
	for _, card := range r.training().Card {
		if card.Column != c.Name || !card.valid() {
			continue
		}
		lower, upper = card.visibleRange()
		lower, upper = max(lower, c.Lower), min(upper, c.Upper)
		if lower < upper {
			return lower, upper, reachVisible
		}
	}
	lower, upper = scaling.Quantiles(c.Lower, c.Upper)
	return lower, upper, reachQuantiles
}

// centre subtracts the mean of the values. Parts of a boosted model trade their constants, so the level of a single curve is
// arbitrary and noisy.
func centre(values []float64) {
	mean := 0.
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for i := range values {
		values[i] -= mean
	}
}

// line returns the slope of a number with its standard error, and what a missing value adds, or NaN; found is false if the
// column has no such term.
func (x Sum) line(j int) (slope, deviation, missing float64, found bool) {
	missing = math.NaN()
	for _, t := range x.Terms {
		switch {
		case t.Column != j:
		case t.Missing:
			missing = t.Coefficient
			found = true
		default:
			slope = t.Coefficient
			deviation = x.StdError(t)
			found = true
		}
	}
	return slope, deviation, missing, found
}

// curve draws the contribution of a number over its range.
func (x Sum) curve(j int, unit string) (document.Block, bool) {
	c := x.Columns[j]
	slope, deviation, missing, found := x.line(j)
	var step *regression.Step
	for i := range x.Shapes {
		if x.Shapes[i].Column == j {
			step, found = &x.Shapes[i].Step, true
		}
	}
	if !found || !(c.Lower < c.Upper) {
		return document.Block{}, false
	}
	if step == nil && c.Upper-c.Lower > widest {
		return x.slope(c, slope, deviation, unit)
	}
	middle := c.Lower/2 + c.Upper/2
	s, g := chart.Series{}, &document.Table{Head: []string{printableName(c.Name), "adds"}}
	add := func(at float64, value float64) {
		v := slope*(at-middle) + value
		s.X, s.Y = append(s.X, at), append(s.Y, v)
		if deviation > 0 {
			half := 1.96 * deviation * math.Abs(at-middle)
			s.Low, s.High = append(s.Low, v-half), append(s.High, v+half)
		}
	}
	steps := curveSteps
	if step == nil { // two lines that meet in the middle
		steps = lineSteps
	}
	drawn := x.drawn
	if drawn == nil {
		drawn = new(Report).drawnRange
	}
	lower, upper, why := drawn(c)
	for i := range steps + 1 {
		at := lower + (upper-lower)*float64(i)/float64(steps)
		value := 0.
		if step != nil {
			value = step.Evaluate(at)
		}
		add(at, value)
	}
	if x.Boosted {
		centre(s.Y)
	}
	for i := 0; i <= steps; i += steps / lineSteps {
		g.Rows = append(g.Rows, []string{short(s.X[i]), short(s.Y[i])})
	}
	caption := x.heading(c.Name) + ": contribution " + map[reach]string{
		reachDeclared:  "over its range",
		reachVisible:   "between " + short(lower) + " and " + short(upper),
		reachQuantiles: "over the range of about nine in ten records or more",
	}[why]
	if s.Low != nil {
		caption += "; the band is 1.96 standard deviations of the privacy noise in the slope, without sampling error"
	}
	caption += "."
	if !math.IsNaN(missing) {
		caption += " A missing value adds " + short(missing) + "."
	}
	p := chart.Plot{Title: x.heading(c.Name), XLabel: printableName(c.Name), YLabel: unit, Series: []chart.Series{s}}
	return figure(p.SVG(), caption, g), true
}
