package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
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

// pageOf lays out a release. Everything in it is public: the three files are, and a page is a
// function of them.
func pageOf(s Source) document.Page {
	r := s.Report
	p := document.Page{Title: "Private model of " + shown(r.Target), Lead: []string{greek.Replace(statement(r.Guarantee, reportFile))}, Facts: facts(r)}
	if r.Model.Kind == "" {
		p.Title = "No model of " + shown(r.Target)
	}
	if title := s.about("title"); title != "" {
		p.Title = shown(title)
	}
	p.Identity = identity(s)
	p.Figure, p.Caption = metricPicture(r)
	for _, part := range []document.Section{
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
	} {
		if len(part.Blocks) > 0 {
			p.Sections = append(p.Sections, part)
		}
	}
	return p
}

// HTML writes a release as one page that needs nothing from elsewhere: no network, no
// script. Equal releases give equal bytes. It returns the errors of w.
func HTML(w io.Writer, s Source) error { return document.HTML(w, pageOf(s)) }

// Markdown writes the same as text in the Markdown of GitHub: pictures as tables. It returns
// the errors of w.
func Markdown(w io.Writer, s Source) error { return document.Markdown(w, pageOf(s)) }

// greek writes the parameters of a guarantee as mathematicians do.
var greek = strings.NewReplacer("(epsilon ", "(ε ", ", delta ", ", δ ", ", mu ", ", μ ")

func prose(s string) document.Block { return document.Block{Text: s} }

// figure is a picture and the numbers in it.
func figure(svg chart.SVG, caption string, numbers *document.Table) document.Block {
	return document.Block{Figure: svg, Caption: caption, Table: numbers}
}
