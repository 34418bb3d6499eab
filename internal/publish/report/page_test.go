package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// evil is a name that would be executed by a page without escaping.
const evil = "<img src=x onerror=\"alert(1)\">|*_`\n\u202e"

// evilSource returns a release in which every name is hostile.
func evilSource(columns int) Source {
	limits := regression.Linear{
		Target: evil,
		Lower:  0,
		Upper:  9,
	}
	shapes := make([]regression.Shape, 0, columns)
	r := &Report{
		Format: Format,
		Guarantee: Guarantee{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: "add-remove",
			Unit:     &Unit{evil, 2},
			Profile: []Point{
				{.5, 1e-8},
				{1, 1e-6},
				{2, 0},
			},
		},
		Training: &Training{
			Task:   regression.TaskRegression,
			Target: evil,
			Model:  Model{evil, "additive"},
			Metrics: Metrics{R2: &R2{
				Value: .5,
				Lower: .4,
				Upper: .6,
				Level: .95,
			}},
		},
		Events: []Event{
			{
				ID:    evil,
				Stage: evil,
				Law:   evil,
				Draws: 2,
				Mu:    .1,
				Part:  "train",
			},
			{
				ID:      "b",
				Law:     "exponential",
				Draws:   1,
				Epsilon: .1,
				Part:    "train",
				Taken:   new(bool),
			},
		},
		Warnings: []pipeline.Warning{
			{
				Code:     evil,
				Severity: pipeline.Negligible,
				Text:     evil,
			},
			{
				Code:     "c",
				Severity: pipeline.Critical,
				Text:     "first",
			},
		},
		Ledger: &Ledger{Dataset: evil},
	}
	r.Unprotected = []pipeline.Fact{
		{Name: evil, Value: evil},
		{Name: "n", Value: 3.5},
	}
	for i := range columns {
		name := fmt.Sprint(evil, i)
		c := regression.Column{
			Name:  name,
			Lower: -1,
			Upper: 1,
		}
		if i%3 == 2 {
			c = regression.Column{
				Name:       name,
				Type:       regression.Category,
				Categories: []string{evil, "b"},
				Other:      true,
			}
			limits.Terms = append(
				limits.Terms,
				regression.Term{
					Column:      i,
					Category:    evil,
					Coefficient: 1,
					StdError:    .1,
				},
				regression.Term{
					Column:      i,
					Other:       true,
					Coefficient: -1,
				},
			)
		} else {
			limits.Terms = append(
				limits.Terms,
				regression.Term{
					Column:      i,
					Coefficient: float64(i),
					StdError:    .1,
				},
				regression.Term{
					Column:      i,
					Missing:     true,
					Coefficient: .5,
				},
			)
		}
		if i%3 == 1 {
			shapes = append(
				shapes,
				regression.Shape{
					Column: i,
					Step: regression.Step{
						Edges:  []float64{-.5, .5},
						Values: []float64{-1, 0, 1},
					},
				},
			)
		}
		limits.Columns = append(limits.Columns, c)
		r.Features.Considered = append(r.Features.Considered, name)
		r.Features.Selected = append(r.Features.Selected, name)
		r.Importances = append(
			r.Importances,
			Importance{
				Column: name,
				Value:  1,
				Upper:  2,
				Level:  .95,
			},
		)
	}
	return Source{
		r,
		&regression.Additive{Linear: limits, Shapes: shapes},
		[]byte("target: " + evil + "```\n"),
	}
}

func pageOn(t *testing.T, s Source) (html, markdown string) {
	t.Helper()
	var h, m bytes.Buffer
	err := errors.Join(HTML(&h, s), Markdown(&m, s))
	if err != nil {
		t.Fatal(err)
	}
	return h.String(), m.String()
}

