package document

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
)

//go:embed style.css
var style string

// A literal is constant markup of this package: only constants can become a literal without a conversion.
type literal string

// markup is HTML under construction. Whatever is neither a literal nor a picture is escaped, for text and for values of
// attributes between double quotes. It is not a template of html/template, which finds methods by name: the linker then
// keeps every method of the program, which makes it larger by a fifth (27.0 MB for 22.4, stripped, on amd64).
type markup struct{ strings.Builder }

func (m *markup) writeTags(s literal) {
	m.WriteString(string(s))
}

func (m *markup) writePicture(s chart.SVG) {
	m.WriteString(string(s))
}

// escapes are the same replacements as in html/template.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'",
	"&#39;", "+", "&#43;", "\x00", "\uFFFD")

func (m *markup) writeText(s string) {
	m.WriteString(escapes.Replace(replaceControls(s)))
}

// writeWithin writes a text between two tags.
func (m *markup) writeWithin(before literal, s string, after literal) {
	m.writeTags(before)
	m.writeText(s)
	m.writeTags(after)
}

// HTML writes a page as one self-contained file. It returns the errors of w.
func HTML(w io.Writer, p Page) error {
	var m markup
	m.writePage(p)
	_, err := io.WriteString(w, m.String())
	return err
}

func (m *markup) writePage(p Page) {
	m.writeTags(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
`)
	m.writeWithin("<title>", p.Title, "</title>\n<style>")
	m.WriteString(style) // constant, without data
	m.writeTags("</style>\n</head>\n")
	if p.Wide {
		m.writeTags("<body class=\"wide\">\n<header>\n")
	} else {
		m.writeTags("<body>\n<header>\n")
	}
	m.writeWithin("<h1>", p.Title, "</h1>\n")
	for _, s := range p.Lead {
		m.writeWithin(`<p class="lead">`, s, "</p>\n")
	}
	m.writeIdentity(p.Identity)
	m.writeFacts(p.Facts)
	if p.Figure != "" {
		m.writeTags("<figure>")
		m.writePicture(p.Figure)
		m.writeWithin("<figcaption>", p.Caption, "</figcaption></figure>\n")
	}
	m.writeTags("</header>\n")
	m.writeContents(p.Sections)
	m.writeTags("<main>\n")
	for _, x := range p.Sections {
		m.writeSection(x)
	}
	m.writeTags("</main>\n</body>\n</html>\n")
}

// writeIdentity writes names and texts in two columns.
func (m *markup) writeIdentity(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	m.writeTags(`<dl class="identity">`)
	for _, f := range facts {
		m.writeWithin("<dt>", f.Name, "</dt>")
		m.writeWithin("<dd>", f.Value, "</dd>")
	}
	m.writeTags("</dl>\n")
}

func (m *markup) writeFacts(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	m.writeTags(`<dl class="facts">`)
	for _, f := range facts {
		m.writeWithin("<div><dt>", f.Name, "</dt>")
		m.writeWithin(`<dd class="value">`, f.Value, "</dd>")
		m.writeWithin(`<dd class="remark">`, f.Note, "</dd></div>")
	}
	m.writeTags("</dl>\n")
}

// writeContents writes links to the sections.
func (m *markup) writeContents(sections []Section) {
	if len(sections) == 0 {
		return
	}
	m.writeTags(`<nav aria-label="Sections"><ul>`)
	for _, x := range sections {
		m.writeWithin(`<li><a href="#`, x.ID, `">`)
		m.writeWithin("", x.Title, "</a></li>")
	}
	m.writeTags("</ul></nav>\n")
}

func (m *markup) writeSection(x Section) {
	m.writeWithin(`<section id="`, x.ID, `" aria-labelledby="`)
	m.writeWithin("", x.ID, "-title\">\n<h2 id=\"")
	m.writeWithin("", x.ID, `-title">`)
	m.writeWithin("", x.Title, "</h2>\n")
	for _, b := range x.Blocks {
		if b.Fold == "" {
			m.writeBlock(b)
			continue
		}
		m.writeWithin(`<details class="fold"><summary>`, b.Fold, "</summary>\n")
		m.writeBlock(b)
		m.writeTags("</details>\n")
	}
	m.writeTags("</section>\n")
}

func (m *markup) writeBlock(b Block) {
	switch {
	case b.Severity != "":
		m.writeWithin(`<p class="warning rank-`, b.Severity, `"><strong>`)
		m.writeWithin("", b.Label, "</strong> ")
		m.writeWithin("", b.Text, "</p>\n")
	case b.Text != "":
		m.writeWithin("<p>", b.Text, "</p>\n")
	}
	switch {
	case b.Figure != "":
		m.writeTags(`<div class="picture"><figure>`)
		m.writePicture(b.Figure)
		m.writeWithin("<figcaption>", b.Caption, "</figcaption></figure>\n")
		if b.Table != nil {
			m.writeTags("<details><summary>The numbers in this picture</summary>")
			m.writeTable(b.Table)
			m.writeTags("</details>")
		}
		m.writeTags("</div>\n")
	case b.Table != nil:
		if b.Caption != "" {
			m.writeWithin("<p>", b.Caption, "</p>")
		}
		m.writeTable(b.Table)
		m.writeTags("\n")
	}
	if b.Gallery != nil {
		m.writeGallery(b.Gallery)
	}
	if b.Code != "" {
		m.writeWithin(`<pre tabindex="0">`, b.Code, "</pre>\n")
	}
}

func (m *markup) writeGallery(g *Gallery) {
	if len(g.Legend) > 0 {
		m.writeTags(`<ul class="signs">`)
		for _, s := range g.Legend {
			m.writeTags("<li>")
			m.writePicture(s.Swatch)
			m.writeWithin("<span>", s.Name, "</span></li>")
		}
		m.writeTags("</ul>\n")
	}
	m.writeTags("<div class=\"gallery\">\n")
	for _, p := range g.Pictures {
		m.writeWithin("<figure><figcaption>", p.Title, "</figcaption>")
		m.writePicture(p.SVG)
		m.writeTags("</figure>\n")
	}
	m.writeTags("</div>\n")
}

// writeTable writes a table, which can be scrolled separately.
func (m *markup) writeTable(t *Table) {
	m.writeTags(`<div class="scroll" tabindex="0">`)
	switch {
	case t.Words:
		m.writeTags(`<table class="words"><thead><tr>`)
	case t.Intervals:
		m.writeTags(`<table class="intervals"><thead><tr>`)
	default:
		m.writeTags(`<table><thead><tr>`)
	}
	for j, c := range t.Head {
		if len(t.Rows) > 0 && t.markAt(0, j).Prose {
			m.writeWithin(`<th scope="col" class="prose">`, c, "</th>")
			continue
		}
		m.writeWithin(`<th scope="col">`, c, "</th>")
	}
	m.writeTags("</tr></thead><tbody>")
	for i, row := range t.Rows {
		m.writeTags("<tr>")
		for j, c := range row {
			mark := t.markAt(i, j)
			if value, interval, ok := strings.Cut(c, " ("); ok && t.Intervals && j > 0 {
				c = value
				mark.Note = "(" + interval
			}
			m.writeCell(j == 0, c, mark)
		}
		m.writeTags("</tr>")
	}
	m.writeTags("</tbody></table></div>")
}

// writeCell writes a cell; the first cell is the name of its row.
func (m *markup) writeCell(first bool, s string, x Mark) {
	if first {
		m.writeWithin(`<th scope="row">`, s, "</th>")
		return
	}
	m.writeTags("<td")
	m.writeAttributes(x)
	m.writeWithin(">", s, "")
	if x.Note != "" {
		m.writeWithin("<small>", x.Note, "</small>")
	}
	m.writeTags("</td>")
}

// writeAttributes writes the classes of a cell and its colour intensity.
func (m *markup) writeAttributes(x Mark) {
	var names []string
	if x.Strong {
		names = append(names, "strong")
	}
	if x.Prose {
		names = append(names, "prose")
	}
	heat := math.Min(math.Max(x.Heat, -1), 1)
	switch {
	case heat > 0:
		names = append(names, "hot")
	case heat < 0:
		names = append(names, "cold")
	}
	if len(names) > 0 {
		m.writeWithin(` class="`, strings.Join(names, " "), `"`)
	}
	if math.Abs(heat) > 0 {
		m.writeWithin(` style="`, fmt.Sprintf("--heat:%.2f", math.Abs(heat)), `"`)
	}
}
