package chart

import "fmt"

// styles is the number of colours, dashes and glyphs. Further styles repeat the colours with another dash and another
// glyph, so that curves can be distinguished without colour too.
const styles = 7

// colourClass is the class for the colour of a style.
func colourClass(style int) string {
	return numberedClass("mark", style%styles)
}

// dashPattern is the class for the dash pattern of a style, after a space; "" for a solid line.
func dashPattern(style int) string {
	if n := (style + style/styles) % styles; n > 0 {
		return numberedClass(" dash", n)
	}
	return ""
}

func numberedClass(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s%d", name, n+1)
}

// drawGlyph draws the glyph of a style.
func (c *canvas) drawGlyph(style int, x, y float64) {
	names := colourClass(style)
	switch (style + style/styles) % styles {
	case 0:
		c.Circle(roundCoordinate(x), roundCoordinate(y), 3.5, classAttribute(names))
	case 1:
		c.rect(names, x-3, y-3, 6, 6)
	case 2:
		c.drawTriangle(names, x, y, 4.2)
	case 3:
		c.Circle(
			roundCoordinate(x),
			roundCoordinate(y),
			3,
			classAttribute(names+" open"),
		)
	case 4:
		c.rect(names+" open", x-2.8, y-2.8, 5.6, 5.6)
	case 5:
		c.drawTriangle(names+" open", x, y, -4.2)
	default:
		c.line(names+" plus", x-3.5, y, x+3.5, y)
		c.line(names+" plus", x, y-3.5, x, y+3.5)
	}
}

// drawTriangle draws a triangle that points upwards, or downwards if size is negative.
func (c *canvas) drawTriangle(names string, x, y, size float64) {
	var p path
	p.addPoint(x, y-size)
	p.addPoint(x+.9*size, y+.6*size)
	p.addPoint(x-.9*size, y+.6*size)
	c.Polygon(p.x, p.y, classAttribute(names))
}

// Swatch draws a piece of the curve of a style for a legend. Screen readers ignore it.
func Swatch(style int) SVG {
	const width, height = 36, 12
	c := newCanvas(height)
	c.Startraw(viewBox(width, height), `aria-hidden="true"`, classAttribute("swatch"))
	c.line(colourClass(style)+" curve"+dashPattern(style), 0, height/2, width, height/2)
	c.drawGlyph(style, width/2, height/2)
	return c.endSVG()
}
