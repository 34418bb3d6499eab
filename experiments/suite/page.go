package suite

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
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
	Legend  []Series // styles that the figures share; points are not used
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
	Heat   float64 // from -1 (orange) through 0 (white) to 1 (blue)
	Strong bool
	Prose  bool // the text is a sentence
}

// text is a row of plain entries.
func text(cells ...string) []Entry {
	row := make([]Entry, len(cells))
	for i, c := range cells {
		row[i].Text = c
	}
	return row
}

// Style returns the background of an entry.
func (e Entry) Style() template.CSS {
	heat := min(max(e.Heat, -1), 1)
	if heat == 0 || math.IsNaN(heat) {
		return ""
	}
	far := [3]float64{86, 160, 215}
	if heat < 0 {
		far, heat = [3]float64{235, 150, 80}, -heat
	}
	mix := func(v float64) int { return int(math.Round(255 + heat*(v-255))) }
	return template.CSS(fmt.Sprintf("background:rgb(%d,%d,%d)", mix(far[0]), mix(far[1]), mix(far[2]))) //nolint:gosec // numbers only
}

// Class returns the class of an entry.
func (e Entry) Class() string {
	switch {
	case e.Prose:
		return "prose"
	case e.Strong:
		return "strong"
	}
	return ""
}

// HTML renders the page as one file that needs nothing from elsewhere.
func (p Page) HTML() ([]byte, error) {
	layout, err := template.New("page").Parse(layoutText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = layout.Execute(&b, p)
	return b.Bytes(), err
}

const layoutText = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
:root { color-scheme: light; }
body { font: 15px/1.5 "Liberation Sans", Arial, Helvetica, sans-serif; color: #222; background: #fff; max-width: 1180px; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .5rem; padding-top: .8rem; border-top: 1px solid #ddd; }
p { margin: .5rem 0; max-width: 76ch; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; margin: .8rem 0; padding: 0; list-style: none; font-size: 13px; }
.legend li { display: flex; align-items: center; gap: .4rem; }
.swatch { width: 30px; height: 10px; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(330px, 100%), 1fr)); gap: 1.2rem; margin: .8rem 0; }
figure { margin: 0; }
figcaption { font-weight: bold; font-size: 13px; margin-bottom: .2rem; }
figure svg { width: 100%; height: auto; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding-bottom: .3rem; }
th, td { padding: .22rem .6rem; border-bottom: 1px solid #e4e4e4; text-align: right; vertical-align: top; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 1.5px solid #888; vertical-align: bottom; white-space: normal; }
td small { display: block; color: #555; }
td.strong { font-weight: bold; }
td.prose { text-align: left; white-space: normal; max-width: 76ch; }
</style>
</head>
<body>
<h1>{{.Title}}</h1>
{{range .Lead}}<p>{{.}}</p>
{{end}}{{range .Sections}}<section>
<h2>{{.Title}}</h2>
{{range .Text}}<p>{{.}}</p>
{{end}}{{with .Legend}}<ul class="legend">{{range .}}<li>{{.Swatch}}{{.Name}}</li>{{end}}</ul>
{{end}}{{with .Figures}}<div class="figures">
{{range .}}<figure><figcaption>{{.Title}}</figcaption>
{{.SVG}}</figure>
{{end}}</div>
{{end}}{{range .Tables}}<div class="scroll"><table>
{{with .Caption}}<caption>{{.}}</caption>
{{end}}<thead><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr></thead>
<tbody>
{{range .Rows}}<tr>{{range .}}<td{{with .Class}} class="{{.}}"{{end}}{{with .Style}} style="{{.}}"{{end}}>{{.Text}}{{with .Note}}<small>{{.}}</small>{{end}}</td>{{end}}</tr>
{{end}}</tbody>
</table></div>
{{end}}</section>
{{end}}</body>
</html>
`
