package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wellFormed returns the texts of a picture, and fails if it is not XML.
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
		text, ok := token.(xml.CharData)
		if ok && strings.TrimSpace(string(text)) != "" {
			out = append(out, string(text))
		}
	}
}

// TestPicturesAreXML checks that every picture is XML with its title, for any names and numbers.
func TestPicturesAreXML(t *testing.T) {
	const name = `<b onload="x">&'</title><script>alert(1)</script>`
	odd := []float64{
		math.NaN(),
		math.Inf(1),
		math.Inf(-1), 0, 1e300,
		-1e300, 5e-324,
	}
	for title, svg := range map[string]SVG{
		"bars": Bars(
			name,
			[]Bar{
				{
					Label: name,
					Value: 1,
					Low:   .5,
					High:  2,
					Text:  name,
				},
				{Label: strings.Repeat("é", 99), Value: math.NaN()},
				{Value: math.Inf(-1)},
			},
		),
		"none": Bars(name, nil),
		"plot": Plot{
			Title:  name,
			XLabel: name,
			YLabel: name,
			Series: []Series{
				{
					Name: name,
					X:    odd,
					Y:    odd,
					Low:  odd,
					High: odd,
				},
				{
					Name:   "b",
					X:      odd,
					Y:      odd,
					Points: true,
				},
			},
		}.SVG(),
		"one": Plot{
			Title: name,
			Series: []Series{{
				X: []float64{1},
				Y: []float64{2},
			}},
		}.SVG(),
		"nothing": Plot{Title: name}.SVG(),
		"logs": Plot{
			Title: name,
			LogY:  true,
			Series: []Series{{
				X: []float64{1, 2, 3},
				Y: []float64{1e-9, 0, .1},
			}},
		}.SVG(),
		"marked": Plot{
			Title:     name,
			XLabel:    name,
			LogX:      true,
			Ticks:     []float64{1, 10, 100},
			TickNames: []string{name},
			YMax:      1,
			Series: []Series{{
				Name:   name,
				Style:  9,
				X:      []float64{1, 10, 1000},
				Y:      []float64{.5, 2, -1},
				Low:    []float64{.4, math.NaN(), 0},
				High:   []float64{.6, 1, 1},
				Marked: true,
			}},
		}.SVG(),
		"sticks": Plot{
			Title:  name,
			Sticks: true,
			Series: []Series{{X: odd, Y: odd}},
		}.SVG(),
		"square": Plot{
			Title:  name,
			Square: true,
			Series: []Series{{
				X:      []float64{0, 1},
				Y:      []float64{0, 1},
				Points: true,
				Low:    []float64{0, .5},
				High:   []float64{1, 1},
			}},
		}.SVG(),
		"heat": Heat{
			Title:   name,
			XLabel:  name,
			YLabel:  name,
			Rows:    []string{name, "b"},
			Columns: []string{name, "b"},
			Shares:  [][]float64{odd[:2], {0, 2}},
			Texts: [][]string{
				{"1", "2"},
				{"3", "4"},
			},
		}.SVG(),
	} {
		texts := wellFormed(t, svg)
		if len(texts) == 0 || texts[0] != name {
			t.Errorf("%s: %q", title, texts)
		}
		s := string(svg)
		if strings.Contains(s, "NaN") ||
			strings.Contains(s, "Inf") ||
			strings.Contains(s, "<b") ||
			strings.Contains(s, "<script") ||
			strings.Contains(s, "<?") {
			t.Errorf("%s: %s", title, s)
		}
	}
}

// TestHostileNames checks that any name is only text in the picture, and that characters that reverse or hide text
// are replaced.
func TestHostileNames(t *testing.T) {
	const odd = "\"><rect onclick='x'/>\n\u202e]]>&#x3c;\x00"
	const want = "\"><rect onclick='x'/>\ufffd\ufffd]]>&#x3c;\ufffd"
	svg := Plot{
		Title:  odd,
		XLabel: odd,
		YLabel: odd,
		Series: []Series{
			{
				Name: odd,
				X:    []float64{1, 2},
				Y:    []float64{1, 2},
			},
			{Name: odd},
		},
	}.SVG()
	named := 0
	for _, text := range wellFormed(t, svg) {
		if text == want || text == fitWidth(want, 34) {
			named++
		}
	}
	if named != 5 { // the title, the axes, two series
		t.Errorf("%d texts in %s", named, svg)
	}
	if strings.Contains(string(svg), "<rect") ||
		strings.Contains(string(svg), "onclick='") {
		t.Errorf("%s", svg)
	}
}

// TestScreenReadersSeeTitledImage checks that screen readers see a picture as an image with its title, and ignore the
// signs of a legend.
func TestScreenReadersSeeTitledImage(t *testing.T) {
	s := string(Bars("t", nil))
	if !strings.HasPrefix(s, "<svg") ||
		!strings.Contains(s, `role="img"`) ||
		!strings.Contains(s, "<title>t</title>") {
		t.Error(s)
	}
	s = string(Swatch(3))
	if !strings.Contains(s, `aria-hidden="true"`) ||
		strings.Contains(s, "role=") {
		t.Error(s)
	}
}