// TestPageLoadsNoResources checks that a page loads no external resources and runs no code, whatever the names in a
// release; that its elements are balanced; and that it is below 1 MB with 300 columns.
func TestPageLoadsNoResources(t *testing.T) {
	files := lineFiles(t)
	for name, s := range map[string]Source{
		"line": {files.Report, files.Model, files.Recipe},
		"none": {Report: &Report{
			Format:   Format,
			Training: &Training{Model: Model{Method: "tukey"}},
		}},
		"evil": evilSource(7),
		"wide": evilSource(300),
	} {
		html, markdown := pageOn(t, s)
		d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(html, "<!doctype html>")))
		d.Strict = false
		d.AutoClose = xml.HTMLAutoClose
		d.Entity = xml.HTMLEntity
		ids := map[string]bool{}
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if e.Name.Local == "script" ||
				e.Name.Local == "img" ||
				e.Name.Local == "link" {
				t.Errorf(
					"%s: an element %s",
					name, e.Name.Local,
				)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") ||
					a.Name.Local == "src" ||
					a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Errorf(
						"%s: %s=%q",
						name, a.Name.Local, a.Value,
					)
				}
				if a.Name.Local == "id" && ids[a.Value] {
					t.Errorf(
						"%s: two elements with the id %s",
						name, a.Value,
					)
				}
				if a.Name.Local == "id" {
					ids[a.Value] = true
				}
			}
		}
		// The namespaces of SVG and XLink are addresses.
		rest := strings.NewReplacer(
			"http://www.w3.org/2000/svg",
			"",
			"http://www.w3.org/1999/xlink",
			"",
		).Replace(html)
		if regexp.MustCompile(
			`https?:|url\(|@import`).MatchString(rest) {
			t.Errorf("%s: asks for something from elsewhere", name)
		}
		markdown = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(markdown, "") // the recipe is included verbatim
		if strings.Contains(html, "<img") ||
			strings.Contains(markdown, "<img") ||
			strings.Contains(html+markdown, "\u202e") {
			t.Errorf("%s: a name is not escaped", name)
		}
		if len(html) > 1<<20 {
			t.Errorf(
				"%s: %d bytes",
				name, len(html),
			)
		}
	}
}

