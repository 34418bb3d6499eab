package suite

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wellFormed fails unless text is one XML element, as required of SVG inside a page.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// checkPage fails unless a rendered page is complete and self-contained. It returns the text of the page.
func checkPage(t *testing.T, p Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, element := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(
		text,
		-1,
	) {
		wellFormed(t, element)
	}
	outside := regexp.MustCompile(
		`(?i)<script|<link|<img|@import|url\(|src=|href="[^#]`).FindString(text)
	if outside != "" {
		t.Errorf("the page holds %s", outside)
	}
	for _, broken := range []string{"NaN", "ZgotmplZ", "%!"} {
		if strings.Contains(text, broken) {
			t.Errorf("the page holds %s", broken)
		}
	}
	figures := strings.Count(text, "<figure>")
	if figures != strings.Count(text, "</figure>") ||
		figures != strings.Count(text, `role="img"`) ||
		!strings.HasSuffix(text, "</html>\n") {
		t.Errorf("the page is not complete")
	}
	return text
}

func TestPageHTML(t *testing.T) {
	curve := Series{
		Name: "a<b",
		Points: []Point{
			{1, .2, .1, .3},
			{10, .5, math.NaN(), math.NaN()},
			{100, math.NaN(), 0, 1},
		},
	}
	text := checkPage(t, Page{
		Title: "R & D",
		Lead:  []string{"first", "second"},
		Sections: []Section{{
			Title:  "Part",
			Text:   []string{"words"},
			Legend: []Series{curve},
			Figures: []Figure{{
				Title:  "a<b & c",
				XLabel: "epsilon",
				YLabel: "share",
				LogX:   true,
				Ticks:  []float64{1, 10, 100},
				YMax:   1,
				Series: []Series{curve},
			}},
			Tables: []Table{{
				Caption: "numbers",
				Head:    []string{"name", "value"},
				Rows: [][]Entry{
					{
						{Text: "x<y"},
						{
							Text:   "0.5",
							Note:   "± 0.1",
							Heat:   .5,
							Strong: true,
						},
					},
					{
						{Text: "z"},
						{
							Text:  "why",
							Prose: true,
							Heat:  math.NaN(),
						},
					},
				},
			}},
		}},
	})
	for _, want := range []string{
		"<title>R &amp; D</title>", `<p class="lead">second</p>`, `<h2 id="part-1-title">Part</h2>`,
		"a&lt;b", "<title>a&lt;b &amp; c</title>", ">epsilon<", ">100<",
		"<p>numbers</p>", `<th scope="col">value</th>`, `<th scope="row">x&lt;y</th>`,
		`<td class="strong hot" style="--heat:0.50">0.5<small>± 0.1</small></td>`,
		`<td class="prose">why</td>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestFigureDrawsWhatThereIs(t *testing.T) {
	f := Figure{
		Title:     "f",
		YMax:      1,
		Ticks:     []float64{0, 1},
		TickNames: []string{"all", "5"},
	}
	empty := f.SVG()
	f.Series = []Series{{Points: []Point{{0, math.NaN(), math.NaN(), math.NaN()}}}}
	if f.SVG() != empty {
		t.Error("a series without a point changed the figure")
	}
	f.Series = []Series{{Points: []Point{
		{0, .5, .4, .6},
		{1, .7, .6, .8},
	}}}
	drawn := f.SVG()
	if len(drawn) <= len(empty) ||
		!strings.Contains(string(drawn), ">all<") {
		t.Errorf("%s", drawn)
	}
	wellFormed(t, string(drawn))
	f.Bars = true
	if f.SVG() == drawn {
		t.Error("bars are drawn as a curve")
	}
}

// TestCurveIntervals checks that an interval contains its point, and that a point without ends has no interval.
func TestCurveIntervals(t *testing.T) {
	c := Series{
		Style: 3,
		Points: []Point{
			{0, .5, .4, .7},
			{1, .5, .6, .4},
			{2, .5, math.NaN(), 1},
			{3, math.NaN(), 0, 1},
		},
	}.curve()
	if c.Style != 3 ||
		!slices.Equal(c.X, []float64{0, 1, 2}) ||
		!slices.Equal(c.Low[:2], []float64{.4, .5}) ||
		!slices.Equal(c.High[:2], []float64{.7, .5}) ||
		!math.IsNaN(c.Low[2]) {
		t.Errorf("%+v", c)
	}
}