// TestStylesAreDistinct checks that two styles of fifty have the same colour, dash and glyph only if they are 49 apart.
func TestStylesAreDistinct(t *testing.T) {
	seen := map[SVG]int{}
	for i := range 49 {
		s := Swatch(i)
		if j, ok := seen[s]; ok {
			t.Errorf(
				"styles %d and %d look the same",
				i, j,
			)
		}
		seen[s] = i
	}
	wellFormed(t, Swatch(1e6))
}

// TestLogPlaces checks that on a logarithmic axis equal ratios have equal distances, and that values outside the
// drawn range are drawn at its edge.
func TestLogPlaces(t *testing.T) {
	svg := string(
		Plot{
			LogX:  true,
			Ticks: []float64{1, 10, 100},
			YMax:  1,
			Series: []Series{{
				X: []float64{1, 10, 100},
				Y: []float64{0, .5, 7},
			}},
		}.SVG())
	if !strings.Contains(svg, `points="86.0,196.0 272.0,103.0 458.0,10.0"`) {
		t.Error(svg)
	}
	crowded := string(Plot{Ticks: []float64{1, 1.01, 2}}.SVG())
	if strings.Contains(crowded, ">1.01<") ||
		!strings.Contains(crowded, ">2<") {
		t.Error(crowded)
	}
}

// TestBarPlaces checks that the length of a bar is proportional to its value, and that bars start at 0.
func TestBarPlaces(t *testing.T) {
	svg := string(Bars(
		"t",
		[]Bar{{Value: 1}, {Value: 2}, {Value: -1}},
	))
	for _, want := range []string{
		`x="133.3" y="7.0" width="120.3"`,
		`x="133.3" y="31.0" width="240.7"`,
		`x="13.0" y="55.0" width="120.3"`,
	} {
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
		{
			0, 1,
			[]float64{0, .2, .4, .6000000000000001, .8, 1},
		},
		{-3, 11, []float64{0, 5, 10}},
		{1e6, 5e6, []float64{1e6, 2e6, 3e6, 4e6, 5e6}},
		{2, 2, []float64{2}},
	} {
		got := ticks(c.low, c.high, 5)
		if !slices.Equal(got, c.want) {
			t.Errorf(
				"%v to %v: %v, want %v",
				c.low, c.high, got, c.want,
			)
		}
	}
	for x, want := range map[float64]string{
		0:                      "0",
		.25:                    "0.25",
		1.0000000000000006e300: "1e300",
		2e6:                    "2M",
		-12345678:              "-12.3457M",
		39400:                  "39,400",
		-1000:                  "-1,000",
		-100:                   "-100",
		999999:                 "999,999",
		1e-7:                   "1e-07",
		-40:                    "-40",
	} {
		if got := tickLabel(x); got != want {
			t.Errorf(
				"%v: %s, want %s",
				x, got, want,
			)
		}
	}
}

// TestLabelsAreWhole checks that long labels take several lines without losing a character.
func TestLabelsAreWhole(t *testing.T) {
	const name = "number of previous inpatient admissions within 12 months (any_hospital_in_the_region_or_abroad)"
	for _, picture := range []SVG{
		Bars(
			"t",
			[]Bar{
				{Label: name, Value: 1},
				{Label: "short", Value: 2},
			},
		),
		Plot{
			Title:  "t",
			YLabel: name,
			Series: []Series{{
				X: []float64{1, 2},
				Y: []float64{1, 2},
			}},
		}.SVG(),
	} {
		var text strings.Builder
		for _, m := range regexp.MustCompile(`>([^<>]+)</text>`).FindAllStringSubmatch(
			string(picture),
			-1,
		) {
			text.WriteString(m[1])
		}
		got := strings.ReplaceAll(text.String(), " ", "")
		want := strings.ReplaceAll(name, " ", "")
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	got := breakLines(strings.Repeat("x", 1000), 10)
	if len(got) != mostLines ||
		!strings.HasSuffix(got[mostLines-1], "…") {
		t.Errorf("a name of 1,000 characters: %q", got)
	}
}

// TestInterval checks that the interval and the estimate are always within the picture, and that values that are not
// finite are left out.
func TestInterval(t *testing.T) {
	for _, p := range []Interval{
		{
			Title: "t",
			Value: .5,
			Low:   .4,
			High:  .6,
			To:    1,
		},
		{
			Title:         "t",
			Value:         -7,
			Low:           -9,
			High:          3,
			To:            1,
			Reference:     .3,
			ReferenceName: "a",
		},
		{
			Title:         "t",
			Value:         math.NaN(),
			Low:           math.Inf(-1),
			High:          math.NaN(),
			From:          -1,
			To:            1,
			Reference:     math.NaN(),
			ReferenceName: "b",
		},
	} {
		s := string(p.SVG())
		for _, m := range regexp.MustCompile(` (?:x|x1|x2)="([^"]*)"`).FindAllStringSubmatch(
			s,
			-1,
		) {
			x, err := strconv.ParseFloat(m[1], 64)
			if err != nil || x < 0 || x > width {
				t.Errorf(
					"%+v: place %s",
					p, m[1],
				)
			}
		}
	}
}
