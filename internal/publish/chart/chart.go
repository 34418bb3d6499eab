// Package chart draws the pictures of reports and of the pages of suites as self-contained svg elements without
// scripts, fonts or colours. Colours come from the style sheet of the page (package document), by class, so that a
// picture works in light and dark mode and in print:
//
//	axis   lines and text of axes       grid   faint lines
//	mark   bars and curves              band   the area of an interval
//	note   text in a picture            hot    cells of a heat map, with an opacity, those below 0 cold
//	mark2 to mark7   further curves     dash2 to dash7   the dash patterns of their lines
//	curve  a line                       open   a glyph that is not filled
//	error  the interval of a point      whisker   the same in the colour of text
//
// The library svgo writes the elements and escapes texts; this package does the layout. A picture has a title for
// screen readers, and every coordinate is rounded to a tenth of a unit, so that equal numbers give equal bytes.
// Values that are not finite are left out.
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

// width is the width of every picture, in units of the picture; a page scales it.
const width = 480.

// letter is the typical width of a character in the largest type. The style sheet makes the type larger in pictures
// that are scaled down, at most 16 units, and the layout has space for that.
const letter = 8.5

// An SVG is an element of markup that can be embedded in a page without changes: every text in it is escaped.
type SVG string

// canvas collects the elements of a picture. Attributes are constants of this package or numbers, because svgo
// escapes only texts.
type canvas struct {
	*svg.SVG
	out    *strings.Builder
	height float64
}

// newCanvas returns an empty canvas.
func newCanvas(height float64) *canvas {
	out := &strings.Builder{}
	c := &canvas{svg.New(out), out, height}
	c.Decimals = 1
	return c
}

// newTitled starts a picture with a title.
func newTitled(title string, height float64) *canvas {
	c := newCanvas(height)
	c.Startraw(viewBox(width, height), `role="img"`)
	c.Title(replaceControls(title))
	return c
}

// viewBox is the attribute with the size of a picture in its own units.
func viewBox(width, height float64) string {
	return fmt.Sprintf(
		`viewBox="0 0 %g %g"`,
		roundCoordinate(width),
		roundCoordinate(height),
	)
}

// endSVG ends the picture. It removes the prologue that svgo writes for files, because an element of a page has no
// prologue.
func (c *canvas) endSVG() SVG {
	c.End()
	_, element, _ := strings.Cut(c.out.String(), "<svg")
	return SVG("<svg" + element)
}

// roundCoordinate rounds a coordinate and removes the sign of 0.
func roundCoordinate(x float64) float64 {
	return math.Round(x*10)/10 + 0
}

// classAttribute returns the class attribute. names must not contain untrusted text.
func classAttribute(names string) string {
	return `class="` + names + `"`
}

func (c *canvas) line(names string, x1, y1, x2, y2 float64) {
	c.Line(
		roundCoordinate(x1),
		roundCoordinate(y1),
		roundCoordinate(x2),
		roundCoordinate(y2),
		classAttribute(names),
	)
}

func (c *canvas) rect(names string, x, y, w, h float64, more ...string) {
	c.Rect(
		roundCoordinate(x),
		roundCoordinate(y),
		roundCoordinate(w),
		roundCoordinate(h),
		append([]string{classAttribute(names)}, more...)...,
	)
}

// text writes a text whose anchor is start, middle or end.
func (c *canvas) text(
	names, anchor string,
	x, y float64,
	s string,
	more ...string,
) {
	c.Text(
		roundCoordinate(x),
		roundCoordinate(y),
		replaceControls(s),
		append([]string{classAttribute(names), `text-anchor="` + anchor + `"`}, more...)...,
	)
}

// A path is a list of points.
type path struct{ x, y []float64 }

func (p *path) addPoint(x, y float64) {
	p.x, p.y = append(p.x, roundCoordinate(x)), append(p.y, roundCoordinate(y))
}

// replaceControls replaces characters that could reverse or hide text, because names may come from untrusted sources.
// svgo escapes the rest.
func replaceControls(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || c == ' ' {
			return c
		}
		return utf8.RuneError
	}, s)
}

// mostLines is the maximum number of lines of a label, because untrusted names may be as long as a page.
const mostLines = 8

// breakLines breaks a text into lines of at most the given number of characters: between words if possible, else after a
// mark within a name, such as that of month.day. It shortens a text of more than mostLines lines.
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
			end := most
			for k := most; k > most/3; k-- {
				if strings.ContainsRune("._-/:", letters[k-1]) {
					end = k
					break
				}
			}
			out = append(out, string(letters[:end]))
			letters = letters[end:]
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

// fitWidth shortens a text to the given number of characters.
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
		x /= 1e6
		suffix = "M"
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

func isFinite(x float64) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0)
}
