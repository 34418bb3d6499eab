package chart

import (
	"fmt"
	"math"
	"strings"
)

// A Series is a curve through points. Where Low and High are given, one per point, they are
// the ends of a band.
type Series struct {
	Name      string
	X, Y      []float64
	Low, High []float64
	Points    bool // marks in place of a curve
}

// A Plot is a picture of curves over two axes.
type Plot struct {
	Title, XLabel, YLabel string
	// Square fixes both axes to [0, 1] and draws the diagonal.
	Square bool
	// LogY has the decimal logarithm of Y on its axis; what is not above 0 is left out.
	LogY   bool
	Series []Series
}

// The margins of a plot and its height.
const (
	plotHeight = 240.
	plotLeft   = 62.
	plotRight  = 12.
	plotTop    = 10.
	plotBottom = 40.
)

// SVG draws the plot.
func (p Plot) SVG() SVG {
	height := plotHeight
	if p.Square {
		height = 360
	}
	c := begin(p.Title, height)
	x, y := p.axes(height)
	p.frame(c, x, y)
	for i, s := range p.Series {
		class := "mark"
		if i > 0 {
			class = fmt.Sprintf("mark%d", i+1)
		}
		p.band(c, s, x, y)
		p.curve(c, class, s, x, y)
		if len(p.Series) > 1 {
			c.text(class+" legend", "end", width-plotRight-4, plotTop+14+16*float64(i), s.Name)
		}
	}
	return c.end()
}

// axes returns the scales of the two axes.
func (p Plot) axes(height float64) (x, y scale) {
	x = scale{math.Inf(1), math.Inf(-1), plotLeft, width - plotRight}
	y = scale{math.Inf(1), math.Inf(-1), height - plotBottom, plotTop}
	if p.Square {
		x.low, x.high, y.low, y.high = 0, 1, 0, 1
		return x, y
	}
	for _, s := range p.Series {
		for i := range s.X {
			values := []float64{s.Y[i]}
			if s.Low != nil {
				values = append(values, s.Low[i], s.High[i])
			}
			for _, v := range values {
				if v = p.height(v); finite(v) && finite(s.X[i]) {
					x.low, x.high = math.Min(x.low, s.X[i]), math.Max(x.high, s.X[i])
					y.low, y.high = math.Min(y.low, v), math.Max(y.high, v)
				}
			}
		}
	}
	if x.low > x.high { // nothing to draw
		x.low, x.high, y.low, y.high = 0, 1, 0, 1
	}
	if y.low == y.high {
		y.low, y.high = y.low-1, y.high+1
	}
	pad := .06 * (y.high - y.low)
	y.low, y.high = y.low-pad, y.high+pad
	return x, y
}

// height is the place of a value on the vertical axis, before scaling.
func (p Plot) height(v float64) float64 {
	if !p.LogY {
		return v
	}
	if !(v > 0) {
		return math.NaN()
	}
	return math.Log10(v)
}

// frame draws the axes, their ticks and their names.
func (p Plot) frame(c *canvas, x, y scale) {
	for _, t := range ticks(y.low, y.high, 5) {
		name := label(t)
		if p.LogY {
			if t != math.Trunc(t) {
				continue
			}
			name = "1e" + label(t)
		}
		c.line("grid", x.from, y.at(t), x.to, y.at(t))
		c.text("axis", "end", x.from-6, y.at(t)+4, name)
	}
	for _, t := range ticks(x.low, x.high, 6) {
		c.line("grid", x.at(t), y.from, x.at(t), y.to)
		c.text("axis", "middle", x.at(t), y.from+16, label(t))
	}
	c.line("axis", x.from, y.from, x.to, y.from)
	c.line("axis", x.from, y.from, x.from, y.to)
	if p.Square {
		c.line("diagonal", x.at(0), y.at(0), x.at(1), y.at(1))
	}
	c.text("axis", "end", x.to, y.from+33, p.XLabel)
	fmt.Fprintf(c, `<text class="axis" text-anchor="end" transform="translate(12 %s) rotate(-90)">%s</text>`, at(y.to), escape(fit(p.YLabel, 34)))
}

// curve draws a series as a line or as points.
func (p Plot) curve(c *canvas, class string, s Series, x, y scale) {
	var points []string
	for i := range s.X {
		v := p.height(s.Y[i])
		if !finite(v) || !finite(s.X[i]) {
			continue
		}
		if s.Points {
			fmt.Fprintf(c, `<circle class="%s" cx="%s" cy="%s" r="3.5"/>`, class, at(x.at(s.X[i])), at(y.at(v)))
		}
		points = append(points, at(x.at(s.X[i]))+","+at(y.at(v)))
	}
	if !s.Points && len(points) > 0 {
		fmt.Fprintf(c, `<polyline class="%s curve" points="%s"/>`, class, strings.Join(points, " "))
	}
}

// band draws the interval of a series: an area under a curve, a whisker at a point.
func (p Plot) band(c *canvas, s Series, x, y scale) {
	if s.Low == nil {
		return
	}
	var upper, lower []string
	for i := range s.X {
		low, high := p.height(s.Low[i]), p.height(s.High[i])
		if !finite(low) || !finite(high) || !finite(s.X[i]) {
			continue
		}
		if s.Points {
			c.line("whisker", x.at(s.X[i]), y.at(low), x.at(s.X[i]), y.at(high))
			continue
		}
		upper = append(upper, at(x.at(s.X[i]))+","+at(y.at(high)))
		lower = append(lower, at(x.at(s.X[i]))+","+at(y.at(low)))
	}
	if len(upper) > 1 {
		for i := len(lower) - 1; i >= 0; i-- {
			upper = append(upper, lower[i])
		}
		fmt.Fprintf(c, `<polygon class="band" points="%s"/>`, strings.Join(upper, " "))
	}
}
