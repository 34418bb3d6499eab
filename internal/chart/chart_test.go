package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// wellFormed returns the texts of a picture, and fails if it is no XML.
func wellFormed(t *testing.T, svg SVG) []string {
	t.Helper()
	var out []string
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if text, ok := token.(xml.CharData); ok {
			out = append(out, string(text))
		}
	}
}

// TestPictures: every picture is XML with its title, whatever the names and the numbers are.
func TestPictures(t *testing.T) {
	const name = `<b onload="x">&'`
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e300, -1e300, 5e-324}
	for title, svg := range map[string]SVG{
		"bars":    Bars(name, []Bar{{Label: name, Value: 1, Low: .5, High: 2, Text: name}, {Label: strings.Repeat("é", 99), Value: math.NaN()}, {Value: math.Inf(-1)}}),
		"none":    Bars(name, nil),
		"plot":    Plot{Title: name, XLabel: name, YLabel: name, Series: []Series{{Name: name, X: odd, Y: odd, Low: odd, High: odd}, {Name: "b", X: odd, Y: odd, Points: true}}}.SVG(),
		"one":     Plot{Title: name, Series: []Series{{X: []float64{1}, Y: []float64{2}}}}.SVG(),
		"nothing": Plot{Title: name}.SVG(),
		"logs":    Plot{Title: name, LogY: true, Series: []Series{{X: []float64{1, 2, 3}, Y: []float64{1e-9, 0, .1}}}}.SVG(),
		"square":  Plot{Title: name, Square: true, Series: []Series{{X: []float64{0, 1}, Y: []float64{0, 1}, Points: true, Low: []float64{0, .5}, High: []float64{1, 1}}}}.SVG(),
		"heat":    Heat{Title: name, XLabel: name, YLabel: name, Rows: []string{name, "b"}, Columns: []string{name, "b"}, Shares: [][]float64{odd[:2], {0, 2}}, Texts: [][]string{{"1", "2"}, {"3", "4"}}}.SVG(),
	} {
		if texts := wellFormed(t, svg); len(texts) == 0 || texts[0] != name {
			t.Errorf("%s: %q", title, texts)
		}
		if s := string(svg); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.Contains(s, "<b") {
			t.Errorf("%s: %s", title, s)
		}
	}
}

// TestBarPlaces: the length of a bar is proportional to its value, and bars begin at 0.
func TestBarPlaces(t *testing.T) {
	svg := string(Bars("t", []Bar{{Value: 1}, {Value: 2}, {Value: -1}}))
	for _, want := range []string{`x="234.7" y="7" width="76.7"`, `x="234.7" y="29" width="153.3"`, `x="158" y="51" width="76.7"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []float64
	}{
		{0, 1, []float64{0, .2, .4, .6000000000000001, .8, 1}},
		{-3, 11, []float64{0, 5, 10}},
		{1e6, 5e6, []float64{1e6, 2e6, 3e6, 4e6, 5e6}},
		{2, 2, []float64{2}},
	} {
		if got := ticks(c.low, c.high, 5); !slices.Equal(got, c.want) {
			t.Errorf("%v to %v: %v, want %v", c.low, c.high, got, c.want)
		}
	}
	for x, want := range map[float64]string{0: "0", .25: "0.25", 2e6: "2e06", 1e-7: "1e-07", -40: "-40"} {
		if got := label(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
