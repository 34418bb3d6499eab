package suite

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

// wellFormed fails unless text is one XML element; SVG inside a page must be.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// checkPage fails unless a rendered page is complete and needs nothing from
// elsewhere. It returns its text.
func checkPage(t *testing.T, p Page) string {
	t.Helper()
	html, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	text := string(html)
	for _, element := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1) {
		wellFormed(t, element)
	}
	if outside := regexp.MustCompile(`(?i)<script|<link|<img|@import|url\(|(src|href)=`).FindString(text); outside != "" {
		t.Errorf("the page holds %s", outside)
	}
	for _, broken := range []string{"NaN", "ZgotmplZ", "%!"} {
		if strings.Contains(text, broken) {
			t.Errorf("the page holds %s", broken)
		}
	}
	if figures := strings.Count(text, "<figure>"); figures != strings.Count(text, "</figure>") ||
		figures != strings.Count(text, `role="img"`) || !strings.HasSuffix(text, "</html>\n") {
		t.Errorf("the page is not complete")
	}
	return text
}

func TestPageHTML(t *testing.T) {
	curve := Series{Name: "a<b", Points: []Point{{1, .2, .1, .3}, {10, .5, math.NaN(), math.NaN()}, {100, math.NaN(), 0, 1}}}
	text := checkPage(t, Page{
		Title: "R & D", Lead: []string{"first", "second"},
		Sections: []Section{{
			Title: "Part", Text: []string{"words"}, Legend: []Series{curve},
			Figures: []Figure{{Title: "a<b & c", XLabel: "epsilon", YLabel: "share", LogX: true, Ticks: []float64{1, 10, 100}, YMax: 1, Series: []Series{curve}}},
			Tables: []Table{{Caption: "numbers", Head: []string{"name", "value"}, Rows: [][]Entry{
				{{Text: "x<y"}, {Text: "0.5", Note: "± 0.1", Heat: .5, Strong: true}}, {{Text: "z"}, {Text: "why", Prose: true, Heat: math.NaN()}},
			}}},
		}},
	})
	for _, want := range []string{
		"<title>R &amp; D</title>", "<p>second</p>", "<h2>Part</h2>", "a&lt;b", `aria-label="a&lt;b &amp; c"`, ">epsilon<", ">100<",
		"<caption>numbers</caption>", "<th>value</th>", "<td>x&lt;y</td>",
		`<td class="strong" style="background:rgb(171,208,235)">0.5<small>± 0.1</small></td>`, `<td class="prose">why</td>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestFigureDrawsWhatThereIs(t *testing.T) {
	f := Figure{Title: "f", YMax: 1, Ticks: []float64{0, 1}, TickNames: []string{"all", "5"}}
	empty, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	nothing := Series{Points: []Point{{0, math.NaN(), math.NaN(), math.NaN()}}}
	f.Series = []Series{nothing}
	if same, err := f.SVG(); err != nil || same != empty {
		t.Errorf("a series without a point changed the figure: %v", err)
	}
	f.Series = []Series{{Points: []Point{{0, .5, .4, .6}, {1, .7, .6, .8}}}}
	drawn, err := f.SVG()
	if err != nil || len(drawn) <= len(empty) || !strings.Contains(string(drawn), ">all<") {
		t.Errorf("%v:\n%s", err, drawn)
	}
	wellFormed(t, string(drawn))
	f.Bars = true
	if bars, err := f.SVG(); err != nil || bars == drawn {
		t.Errorf("bars: %v", err)
	}
}

func TestPointsIntervals(t *testing.T) {
	p := points{{0, .5, .4, .7}, {0, .5, .6, .4}, {0, .5, math.NaN(), 1}}
	for i, want := range [][2]float64{{.1, .2}, {0, 0}, {0, 0}} {
		low, high := p.YError(i)
		if !near(low, want[0]) || !near(high, want[1]) {
			t.Errorf("point %d: %v below, %v above", i, low, high)
		}
	}
}