// TestPageShowsReleaseFacts checks that the guarantee, the metric, the warnings by severity, the steps, the recipe and
// the instructions for verification are on the page, in HTML and in Markdown, and that equal releases give equal bytes.
func TestPageShowsReleaseFacts(t *testing.T) {
	s := evilSource(7)
	html, markdown := pageOn(t, s)
	again, _ := pageOn(t, s)
	if again != html {
		t.Error("two pages of one release differ")
	}
	for _, want := range []string{"0.500", "0.400 to 0.600", "dptrain verify release", "target: ",
		"first", "What is not protected"} {
		if !strings.Contains(html, want) || !strings.Contains(markdown, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Index(html, "rank-warning") > strings.Index(html, "rank-note") {
		t.Error("the most urgent warning is not first")
	}
	n := strings.Count(html, "<svg")
	if n != 11 { // the metric, importances, budget, profile and one for each column
		t.Errorf("%d pictures", n)
	}
	s.Report.Model.Kind = ""
	html, _ = pageOn(t, s)
	if strings.Contains(html, "dptrain predict") ||
		!strings.Contains(html, "abstained") {
		t.Error("a release without a model")
	}
}

// TestPagePrices checks that the share of a stage is that of its zero-concentrated price.
func TestPagePrices(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want float64
	}{
		{Event{
			Law:   "gaussian",
			Mu:    2,
			Draws: 3,
		}, 6},
		{Event{
			Law:     "exponential",
			Epsilon: 2,
			Draws:   4,
		}, 2},
		{Event{
			Law:     "laplace",
			Epsilon: 2,
			Draws:   1,
		}, 2},
	} {
		got := price(c.e)
		if got != c.want {
			t.Errorf(
				"%+v: %v, want %v",
				c.e, got, c.want,
			)
		}
	}
}

// TestCaptionsNameTheNoise checks that the caption of a picture describes its band or whiskers, and that a model with
// curves or without noise has neither.
func TestCaptionsNameTheNoise(t *testing.T) {
	const (
		band     = "the band is 1.96 standard deviations of the privacy noise in the slope, without sampling error."
		whiskers = "the whiskers are 1.96 standard deviations of the privacy noise, without sampling error."
		noBand   = "about nine in ten records or more."
		noBars   = "of each category."
	)
	linear := regression.Linear{
		Columns: []regression.Column{
			{
				Name:  "line",
				Lower: -1,
				Upper: 1,
			},
			{
				Name:       "word",
				Type:       regression.Category,
				Categories: []string{"a"},
			},
		},
		Terms: []regression.Term{
			{
				Column:      0,
				Coefficient: 1,
				StdError:    .1,
			},
			{
				Column:      1,
				Category:    "a",
				Coefficient: 1,
				StdError:    .1,
			},
		},
	}
	exact := linear
	exact.Terms = slices.Clone(linear.Terms)
	for i := range exact.Terms {
		exact.Terms[i].StdError = 0
	}
	for _, c := range []struct {
		name       string
		model      regression.Model
		line, word string
		errors     bool
	}{
		{"noisy", &linear, band, whiskers, true},
		{"exact", &exact, noBand, noBars, false},
		{"boosted", &regression.Additive{Linear: linear}, noBand, noBars, false},
		{"kernel", &regression.Kernel{Additive: regression.Additive{Linear: linear}}, noBand, noBars, false},
		{
			"boosted classes",
			&regression.Classifier{
				Classes: []string{"no", "yes"},
				Scores:  []regression.Model{&regression.Additive{Linear: linear}},
			},
			noBand, noBars, false,
		},
	} {
		sums := SumsOf(c.model)
		if len(sums) != 1 {
			t.Fatalf("%s: %d sums", c.name, len(sums))
		}
		for name, want := range map[string]string{"line": c.line, "word": c.word} {
			block, ok := sums[0].draw(name, "units")
			if !ok {
				t.Fatalf("%s: no picture of %s", c.name, name)
			}
			if !strings.HasSuffix(block.Caption, want) {
				t.Errorf("%s, %s: %q", c.name, name, block.Caption)
			}
			stated := slices.Contains(block.Table.Head, "standard error")
			if name == "word" && stated != c.errors {
				t.Errorf("%s: columns %q", c.name, block.Table.Head)
			}
		}
	}
}

// TestCurveLevels checks where curves are zero: a line of a linear model in the middle of its range, and a curve of a
// boosted model, whatever its own level, in the mean over the range that is drawn.
func TestCurveLevels(t *testing.T) {
	line := regression.Linear{
		Target:  "y",
		Columns: []regression.Column{{Name: "x", Upper: 10}},
		Terms:   []regression.Term{{Coefficient: 2}},
	}
	boosted := regression.Additive{
		Linear: line,
		Shapes: []regression.Shape{{Step: regression.Step{
			Edges:  []float64{4},
			Values: []float64{100, 130},
		}}},
	}
	for _, c := range []struct {
		model regression.Model
		want  []float64 // at 0 and 10
	}{
		{&line, []float64{-10, 10}},
		// The step adds 18 more than below 4 in the mean over 0 to 10, up to the distance of the points.
		{&boosted, []float64{-28, 22}},
	} {
		sum := SumsOf(c.model)[0]
		sum.drawn = (&Report{Unprotected: []pipeline.Fact{{Name: "range of x"}}}).drawnRange
		block, ok := sum.draw("x", "units")
		if !ok {
			t.Fatal("no picture")
		}
		rows := block.Table.Rows
		for i, row := range [][]string{rows[0], rows[len(rows)-1]} {
			got, err := strconv.ParseFloat(row[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got-c.want[i]) > .3 {
				t.Errorf("%T: adds %v at %s, want %v", c.model, got, row[0], c.want[i])
			}
		}
	}
}
