package chart

import (
	"math"
	"slices"
	"unicode/utf8"
)

// A Series is a curve through points. Low and High, if given, have one value per point: the ends of a band, or NaN
// for a point without one.
type Series struct {
	Name      string
	Style     int // colour, dash and glyph, from 0
	X, Y      []float64
	Low, High []float64
	Points    bool // glyphs instead of a curve, and whiskers instead of a band
	Marked    bool // glyphs on the curve, and whiskers instead of a band
}

// A Plot is a picture of curves over two axes.
type Plot struct {
	Title  string
	XLabel string
	YLabel string
	// Square fixes both axes to [0, 1] and draws the diagonal.
	Square bool
	// LogX and LogY make an axis logarithmic; values that are not positive are left out.
	LogX, LogY bool
	// Ticks are the marked positions of X, including the ends of its range; nil derives both from the data. TickNames
	// are their labels; nil prints the numbers.
	Ticks     []float64
	TickNames []string
	// YMin and YMax are the drawn range; values outside are drawn at its edge. If both are 0, the range is that of
	// the data.
	YMin, YMax float64
	// Sticks draws a vertical line from 0 to each point.
	Sticks bool
	Series []Series
}

// The margins of a plot and its height.
const (
	plotHeight = 240.
	plotLeft   = 76.
	plotRight  = 12.
	plotTop    = 10.
	plotBottom = 44.
	plotInset  = 10. // from the axis to the first marked position
	plotLine   = 18. // height of a line of the name of the vertical axis, which is above it
)

// plotLetters is the number of characters in a line of the name of the vertical axis.
const plotLetters = 56

// A field is the drawing area of a plot: the scales of its axes.
type field struct {
	p    Plot
	x, y scale
}

// SVG draws the plot.
func (p Plot) SVG() SVG {
	height := plotHeight
	if p.Square {
		height = 360
	}
	name := breakLines(p.YLabel, plotLetters)
	if p.YLabel == "" {
		name = nil
	}
	height += plotLine * float64(len(name))
	c := newTitled(p.Title, height)
	f := p.newField(height, plotTop+plotLine*float64(len(name)))
	for i, line := range name {
		c.text("axis", "start", 0, 14+plotLine*float64(i), line)
	}
	f.drawFrame(c)
	for i, s := range p.Series {
		if p.Sticks {
			f.drawIntervals(c, s)
			continue
		}
		f.drawBand(c, s)
		f.drawCurve(c, s)
		if len(p.Series) > 1 && s.Name != "" {
			c.text(colourClass(s.Style)+" legend", "end", width-plotRight-4,
				f.y.to+15+18*float64(i), s.Name)
		}
	}
	return c.endSVG()
}

// newField returns the scales of the two axes of a plot whose axes start below top.
func (p Plot) newField(height, top float64) field {
	f := field{p, scale{math.Inf(1), math.Inf(-1), plotLeft, width - plotRight},
		scale{math.Inf(1), math.Inf(-1), height - plotBottom, top}}
	if p.Square {
		f.x.low, f.x.high, f.y.low, f.y.high = 0, 1, 0, 1
		return f
	}
	for _, s := range p.Series {
		for i := range s.X {
			for _, v := range s.values(i) {
				f.includePoint(s.X[i], v)
			}
		}
	}
	if p.Sticks && f.y.low <= f.y.high {
		f.y.low = math.Min(f.y.low, 0)
		f.y.high = math.Max(f.y.high, 0)
	}
	if f.x.low > f.x.high { // no data to draw
		f.x.low, f.x.high, f.y.low, f.y.high = 0, 1, 0, 1
	}
	if f.y.low == f.y.high {
		f.y.low--
		f.y.high++
	}
	pad := .06 * (f.y.high - f.y.low)
	f.y.low -= pad
	f.y.high += pad
	if p.YMin != 0 || p.YMax != 0 {
		f.y.low, f.y.high = exponentiate(p.LogY, p.YMin), exponentiate(p.LogY, p.YMax)
	}
	if len(p.Ticks) > 0 {
		f.x = scale{exponentiate(p.LogX, slices.Min(p.Ticks)),
			exponentiate(p.LogX, slices.Max(p.Ticks)), plotLeft + plotInset,
			width - plotRight - plotInset}
	}
	return f
}

// includePoint extends both axes to include a point.
func (f *field) includePoint(x, y float64) {
	x, y = exponentiate(f.p.LogX, x), exponentiate(f.p.LogY, y)
	if !isFinite(x) || !isFinite(y) {
		return
	}
	f.x.low = math.Min(f.x.low, x)
	f.x.high = math.Max(f.x.high, x)
	f.y.low = math.Min(f.y.low, y)
	f.y.high = math.Max(f.y.high, y)
}

// values returns the value of a point and, if it has an interval, the ends of the interval.
func (s Series) values(i int) []float64 {
	if s.Low == nil {
		return []float64{s.Y[i]}
	}
	return []float64{s.Y[i], s.Low[i], s.High[i]}
}

