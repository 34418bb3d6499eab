package chart

import "fmt"

// styles is how many colours, dashes and glyphs there are. Styles beyond repeat the colours
// with another dash and another glyph, so that curves are told apart without colour too.
const styles = 7

// colour is the class of a style's colour.
func colour(style int) string { return numbered("mark", style%styles) }

// dash is the class of how a style's line is broken, after a space; "" for a whole line.
func dash(style int) string {
	if n := (style + style/styles) % styles; n > 0 {
		return numbered(" dash", n)
	}
	return ""
}

func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s%d", name, n+1)
}

// glyph draws the sign of a style.
func (c *canvas) glyph(style int, x, y float64) {
	names := colour(style)
	switch (style + style/styles) % styles {
	case 0:
		c.Circle(at(x), at(y), 3.5, class(names))
	case 1:
		c.rect(names, x-3, y-3, 6, 6)
	case 2:
		c.triangle(names, x, y, 4.2)
	case 3:
		c.Circle(at(x), at(y), 3, class(names+" open"))
	case 4:
		c.rect(names+" open", x-2.8, y-2.8, 5.6, 5.6)
	case 5:
		c.triangle(names+" open", x, y, -4.2)
	default:
		c.line(names+" plus", x-3.5, y, x+3.5, y)
		c.line(names+" plus", x, y-3.5, x, y+3.5)
	}
}

// triangle points upwards, and downwards if size is below 0.
func (c *canvas) triangle(names string, x, y, size float64) {
	var p path
	p.add(x, y-size)
	p.add(x+.9*size, y+.6*size)
	p.add(x-.9*size, y+.6*size)
	c.Polygon(p.x, p.y, class(names))
}

// Swatch draws a piece of the curve of a style for a legend. A screen reader passes it over.
func Swatch(style int) SVG {
	const width, height = 36, 12
	c := blank(height)
	c.Startraw(view(width, height), `aria-hidden="true"`, class("swatch"))
	c.line(colour(style)+" curve"+dash(style), 0, height/2, width, height/2)
	c.glyph(style, width/2, height/2)
	return c.end()
}
