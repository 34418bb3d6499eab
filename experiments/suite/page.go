package suite

import (
	"fmt"
	"io"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
)

// A Page is the report of an experiment.
type Page struct {
	Title    string
	Lead     []string // paragraphs below the title
	Sections []Section
}

// A Section holds paragraphs, figures under one legend, and tables.
type Section struct {
	Title   string
	Text    []string
	Legend  []Series // styles shared by the figures; points are not used
	Figures []Figure
	Tables  []Table
}

// A Table is a table of short texts. The first column holds names.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]Entry
}

// An Entry is one cell of a table.
type Entry struct {
	Text   string
	Note   string  // shown below the text, smaller
	Heat   float64 // from -1 (orange) through 0 (none) to 1 (blue)
	Strong bool
	Prose  bool // the text is a sentence
}

// text returns a row of plain entries.
func text(cells ...string) []Entry {
	row := make([]Entry, len(cells))
	for i, c := range cells {
		row[i].Text = c
	}
	return row
}

// document converts the page for package document.
func (p Page) document() document.Page {
	out := document.Page{
		Title: p.Title,
		Lead:  p.Lead,
		Wide:  true,
	}
	for i, s := range p.Sections {
		part := document.Section{
			ID:    fmt.Sprintf("part-%d", i+1),
			Title: s.Title,
		}
		for _, text := range s.Text {
			part.Blocks = append(part.Blocks, document.Block{Text: text})
		}
		if len(s.Legend)+len(s.Figures) > 0 {
			part.Blocks = append(part.Blocks, document.Block{Gallery: s.gallery()})
		}
		for _, t := range s.Tables {
			part.Blocks = append(part.Blocks,
				document.Block{
					Caption: t.Caption,
					Table:   t.document(),
				})
		}
		out.Sections = append(out.Sections, part)
	}
	return out
}

// gallery returns the figures of a section below their legend.
func (s Section) gallery() *document.Gallery {
	g := &document.Gallery{}
	for _, x := range s.Legend {
		g.Legend = append(g.Legend, document.Sign{
			Swatch: chart.Swatch(x.Style),
			Name:   x.Name,
		})
	}
	for _, f := range s.Figures {
		g.Pictures = append(g.Pictures, document.Picture{
			Title: f.Title,
			SVG:   f.SVG(),
		})
	}
	return g
}

func (t Table) document() *document.Table {
	out := &document.Table{Head: t.Head}
	for _, row := range t.Rows {
		texts := make([]string, len(row))
		marks := make([]document.Mark, len(row))
		for j, e := range row {
			texts[j] = e.Text
			marks[j] = document.Mark{
				Note:   e.Note,
				Heat:   e.Heat,
				Strong: e.Strong,
				Prose:  e.Prose,
			}
		}
		out.Rows = append(out.Rows, texts)
		out.Marks = append(out.Marks, marks)
	}
	return out
}

// HTML writes the page as one self-contained file with the structure of a report. It returns the errors of w.
func (p Page) HTML(w io.Writer) error {
	return document.HTML(w, p.document())
}
