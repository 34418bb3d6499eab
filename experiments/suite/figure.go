package suite

import (
	"math"

	"github.com/dptrain/dptrain/internal/publish/chart"
)

// A Point is a point of a series. Low and High are the ends of its interval, or NaN without an interval.
type Point struct{ X, Y, Low, High float64 }

// A Series is one curve. Series with the same Style look the same, so one legend serves several figures.
type Series struct {
	Name   string
	Style  int
	Points []Point
}

// A Figure is one small plot.
type Figure struct {
	Title      string
	XLabel     string
	YLabel     string
	LogX       bool      // X is on a logarithmic scale; every X is above 0
	Ticks      []float64 // marked values of X, the ends of its range included; nil leaves both to the plot
	TickNames  []string  // labels of the ticks; nil uses the numbers
	YMin, YMax float64   // drawn range; both 0 means that of the data
	Bars       bool      // points are bars from 0
	Series     []Series
}

// SVG draws the figure as an svg element, in the colours of a page.
func (f Figure) SVG() chart.SVG {
	p := chart.Plot{
		Title:     f.Title,
		XLabel:    f.XLabel,
		YLabel:    f.YLabel,
		LogX:      f.LogX,
		Ticks:     f.Ticks,
		TickNames: f.TickNames,
		YMin:      f.YMin,
		YMax:      f.YMax,
		Sticks:    f.Bars,
	}
	for _, s := range f.Series {
		p.Series = append(p.Series, s.curve())
	}
	return p.SVG()
}

// curve converts a series for the plot. Its name is shown in the legend of the section.
func (s Series) curve() chart.Series {
	c := chart.Series{Style: s.Style, Marked: true}
	for _, p := range s.Points {
		if math.IsNaN(p.Y) {
			continue
		}
		c.X = append(c.X, p.X)
		c.Y = append(c.Y, p.Y)
		c.Low, c.High = append(c.Low, min(p.Low, p.Y)), append(c.High, max(p.High, p.Y)) // a mean may be outside the quartiles
	}
	return c
}
