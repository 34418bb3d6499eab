package suite

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Point of a series; Low and High are the ends of its interval, NaN for none.
type Point struct{ X, Y, Low, High float64 }

// A Series is one curve. Its style is the same wherever it has the same Style,
// so that a legend serves several figures.
type Series struct {
	Name   string
	Style  int
	Points []Point
}

// A Figure is one small plot.
type Figure struct {
	Title, XLabel, YLabel string
	LogX                  bool      // X is on a logarithmic scale; every X is above 0
	Ticks                 []float64 // marked places of X, the ends of its range included; nil leaves both to the plot
	TickNames             []string  // what to write there; nil writes the numbers
	YMin, YMax            float64   // drawn range; both 0 means that of the data
	Bars                  bool      // points are bars from 0
	Series                []Series
}

// The size of a figure in points.
const figureWidth, figureHeight = 330, 215

// palette is the colour set of Okabe and Ito ("Color Universal Design", 2008)
// without black and yellow, which are hard to see on white or beside it.
var palette = [...]color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{86, 180, 233, 255}, {230, 159, 0, 255}, {90, 90, 90, 255},
}

// dashes tell curves apart without colour.
var dashes = [...][]vg.Length{
	nil, {vg.Length(6), vg.Length(2)}, {vg.Length(2), vg.Length(2)}, {vg.Length(8), vg.Length(2), vg.Length(2), vg.Length(2)},
	{vg.Length(4), vg.Length(4)}, {vg.Length(1), vg.Length(3)}, {vg.Length(10), vg.Length(4)},
}

// Styles beyond the palette repeat its colours with another dash and glyph.
func colorOf(style int) color.RGBA       { return palette[style%len(palette)] }
func dashOf(style int) []vg.Length       { return dashes[(style+style/len(palette))%len(dashes)] }
func glyphOf(style int) draw.GlyphDrawer { return glyphs()[(style+style/len(palette))%len(glyphs())] }

func glyphs() []draw.GlyphDrawer {
	return []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{},
		draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{},
	}
}

// SVG draws the figure as an svg element that needs nothing from elsewhere.
func (f Figure) SVG() (template.HTML, error) {
	p := plot.New()
	f.axes(p)
	for _, s := range f.Series {
		draw := f.curve
		if f.Bars {
			draw = f.bars
		}
		if err := draw(p, s); err != nil {
			return "", fmt.Errorf("figure %q: %w", f.Title, err)
		}
	}
	if f.Ticks != nil {
		p.X.Min, p.X.Max = slices.Min(f.Ticks), slices.Max(f.Ticks)
	}
	if f.YMin != 0 || f.YMax != 0 {
		p.Y.Min, p.Y.Max = f.YMin, f.YMax
	}
	canvas := vgsvg.New(figureWidth, figureHeight)
	p.Draw(draw.Crop(draw.New(canvas), 0, -12, 0, -2)) // room for the last label
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("figure %q: %w", f.Title, err)
	}
	return embed(b.String(), f.Title), nil
}

// embed makes an svg file an element of a page: it drops the prologue, lets the
// page decide the size, and uses the page's font.
func embed(svg, title string) template.HTML {
	body := strings.ReplaceAll(inner(svg), "font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal", "font-family:inherit")
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, //nolint:gosec // built here; its text is escaped
		figureWidth, figureHeight, template.HTMLEscapeString(title)) + body)
}

// inner returns what follows the opening tag of an svg file.
func inner(svg string) string {
	_, svg, _ = strings.Cut(svg, "<svg")
	_, svg, _ = strings.Cut(svg, ">")
	return svg
}

// axes sets the frame.
func (f Figure) axes(p *plot.Plot) {
	grey := color.RGBA{70, 70, 70, 255}
	p.X.Label.Text, p.Y.Label.Text = f.XLabel, f.YLabel
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = 10, 9
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = grey, grey
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = grey, grey
	}
	if f.LogX {
		p.X.Scale = plot.LogScale{}
	}
	if f.Ticks != nil {
		var ticks plot.ConstantTicks
		for i, x := range f.Ticks {
			tick := plot.Tick{Value: x, Label: fmt.Sprint(x)}
			if i < len(f.TickNames) {
				tick.Label = f.TickNames[i]
			}
			ticks = append(ticks, tick)
		}
		p.X.Tick.Marker = ticks
	}
	lines := plotter.NewGrid()
	lines.Vertical.Color = nil
	lines.Horizontal.Color, lines.Horizontal.Width = color.RGBA{225, 225, 225, 255}, .5
	p.Add(lines)
}

// curve adds a line with glyphs, and the intervals of its points.
func (f Figure) curve(p *plot.Plot, s Series) error {
	var at points
	for _, point := range s.Points {
		if !math.IsNaN(point.Y) {
			at = append(at, point)
		}
	}
	if len(at) == 0 {
		return nil
	}
	line, glyph, err := plotter.NewLinePoints(at)
	if err != nil {
		return err
	}
	intervals, err := plotter.NewYErrorBars(at)
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = colorOf(s.Style), 1.3, dashOf(s.Style)
	glyph.Color, glyph.Radius, glyph.Shape = colorOf(s.Style), 2.2, glyphOf(s.Style)
	intervals.LineStyle.Color, intervals.LineStyle.Width, intervals.CapWidth = colorOf(s.Style), .7, 3
	p.Add(line, intervals, glyph)
	return nil
}

// bars adds one upright line a point, from 0.
func (f Figure) bars(p *plot.Plot, s Series) error {
	for _, point := range s.Points {
		line, err := plotter.NewLine(plotter.XYs{{X: point.X, Y: 0}, {X: point.X, Y: point.Y}})
		if err != nil {
			return err
		}
		line.Color, line.Width = colorOf(s.Style), 1.8
		p.Add(line)
	}
	return nil
}

// points are the points of one curve as the plot wants them.
type points []Point

func (p points) Len() int                    { return len(p) }
func (p points) XY(i int) (float64, float64) { return p[i].X, p[i].Y }

// YError returns how far the interval reaches below and above, both at least 0.
func (p points) YError(i int) (float64, float64) {
	at := p[i]
	if math.IsNaN(at.Low) || math.IsNaN(at.High) {
		return 0, 0
	}
	return max(0, at.Y-at.Low), max(0, at.High-at.Y)
}

// Swatch is a piece of the curve for a legend.
func (s Series) Swatch() (template.HTML, error) {
	const width, height = 30, 10
	canvas := vgsvg.New(width, height)
	c := draw.New(canvas)
	c.StrokeLine2(draw.LineStyle{Color: colorOf(s.Style), Width: 1.6, Dashes: dashOf(s.Style)}, 0, height/2, width, height/2)
	c.DrawGlyph(draw.GlyphStyle{Color: colorOf(s.Style), Radius: 2.6, Shape: glyphOf(s.Style)}, vg.Point{X: width / 2, Y: height / 2})
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("legend of %q: %w", s.Name, err)
	}
	return template.HTML(fmt.Sprintf(`<svg class="swatch" viewBox="0 0 %d %d" aria-hidden="true">`, width, height) + inner(b.String())), nil //nolint:gosec // built here
}
