package chart

import (
	"math"
)

// A Bar is one row of a bar chart. Low and High are the ends of its interval; where they are
// equal there is none.
type Bar struct {
	Label            string
	Value, Low, High float64
	Text             string // printed at the end of the row
}

// The places of a bar chart.
const (
	barRow   = 22.
	barLabel = 150. // right end of the labels
	barTail  = 92.  // for the texts
)

// Bars draws horizontal bars from 0, one a row.
func Bars(title string, bars []Bar) SVG {
	c := begin(title, barRow*float64(len(bars))+6)
	low, high := 0., 0.
	for _, b := range bars {
		for _, x := range []float64{b.Value, b.Low, b.High} {
			if finite(x) {
				low, high = math.Min(low, x), math.Max(high, x)
			}
		}
	}
	x := scale{low, high, barLabel + 8, width - barTail}
	for i, b := range bars {
		y := 3 + barRow*float64(i)
		c.text("axis", "end", barLabel, y+15, fit(b.Label, 22))
		if !finite(b.Value) {
			continue
		}
		from, to := x.at(math.Min(b.Value, 0)), x.at(math.Max(b.Value, 0))
		c.rect("mark", from, y+4, math.Max(to-from, .5), barRow-8)
		if b.Low < b.High && finite(b.Low) && finite(b.High) {
			c.line("whisker", x.at(b.Low), y+barRow/2, x.at(b.High), y+barRow/2)
			c.line("whisker", x.at(b.Low), y+7, x.at(b.Low), y+barRow-7)
			c.line("whisker", x.at(b.High), y+7, x.at(b.High), y+barRow-7)
		}
		c.text("note", "start", width-barTail+6, y+15, fit(b.Text, 15))
	}
	c.line("axis", x.at(0), 0, x.at(0), c.height)
	return c.end()
}
