package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/internal/chart"
	"github.com/dptrain/dptrain/regression"
)

// A Source is what a page is made of: the other files of a release.
type Source struct {
	Report *Report
	Model  regression.Model // nil when the method abstained
	Recipe []byte           // nil for a pipeline built in code
}

// ReadSource reads the files of a release in the folder dir. A model or a recipe that is not
// there is left out. Errors are those of the file system, of [Decode] and of
// [regression.DecodeModel].
func ReadSource(dir string) (Source, error) {
	var s Source
	raw, err := readLimited(filepath.Join(dir, reportFile), MaxBytes)
	if err != nil {
		return s, err
	}
	if s.Report, err = Decode(bytes.NewReader(raw)); err != nil {
		return s, err
	}
	raw, err = readLimited(filepath.Join(dir, modelFile), regression.MaxModelBytes)
	if err == nil {
		s.Model, err = regression.DecodeModel(bytes.NewReader(raw))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	s.Recipe, err = readLimited(filepath.Join(dir, recipeFile), maxRecipeBytes)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	return s, nil
}

// A section of a page has a title and items in order.
type section struct {
	ID, Title string
	Blocks    []item
}

// An item is one of: a paragraph, a warning, a picture with its numbers, a table, a listing. One that has a
// Fold is hidden behind that text until it is opened.
type item struct {
	Text     string
	Severity string // of a warning: Text is one
	Figure   chart.SVG
	Caption  string
	Table    *grid
	Code     string
	Fold     string
}

// A grid is a table of texts. The first column names the row.
type grid struct {
	Head  []string
	Rows  [][]string
	Words bool // cells are words, which may be many
}

func prose(s string) item { return item{Text: s} }

// figure is a picture and the numbers in it.
func figure(svg chart.SVG, caption string, numbers *grid) item {
	return item{Figure: svg, Caption: caption, Table: numbers}
}

// A page is a report for a person, before it is HTML or Markdown.
type page struct {
	Title, Lead string
	Facts       []fact
	Sections    []section
}

// A fact is a figure that heads the page.
type fact struct{ Name, Value, Note string }

// pageOf lays out a release. Everything in it is public: the three files are, and a page is a
// function of them.
func pageOf(s Source) page {
	r := s.Report
	p := page{Title: "Private model of " + shown(r.Target), Lead: statement(r.Guarantee, reportFile), Facts: facts(r)}
	if r.Model.Kind == "" {
		p.Title = "No model of " + shown(r.Target)
	}
	for _, part := range []section{
		{"meaning", "What is promised", promised(r)},
		{"warnings", "Warnings", warned(r)},
		{"quality", "How good it is", qualities(r)},
		{"columns", "What moves a prediction", importanceBlocks(r)},
		{"prototypes", "What a typical member of a class looks like", typicalBlocks(s)},
		{"shapes", "What each column adds", shapeBlocks(s)},
		{"tree", "What each path costs", treeBlocks(s)},
		{"budget", "Where the budget went", budgetBlocks(r)},
		{"unprotected", "What is not protected", declared(r)},
		{"steps", "Every step that was paid for", stepBlocks(r)},
		{"use", "How to use and to check it", useBlocks(s)},
	} {
		for i := range part.Blocks {
			part.Blocks[i].tame()
		}
		if len(part.Blocks) > 0 {
			p.Sections = append(p.Sections, part)
		}
	}
	return p
}

// tame replaces characters that could turn or hide text, in what may have come from anybody.
func (x *item) tame() {
	for _, s := range []*string{&x.Text, &x.Caption, &x.Code, &x.Fold} {
		*s = strings.Map(printable, *s)
	}
	if x.Table != nil {
		for _, row := range append([][]string{x.Table.Head}, x.Table.Rows...) {
			for i := range row {
				row[i] = strings.Map(printable, row[i])
			}
		}
	}
}

// Markdown writes the same as text in the Markdown of GitHub: pictures as tables. It returns
// the errors of w.
func Markdown(w io.Writer, s Source) error {
	p := pageOf(s)
	var b strings.Builder
	b.WriteString("# " + mark(p.Title) + "\n\n" + mark(p.Lead) + "\n")
	head := grid{Head: []string{"", "", ""}}
	for _, f := range p.Facts {
		head.Rows = append(head.Rows, []string{f.Name, f.Value, f.Note})
	}
	head.markdown(&b)
	for _, part := range p.Sections {
		b.WriteString("\n## " + part.Title + "\n")
		for _, x := range part.Blocks {
			x.markdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (x item) markdown(b *strings.Builder) {
	if x.Fold != "" {
		b.WriteString("\n### " + mark(x.Fold) + "\n")
	}
	if x.Severity != "" {
		b.WriteString("\n* **" + x.Severity + "**: " + mark(x.Text) + "\n")
	} else if x.Text != "" {
		b.WriteString("\n" + mark(x.Text) + "\n")
	}
	if x.Caption != "" {
		b.WriteString("\n" + mark(x.Caption) + "\n")
	}
	if x.Table != nil {
		x.Table.markdown(b)
	}
	if x.Code != "" {
		b.WriteString("\n```\n" + strings.ReplaceAll(strings.TrimRight(x.Code, "\n"), "```", "'''") + "\n```\n")
	}
}

func (g *grid) markdown(b *strings.Builder) {
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + mark(c) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	row(g.Head)
	b.WriteString(strings.Repeat("| --- ", len(g.Head)) + "|\n")
	for _, r := range g.Rows {
		row(r)
	}
}

// marks escapes what Markdown reads as markup.
var marks = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "#", "\\#", "\n", " ")

func mark(s string) string { return marks.Replace(strings.Map(printable, s)) }
