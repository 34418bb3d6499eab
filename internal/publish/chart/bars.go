package chart

import (
	"math"
	"unicode/utf8"
)

// A Bar is one row of a bar chart. Low and High are the ends of its interval; equal ends mean no interval.
type Bar struct {
	Label string
	Value float64
	Low   float64
	High  float64
	Text  string // printed at the end of the row
}

// The layout of a bar chart.
const (
	barRow    = 24.
	barTail   = 106. // for the texts
	barLine   = 17.  // height of a further line of a label
	barLetter = 18   // characters of a line of a label
	barWide   = 9.4  // width of a wide character of a label
	barText   = 12   // characters of the text of a row
)

// Bars draws horizontal bars that start at 0, one per row. Long labels take several lines.
func Bars(title string, bars []Bar) SVG {
	labels := make([][]string, len(bars))
	height := 6.
	longest := 0
	for i, b := range bars {
		labels[i] = breakLines(b.Label, barLetter)
		height += barRow + barLine*float64(len(labels[i])-1)
		for _, line := range labels[i] {
			longest = max(longest, utf8.RuneCountInString(line))
		}
	}
	left := barWide*float64(longest) + 5 // right end of the labels
	c := newTitled(title, height)
	low, high := 0., 0.
	for _, b := range bars {
		for _, x := range []float64{b.Value, b.Low, b.High} {
			if isFinite(x) {
				low = math.Min(low, x)
				high = math.Max(high, x)
			}
		}
	}
	x := scale{low, high, left + 8, width - barTail}
	top := 3.
	for i, b := range bars {
		for k, line := range labels[i] {
			c.text("axis", "end", left, top+16+barLine*float64(k), line)
		}
		y := top + barLine*float64(len(labels[i])-1)/2
		top += barRow + barLine*float64(len(labels[i])-1)
		if !isFinite(b.Value) {
			continue
		}
		from := x.position(math.Min(b.Value, 0))
		to := x.position(math.Max(b.Value, 0))
		c.rect("mark", from, y+4, math.Max(to-from, .5), barRow-8)
		if b.Low < b.High && isFinite(b.Low) && isFinite(b.High) {
			c.line(
				"whisker",
				x.position(b.Low),
				y+barRow/2,
				x.position(b.High),
				y+barRow/2,
			)
			c.line("whisker", x.position(b.Low), y+7, x.position(b.Low), y+barRow-7)
			c.line("whisker", x.position(b.High), y+7, x.position(b.High), y+barRow-7)
		}
		c.text("note", "start", width-barTail+6, y+16, fitWidth(b.Text, barText))
	}
	c.line("axis", x.position(0), 0, x.position(0), c.height)
	return c.endSVG()
}
