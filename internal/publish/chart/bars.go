package chart

import (
	"math"
)

// A Bar is one row of a bar chart. Low and High are the ends of its interval; equal ends mean no interval.
type Bar struct {
	Label            string
	Value, Low, High float64
	Text             string // printed at the end of the row
}

// The layout of a bar chart.
const (
	barRow    = 22.
	barLabel  = 150. // right end of the labels
	barTail   = 92.  // for the texts
	barLine   = 15.  // height of a further line of a label
	barLetter = 19   // characters of a line of a label
)

// Bars draws horizontal bars that start at 0, one per row. Long labels take several lines.
func Bars(title string, bars []Bar) SVG {
	labels, height := make([][]string, len(bars)), 6.
	for i, b := range bars {
		labels[i] = breakLines(b.Label, barLetter)
		height += barRow + barLine*float64(len(labels[i])-1)
	}
	c := newTitled(title, height)
	low, high := 0., 0.
	for _, b := range bars {
		for _, x := range []float64{b.Value, b.Low, b.High} {
			if isFinite(x) {
				low, high = math.Min(low, x), math.Max(high, x)
			}
		}
	}
	x := scale{low, high, barLabel + 8, width - barTail}
	top := 3.
	for i, b := range bars {
		for k, line := range labels[i] {
			c.text("axis", "end", barLabel, top+15+barLine*float64(k), line)
		}
		y := top + barLine*float64(len(labels[i])-1)/2
		top += barRow + barLine*float64(len(labels[i])-1)
		if !isFinite(b.Value) {
			continue
		}
		from, to := x.position(math.Min(b.Value, 0)), x.position(math.Max(b.Value, 0))
		c.rect("mark", from, y+4, math.Max(to-from, .5), barRow-8)
		if b.Low < b.High && isFinite(b.Low) && isFinite(b.High) {
			c.line("whisker", x.position(b.Low), y+barRow/2, x.position(b.High), y+barRow/2)
			c.line("whisker", x.position(b.Low), y+7, x.position(b.Low), y+barRow-7)
			c.line("whisker", x.position(b.High), y+7, x.position(b.High), y+barRow-7)
		}
		c.text("note", "start", width-barTail+6, y+15, fitWidth(b.Text, 15))
	}
	c.line("axis", x.position(0), 0, x.position(0), c.height)
	return c.endSVG()
}
