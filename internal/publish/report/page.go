package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/regression"
)

// A Source is what a page is made of: the other files of a release.
type Source struct {
	Report *Report
	Model  regression.Model // nil when the method abstained
	Recipe []byte           // nil for a pipeline built in code
}

// ReadSource reads the files of a release in the folder dir. A model or a recipe that is not
// there is left out. Errors are those of the file system, of [DecodeFile] and of
// [regression.DecodeModel].
func ReadSource(dir string) (Source, error) {
	var s Source
	name := reportIn(dir)
	k := kindOfFile(name)
	raw, err := readLimited(filepath.Join(dir, name), MaxBytes)
	if err != nil {
		return s, err
	}
	if s.Report, err = decode(raw, k); err != nil {
		return s, err
	}
	if slices.Contains(k.others, modelFile) {
		raw, err = readLimited(filepath.Join(dir, modelFile), regression.MaxModelBytes)
		if err == nil {
			s.Model, err = regression.DecodeModel(bytes.NewReader(raw))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return s, err
		}
	}
	if slices.Contains(k.others, recipeFile) {
		s.Recipe, err = readLimited(filepath.Join(dir, recipeFile), maxRecipeBytes)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return s, err
		}
	}
	return s, nil
}

// addSections adds those sections to a page that have content.
func addSections(p document.Page, sections []document.Section) document.Page {
	for _, part := range sections {
		if len(part.Blocks) > 0 {
			p.Sections = append(p.Sections, part)
		}
	}
	return p
}

// page lays out a release with a model. Everything in it is public: the three files are, and a page is a
// function of them.
func (t *Training) page(s Source) document.Page {
	r := s.Report
	p := document.Page{Title: "Private model of " + shown(t.Target), Lead: []string{greek.Replace(statement(r.Guarantee, ReportFile))}, Facts: facts(r)}
	if t.Model.Kind == "" {
		p.Title = "No model of " + shown(t.Target)
	}
	if title := s.about("title"); title != "" {
		p.Title = shown(title)
	}
	p.Identity = identity(s)
	p.Figure, p.Caption = metricPicture(r)
	return addSections(p, []document.Section{
		{ID: "warnings", Title: "Warnings", Blocks: warned(r)},
		{ID: "meaning", Title: "What is guaranteed", Blocks: promised(r)},
		{ID: "quality", Title: "How good the model is", Blocks: qualities(r)},
		{ID: "choice", Title: "How sure the choice of columns is", Blocks: confidenceBlocks(r)},
		{ID: "columns", Title: "Which columns matter", Blocks: importanceBlocks(r)},
		{ID: "prototypes", Title: "What a typical member of a class looks like", Blocks: typicalBlocks(s)},
		{ID: "shapes", Title: "What each column contributes", Blocks: shapeBlocks(s)},
		{ID: "tree", Title: "What each path costs", Blocks: treeBlocks(s)},
		{ID: "data", Title: "The training data", Blocks: cardBlocks(r)},
		{ID: "budget", Title: "How the budget was spent", Blocks: budgetBlocks(r)},
		{ID: "sum", Title: "How the steps add up", Blocks: accountingBlocks(r)},
		{ID: "trust", Title: "Trust model and side channels", Blocks: trustBlocks(r)},
		{ID: "unprotected", Title: "What is not protected", Blocks: declared(r)},
		{ID: "steps", Title: "Every step", Blocks: stepBlocks(r)},
		{ID: "use", Title: "How to use and check the release", Blocks: useBlocks(s)},
	})
}

// page returns an empty page: the picture of a study is in a file of its own.
func (c *Causal) page(Source) document.Page { return document.Page{} }

// HTML writes a release as one page that needs nothing from elsewhere: no network, no
// script. Equal releases give equal bytes. It returns the errors of w.
func HTML(w io.Writer, s Source) error { return document.HTML(w, s.Report.section().page(s)) }

// Markdown writes the same as text in the Markdown of GitHub: pictures as tables. It returns
// the errors of w.
func Markdown(w io.Writer, s Source) error { return document.Markdown(w, s.Report.section().page(s)) }

// greek writes the parameters of a guarantee as mathematicians do.
var greek = strings.NewReplacer("(epsilon ", "(ε ", ", delta ", ", δ ", ", mu ", ", μ ")

func prose(s string) document.Block { return document.Block{Text: s} }

// figure is a picture and the numbers in it.
func figure(svg chart.SVG, caption string, numbers *document.Table) document.Block {
	return document.Block{Figure: svg, Caption: caption, Table: numbers}
}
