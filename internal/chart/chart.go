// Package chart draws the pictures of a report as svg elements that need nothing from
// elsewhere: no script, no font, no colour. Colours are those of the page's style sheet, by
// class, so that a picture is right in light, dark and print:
//
//	axis   lines and text of axes       grid   faint lines
//	mark   bars and curves              band   what an interval covers
//	note   text in a picture            hot    cells of a heat map, with an opacity, those below 0 cold
//	mark2, mark3   further curves
//
// A picture has a title, which a screen reader reads, and every place is rounded to a tenth
// of a unit, so that equal numbers give equal bytes. What is not finite is left out.
package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// width is that of every picture, in units of the picture; a page scales it.
const width = 480.

// An SVG is one element of markup that a page may hold as it is: every text in it was escaped.
type SVG string

// canvas collects the elements of a picture.
type canvas struct {
	strings.Builder
	height float64
}

// begin opens the picture.
func begin(title string, height float64) *canvas {
	c := &canvas{height: height}
	fmt.Fprintf(c, `<svg viewBox="0 0 %s %s" role="img" xmlns="http://www.w3.org/2000/svg"><title>%s</title>`, at(width), at(height), escape(title))
	return c
}

func (c *canvas) end() SVG {
	c.WriteString("</svg>")
	return SVG(c.String()) // every text went through escape
}

// at rounds a place.
func at(x float64) string {
	s := strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, at(x1), at(y1), at(x2), at(y2))
}

func (c *canvas) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(c, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, at(x), at(y), at(w), at(h))
}

// text writes a text whose anchor is start, middle or end.
func (c *canvas) text(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(c, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, at(x), at(y), escape(s))
}

// escape makes a text safe in a picture: names may come from anybody, so what could turn or hide
// text is replaced.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || c == ' ' {
			return c
		}
		return utf8.RuneError
	}, s))
}

// fit shortens a text to so many characters.
func fit(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// scale maps [low, high] to [from, to].
type scale struct{ low, high, from, to float64 }

func (s scale) at(x float64) float64 {
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

// label prints a tick.
func label(x float64) string {
	if x == 0 {
		return "0"
	}
	if a := math.Abs(x); a >= 1e5 || a < 1e-3 {
		return strings.Replace(strconv.FormatFloat(x, 'e', -1, 64), "e+", "e", 1)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