// exponentiate returns the position of a value on an axis, before scaling.
func exponentiate(log bool, v float64) float64 {
	if !log {
		return v
	}
	if !(v > 0) {
		return math.NaN()
	}
	return math.Log10(v)
}

// position returns the coordinates of a point; ok is false if the point cannot be drawn.
func (f field) position(x, y float64) (px, py float64, ok bool) {
	x = exponentiate(f.p.LogX, x)
	y = exponentiate(f.p.LogY, y)
	if !isFinite(x) || !isFinite(y) {
		return 0, 0, false
	}
	y = math.Max(y, f.y.low)
	y = math.Min(y, f.y.high)
	return f.x.position(x), f.y.position(y), true
}

// drawFrame draws the axes, their ticks and their names.
func (f field) drawFrame(c *canvas) {
	left, right := plotLeft, width-plotRight
	for _, t := range ticks(f.y.low, f.y.high, 5) {
		name := tickLabel(t)
		if f.p.LogY {
			if t != math.Trunc(t) {
				continue
			}
			name = "1e" + tickLabel(t)
		}
		c.line("grid", left, f.y.position(t), right, f.y.position(t))
		c.text("axis", "end", left-6, f.y.position(t)+4, name)
	}
	f.drawLegend(c)
	c.line("axis", left, f.y.from, right, f.y.from)
	c.line("axis", left, f.y.from, left, f.y.to)
	if f.p.Square {
		c.line(
			"diagonal",
			f.x.position(0),
			f.y.position(0),
			f.x.position(1),
			f.y.position(1),
		)
	}
	c.text("axis", "end", right, f.y.from+37, f.p.XLabel)
}

// drawLegend draws the ticks of the horizontal axis. A label that would touch the previous one is left out.
func (f field) drawLegend(c *canvas) {
	end := math.Inf(-1)
	mark := func(x float64, name string) {
		px := f.x.position(x)
		c.line("grid", px, f.y.from, px, f.y.to)
		half := letter * float64(utf8.RuneCountInString(name)) / 2
		at := math.Min(px, width-half-letter/2) // the label of a tick at the right end stays in the picture
		if at-half < end {
			return
		}
		end = at + half + letter
		c.text("axis", "middle", at, f.y.from+18, name)
	}
	switch {
	case len(f.p.Ticks) > 0:
		for i, t := range f.p.Ticks {
			name := tickLabel(t)
			if i < len(f.p.TickNames) {
				name = f.p.TickNames[i]
			}
			if x := exponentiate(f.p.LogX, t); isFinite(x) {
				mark(x, name)
			}
		}
	case f.p.LogX:
		for _, t := range ticks(f.x.low, f.x.high, 6) {
			if t == math.Trunc(t) {
				mark(t, tickLabel(math.Pow(10, t)))
			}
		}
	default:
		for _, t := range ticks(f.x.low, f.x.high, 6) {
			mark(t, tickLabel(t))
		}
	}
}

// drawCurve draws a series as a line, as glyphs, or as both.
func (f field) drawCurve(c *canvas, s Series) {
	var points path
	for i := range s.X {
		if x, y, ok := f.position(s.X[i], s.Y[i]); ok {
			points.addPoint(x, y)
		}
	}
	if !s.Points && len(points.x) > 0 {
		c.Polyline(
			points.x,
			points.y,
			classAttribute(colourClass(s.Style)+" curve"+dashPattern(s.Style)),
		)
	}
	if s.Points || s.Marked {
		for i := range points.x {
			c.drawGlyph(s.Style, points.x[i], points.y[i])
		}
	}
}

// drawBand draws the interval of a series: an area under a curve, a whisker at a point.
func (f field) drawBand(c *canvas, s Series) {
	if s.Low == nil {
		return
	}
	var upper, lower path
	for i := range s.X {
		x, low, ok := f.position(s.X[i], s.Low[i])
		_, high, also := f.position(s.X[i], s.High[i])
		switch {
		case !ok || !also:
		case s.Points:
			c.line("whisker", x, low, x, high)
		case s.Marked && low != high:
			c.line(colourClass(s.Style)+" error", x, low, x, high)
			c.line(colourClass(s.Style)+" error", x-3, low, x+3, low)
			c.line(colourClass(s.Style)+" error", x-3, high, x+3, high)
		case !s.Marked:
			upper.addPoint(x, high)
			lower.addPoint(x, low)
		}
	}
	if len(upper.x) > 1 {
		slices.Reverse(lower.x)
		slices.Reverse(lower.y)
		c.Polygon(
			append(upper.x, lower.x...),
			append(upper.y, lower.y...),
			classAttribute("band"),
		)
	}
}

// drawIntervals draws a vertical line from 0 to each point.
func (f field) drawIntervals(c *canvas, s Series) {
	for i := range s.X {
		x, y, ok := f.position(s.X[i], s.Y[i])
		if _, zero, also := f.position(s.X[i], 0); ok && also {
			c.line(colourClass(s.Style)+" stick", x, zero, x, y)
		}
	}
}
