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

// A literal is markup that stands in this package: only constants become one without a
// conversion.
type literal string

// markup is HTML under construction. What is no literal and no picture is escaped on its way
// in, for text and for values of attributes between double quotes. There is no template: the
// library of templates finds methods by name, which makes the linker keep every method of the
// program.
type markup struct{ strings.Builder }

func (m *markup) tags(s literal) { m.WriteString(string(s)) }

func (m *markup) picture(s chart.SVG) { m.WriteString(string(s)) }

// escapes are those of html/template.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\uFFFD")

func (m *markup) text(s string) { m.WriteString(escapes.Replace(tame(s))) }

// within writes a text between two tags.
func (m *markup) within(before literal, s string, after literal) {
	m.tags(before)
	m.text(s)
	m.tags(after)
}

// HTML writes a page as one file that needs nothing from elsewhere. It returns the errors of w.
func HTML(w io.Writer, p Page) error {
	var m markup
	m.page(p)
	_, err := io.WriteString(w, m.String())
	return err
}

func (m *markup) page(p Page) {
	m.tags(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
`)
	m.within("<title>", p.Title, "</title>\n<style>")
	m.WriteString(style) // ours: no data is in it
	m.tags("</style>\n</head>\n")
	if p.Wide {
		m.tags("<body class=\"wide\">\n<header>\n")
	} else {
		m.tags("<body>\n<header>\n")
	}
	m.within("<h1>", p.Title, "</h1>\n")
	for _, s := range p.Lead {
		m.within(`<p class="lead">`, s, "</p>\n")
	}
	m.identity(p.Identity)
	m.facts(p.Facts)
	if p.Figure != "" {
		m.tags("<figure>")
		m.picture(p.Figure)
		m.within("<figcaption>", p.Caption, "</figcaption></figure>\n")
	}
	m.tags("</header>\n")
	m.contents(p.Sections)
	m.tags("<main>\n")
	for _, x := range p.Sections {
		m.section(x)
	}
	m.tags("</main>\n</body>\n</html>\n")
}

// identity writes names and texts in two columns.
func (m *markup) identity(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	m.tags(`<dl class="identity">`)
	for _, f := range facts {
		m.within("<dt>", f.Name, "</dt>")
		m.within("<dd>", f.Value, "</dd>")
	}
	m.tags("</dl>\n")
}

func (m *markup) facts(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	m.tags(`<dl class="facts">`)
	for _, f := range facts {
		m.within("<div><dt>", f.Name, "</dt>")
		m.within(`<dd class="value">`, f.Value, "</dd>")
		m.within(`<dd class="remark">`, f.Note, "</dd></div>")
	}
	m.tags("</dl>\n")
}

// contents links the sections.
func (m *markup) contents(sections []Section) {
	if len(sections) == 0 {
		return
	}
	m.tags(`<nav aria-label="Sections"><ul>`)
	for _, x := range sections {
		m.within(`<li><a href="#`, x.ID, `">`)
		m.within("", x.Title, "</a></li>")
	}
	m.tags("</ul></nav>\n")
}

func (m *markup) section(x Section) {
	m.within(`<section id="`, x.ID, `" aria-labelledby="`)
	m.within("", x.ID, "-title\">\n<h2 id=\"")
	m.within("", x.ID, `-title">`)
	m.within("", x.Title, "</h2>\n")
	for _, b := range x.Blocks {
		if b.Fold == "" {
			m.block(b)
			continue
		}
		m.within(`<details class="fold"><summary>`, b.Fold, "</summary>\n")
		m.block(b)
		m.tags("</details>\n")
	}
	m.tags("</section>\n")
}

func (m *markup) block(b Block) {
	switch {
	case b.Severity != "":
		m.within(`<p class="warning rank-`, b.Severity, `"><strong>`)
		m.within("", b.Label, "</strong> ")
		m.within("", b.Text, "</p>\n")
	case b.Text != "":
		m.within("<p>", b.Text, "</p>\n")
	}
	switch {
	case b.Figure != "":
		m.tags(`<div class="picture"><figure>`)
		m.picture(b.Figure)
		m.within("<figcaption>", b.Caption, "</figcaption></figure>\n")
		if b.Table != nil {
			m.tags("<details><summary>The numbers in this picture</summary>")
			m.table(b.Table)
			m.tags("</details>")
		}
		m.tags("</div>\n")
	case b.Table != nil:
		if b.Caption != "" {
			m.within("<p>", b.Caption, "</p>")
		}
		m.table(b.Table)
		m.tags("\n")
	}
	if b.Gallery != nil {
		m.gallery(b.Gallery)
	}
	if b.Code != "" {
		m.within(`<pre tabindex="0">`, b.Code, "</pre>\n")
	}
}

func (m *markup) gallery(g *Gallery) {
	if len(g.Legend) > 0 {
		m.tags(`<ul class="signs">`)
		for _, s := range g.Legend {
			m.tags("<li>")
			m.picture(s.Swatch)
			m.within("<span>", s.Name, "</span></li>")
		}
		m.tags("</ul>\n")
	}
	m.tags("<div class=\"gallery\">\n")
	for _, p := range g.Pictures {
		m.within("<figure><figcaption>", p.Title, "</figcaption>")
		m.picture(p.SVG)
		m.tags("</figure>\n")
	}
	m.tags("</div>\n")
}

// table writes a table, which scrolls by itself.
func (m *markup) table(t *Table) {
	m.tags(`<div class="scroll" tabindex="0">`)
	if t.Words {
		m.tags(`<table class="words"><thead><tr>`)
	} else {
		m.tags(`<table><thead><tr>`)
	}
	for _, c := range t.Head {
		m.within(`<th scope="col">`, c, "</th>")
	}
	m.tags("</tr></thead><tbody>")
	for i, row := range t.Rows {
		m.tags("<tr>")
		for j, c := range row {
			m.cell(j == 0, c, t.mark(i, j))
		}
		m.tags("</tr>")
	}
	m.tags("</tbody></table></div>")
}

// cell writes a cell, which names its row if it is the first.
func (m *markup) cell(first bool, s string, x Mark) {
	if first {
		m.within(`<th scope="row">`, s, "</th>")
		return
	}
	m.tags("<td")
	m.attributes(x)
	m.within(">", s, "")
	if x.Note != "" {
		m.within("<small>", x.Note, "</small>")
	}
	m.tags("</td>")
}

// attributes writes the classes of a cell, and how full its colour is.
func (m *markup) attributes(x Mark) {
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
		m.within(` class="`, strings.Join(names, " "), `"`)
	}
	if math.Abs(heat) > 0 {
		m.within(` style="`, fmt.Sprintf("--heat:%.2f", math.Abs(heat)), `"`)
	}
}
