package report

import (
	_ "embed"
	"io"
	"strings"

	"github.com/dptrain/dptrain/internal/chart"
)

//go:embed page.css
var pageCSS string

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

func (m *markup) text(s string) { m.WriteString(escapes.Replace(s)) }

// within writes a text between two tags.
func (m *markup) within(before literal, s string, after literal) {
	m.tags(before)
	m.text(s)
	m.tags(after)
}

// HTML writes a release as one page that needs nothing from elsewhere: no network, no
// script. Equal releases give equal bytes. It returns the errors of w.
func HTML(w io.Writer, s Source) error {
	var m markup
	m.page(pageOf(s))
	_, err := io.WriteString(w, m.String())
	return err
}

func (m *markup) page(p page) {
	m.tags(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
`)
	m.within("<title>", p.Title, "</title>\n<style>")
	m.WriteString(pageCSS) // ours: no data is in it
	m.tags("</style>\n</head>\n<body>\n<header>\n")
	m.within("<h1>", p.Title, "</h1>\n")
	m.within(`<p class="lead">`, p.Lead, "</p>\n")
	m.tags(`<dl class="facts">`)
	for _, f := range p.Facts {
		m.within("<div><dt>", f.Name, "</dt>")
		m.within(`<dd class="value">`, f.Value, "</dd>")
		m.within(`<dd class="remark">`, f.Note, "</dd></div>")
	}
	m.tags("</dl>\n</header>\n" + `<nav aria-label="Sections"><ul>`)
	for _, x := range p.Sections {
		m.within(`<li><a href="#`, x.ID, `">`)
		m.within("", x.Title, "</a></li>")
	}
	m.tags("</ul></nav>\n<main>\n")
	for _, x := range p.Sections {
		m.section(x)
	}
	m.tags("</main>\n</body>\n</html>\n")
}

func (m *markup) section(x section) {
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

func (m *markup) block(b item) {
	switch {
	case b.Severity != "":
		m.within(`<p class="warning `, b.Severity, `"><strong>`)
		m.within("", b.Severity, "</strong> ")
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
			m.grid(b.Table)
			m.tags("</details>")
		}
		m.tags("</div>\n")
	case b.Table != nil:
		if b.Caption != "" {
			m.within("<p>", b.Caption, "</p>")
		}
		m.grid(b.Table)
		m.tags("\n")
	}
	if b.Code != "" {
		m.within(`<pre tabindex="0">`, b.Code, "</pre>\n")
	}
}

// grid writes a table, which scrolls by itself.
func (m *markup) grid(g *grid) {
	m.tags(`<div class="scroll" tabindex="0">`)
	if g.Words {
		m.tags(`<table class="words"><thead><tr>`)
	} else {
		m.tags(`<table><thead><tr>`)
	}
	for _, c := range g.Head {
		m.within(`<th scope="col">`, c, "</th>")
	}
	m.tags("</tr></thead><tbody>")
	for _, row := range g.Rows {
		m.tags("<tr>")
		for i, c := range row {
			if i == 0 {
				m.within(`<th scope="row">`, c, "</th>")
			} else {
				m.within("<td>", c, "</td>")
			}
		}
		m.tags("</tr>")
	}
	m.tags("</tbody></table></div>")
}
