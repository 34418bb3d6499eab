package document

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/chart"
)

// evil is a text that would be executed by a page without escaping.
const evil = "<img src=x onerror=\"alert(1)\">'&\u202e|"

// hostilePage returns a page in which every text is evil.
func hostilePage() Page {
	table := &Table{
		Head: []string{evil, evil},
		Rows: [][]string{{evil, evil}},
		Marks: [][]Mark{{
			{},
			{
				Note:   evil,
				Heat:   -.5,
				Strong: true,
				Prose:  true,
			},
		}},
	}
	picture := chart.Bars(
		evil,
		[]chart.Bar{{
			Label: evil,
			Value: 1,
			Text:  evil,
		}},
	)
	return Page{
		Title: evil,
		Lead:  []string{evil},
		Wide:  true,
		Facts: []Fact{{evil, evil, evil}},
		Sections: []Section{{
			ID:    "a",
			Title: evil,
			Blocks: []Block{
				{Text: evil},
				{
					Text:     evil,
					Severity: "error",
					Label:    evil,
				},
				{Figure: picture, Caption: evil, Table: table},
				{Caption: evil, Table: table, Fold: evil},
				{Code: evil + "```", Text: evil},
				{Gallery: &Gallery{
					Legend:   []Sign{{chart.Swatch(2), evil}},
					Pictures: []Picture{{evil, picture}},
				}},
			},
		}},
	}
}

// TestTextIsEscaped checks that every part of a page is written as text in both formats, and that characters that
// reverse or hide text are replaced.
func TestTextIsEscaped(t *testing.T) {
	var html, markdown strings.Builder
	err := errors.Join(
		HTML(&html, hostilePage()),
		Markdown(&markdown, hostilePage()),
	)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(
		html.String(),
		"<!doctype html>",
	)))
	d.Strict = false
	d.AutoClose = xml.HTMLAutoClose
	d.Entity = xml.HTMLEntity
	said := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			for _, a := range x.Attr {
				if x.Name.Local == "img" ||
					strings.HasPrefix(a.Name.Local, "on") ||
					strings.Contains(a.Value, "alert") {
					t.Errorf(
						"%s %s=%q",
						x.Name.Local, a.Name.Local,
						a.Value,
					)
				}
			}
		case xml.CharData:
			said += strings.Count(
				string(x),
				"onerror=\"alert(1)\">'&\ufffd|",
			)
		}
	}
	if said != 30 { // a table has five, and pictures shorten their labels
		t.Errorf("%d texts", said)
	}
	code := "\n```\n" + strings.Replace(evil, "\u202e", "\ufffd", 1) + "'''\n```\n"
	s := strings.Replace(markdown.String(), code, "", 1)
	if strings.Contains(s, "<img") ||
		strings.Contains(s, "\u202e") ||
		s == markdown.String() {
		t.Error(s)
	}
}

// TestCellDecorations checks the decorations of a cell, and that the colour intensity is at most 1.
func TestCellDecorations(t *testing.T) {
	for _, c := range []struct {
		mark Mark
		want string
	}{
		{Mark{}, "<td>x</td>"},
		{
			Mark{Note: "n", Strong: true},
			`<td class="strong">x<small>n</small></td>`,
		},
		{
			Mark{Heat: 7},
			`<td class="hot" style="--heat:1.00">x</td>`,
		},
		{
			Mark{Heat: -.25, Prose: true},
			`<td class="prose cold" style="--heat:0.25">x</td>`,
		},
	} {
		var m markup
		m.writeCell(false, "x", c.mark)
		if m.String() != c.want {
			t.Errorf(
				"%s, want %s",
				m.String(), c.want,
			)
		}
	}
}

// TestIntervals checks that an interval is below its value in HTML, and beside it in Markdown, and that names of rows
// and other tables are left as they are.
func TestIntervals(t *testing.T) {
	for _, intervals := range []bool{true, false} {
		table := &Table{
			Head: []string{"column", "mean"},
			Rows: [][]string{
				{"age (years)", "38.6 (38.3 to <39)"},
				{"size", "unknown"},
			},
			Intervals: intervals,
		}
		p := Page{
			Title: "t",
			Sections: []Section{{
				ID:     "a",
				Title:  "A",
				Blocks: []Block{{Table: table}},
			}},
		}
		var html, markdown strings.Builder
		err := errors.Join(HTML(&html, p), Markdown(&markdown, p))
		if err != nil {
			t.Fatal(err)
		}
		split := strings.Contains(
			html.String(),
			"<td>38.6<small>(38.3 to &lt;39)</small></td>",
		)
		if split != intervals ||
			!strings.Contains(html.String(), ">age (years)</th>") ||
			!strings.Contains(html.String(), "<td>unknown</td>") {
			t.Errorf(
				"%v: %s",
				intervals, html.String(),
			)
		}
		if !strings.Contains(markdown.String(), "38.6 (38.3 to") {
			t.Error(markdown.String())
		}
	}
}
