// Package chart draws the pictures of reports and of the pages of suites as svg elements that
// need nothing from elsewhere: no script, no font, no colour. Colours are those of the page's
// style sheet (package document), by class, so that a picture is right in light, dark and print:
//
//	axis   lines and text of axes       grid   faint lines
//	mark   bars and curves              band   what an interval covers
//	note   text in a picture            hot    cells of a heat map, with an opacity, those below 0 cold
//	mark2 to mark7   further curves     dash2 to dash7   how their lines are broken
//	curve  a line                       open   a glyph that is not filled
//	error  the interval of a point      whisker   the same in the colour of text
//
// The library svgo writes the elements and escapes texts; layout is done here. A picture has a
// title, which a screen reader reads, and every place is rounded to a tenth of a unit, so that
// equal numbers give equal bytes. What is not finite is left out.
package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	svg "github.com/ajstarks/svgo/float"
)

// width is that of every picture, in units of the picture; a page scales it.
const width = 480.

// An SVG is one element of markup that a page may hold as it is: every text in it was escaped.
type SVG string

// canvas collects the elements of a picture. Attributes are constants of this package and
// numbers: svgo escapes texts only.
type canvas struct {
	*svg.SVG
	out    *strings.Builder
	height float64
}

// newCanvas returns a canvas that holds nothing yet.
func newCanvas(height float64) *canvas {
	out := &strings.Builder{}
	c := &canvas{svg.New(out), out, height}
	c.Decimals = 1
	return c
}

// newTitled opens a picture.
func newTitled(title string, height float64) *canvas {
	c := newCanvas(height)
	c.Startraw(viewBox(width, height), `role="img"`)
	c.Title(replaceControls(title))
	return c
}

// viewBox is the attribute that says how large a picture is in its own units.
func viewBox(width, height float64) string {
	return fmt.Sprintf(`viewBox="0 0 %g %g"`, roundCoordinate(width), roundCoordinate(height))
}

// endSVG closes the picture. An element of a page has no prologue, which svgo writes for files.
func (c *canvas) endSVG() SVG {
	c.End()
	_, element, _ := strings.Cut(c.out.String(), "<svg")
	return SVG("<svg" + element)
}

// roundCoordinate rounds a place; 0 has no sign.
func roundCoordinate(x float64) float64 { return math.Round(x*10)/10 + 0 }

// classAttribute is the attribute of that name. Its value is never a text of somebody else.
func classAttribute(names string) string { return `class="` + names + `"` }

func (c *canvas) line(names string, x1, y1, x2, y2 float64) {
	c.Line(roundCoordinate(x1), roundCoordinate(y1), roundCoordinate(x2), roundCoordinate(y2), classAttribute(names))
}

func (c *canvas) rect(names string, x, y, w, h float64, more ...string) {
	c.Rect(roundCoordinate(x), roundCoordinate(y), roundCoordinate(w), roundCoordinate(h), append([]string{classAttribute(names)}, more...)...)
}

// text writes a text whose anchor is start, middle or end.
func (c *canvas) text(names, anchor string, x, y float64, s string, more ...string) {
	c.Text(roundCoordinate(x), roundCoordinate(y), replaceControls(s), append([]string{classAttribute(names), `text-anchor="` + anchor + `"`}, more...)...)
}

// A path is a list of places.
type path struct{ x, y []float64 }

func (p *path) addPoint(x, y float64) {
	p.x, p.y = append(p.x, roundCoordinate(x)), append(p.y, roundCoordinate(y))
}

// replaceControls replaces what could turn or hide text: names may come from anybody. svgo escapes the rest.
func replaceControls(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || c == ' ' {
			return c
		}
		return utf8.RuneError
	}, s)
}

// mostLines bounds the lines of a label: a name may come from anybody, and be as long as a page.
const mostLines = 8

// breakLines breaks a text into lines of at most so many characters, between words where that is possible. It shortens a text of
// more than mostLines lines.
func breakLines(s string, most int) []string {
	var out []string
	line := ""
	flush := func() {
		if line != "" {
			out = append(out, line)
		}
		line = ""
	}
	for _, word := range strings.Fields(replaceControls(s)) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= most {
			line += " " + word
			continue
		}
		flush()
		letters := []rune(word)
		for len(letters) > most {
			out = append(out, string(letters[:most]))
			letters = letters[most:]
		}
		line = string(letters)
	}
	flush()
	switch {
	case len(out) == 0:
		return []string{""}
	case len(out) > mostLines:
		out = append(out[:mostLines-1], fitWidth(out[mostLines-1], most-1)+"…")
	}
	return out
}

// fitWidth shortens a text to so many characters.
func fitWidth(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// scale maps [low, high] to [from, to].
type scale struct{ low, high, from, to float64 }

func (s scale) position(x float64) float64 {
	if s.high == s.low {
		return (s.from + s.to) / 2
	}
	return s.from + (x-s.low)/(s.high-s.low)*(s.to-s.from)
}

// ticks returns at most about n round numbers in [low, high].
func ticks(low, high float64, n int) []float64 {
	span := high - low
	if !(span > 0) || math.IsInf(span, 0) {
		return []float64{low}
	}
	step := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, f := range []float64{1, 2, 5, 10} {
		if span/(step*f) <= float64(n) {
			step *= f
			break
		}
	}
	var out []float64
	for i := math.Ceil(low/step - 1e-9); i <= math.Floor(high/step+1e-9); i++ {
		out = append(out, i*step)
	}
	return out
}

// tickLabel prints a tick with six digits and thousands separators, millions with an M.
func tickLabel(x float64) string {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	suffix := ""
	switch a := math.Abs(x); {
	case x == 0:
		return "0"
	case a >= 1e9 || a < 1e-3:
		return strings.Replace(strconv.FormatFloat(x, 'e', -1, 64), "e+", "e", 1)
	case a >= 1e6:
		x, suffix = x/1e6, "M"
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole + suffix
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
