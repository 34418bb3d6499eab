package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/regression"
)

// A Source holds the files of a release from which its page is generated.
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

// A pageBody is the part of a page that depends on the task. It goes between the parts that all pages share.
type pageBody struct {
	title    string
	identity []document.Fact // below the title, before the program
	facts    []document.Fact // after those of the guarantee
	figure   chart.SVG
	caption  string
	meaning  []document.Block // after the meaning of the guarantee
	sections []document.Section
}

// pageOf lays out a release. Everything in it is public: the files are, and a page is a
// function of them.
func pageOf(s Source) document.Page {
	r := s.Report
	body := r.section().body(s)
	p := document.Page{
		Title: body.title,
		Lead:  []string{greek.Replace(statement(r))},
		Identity: slices.Concat(s.aboutFacts(), body.identity,
			[]document.Fact{{Name: "Made with", Value: "dptrain, report format " + r.Format}}),
		Facts:   append(facts(r.Guarantee), body.facts...),
		Figure:  body.figure,
		Caption: body.caption,
	}
	if title := s.aboutText("title"); title != "" {
		p.Title = printableName(title)
	}
	for _, part := range slices.Concat([]document.Section{
		{ID: "warnings", Title: "Warnings", Blocks: warningBlocks(r)},
		{
			ID:     "meaning",
			Title:  "What is guaranteed",
			Blocks: slices.Concat(promised(r), body.meaning, ledgerBlocks(r)),
		},
	}, body.sections, []document.Section{
		{ID: "budget", Title: "How the budget was spent", Blocks: budgetBlocks(r)},
		{ID: "sum", Title: "How the steps add up", Blocks: accountingBlocks(r)},
		{ID: "trust", Title: "Trust model and side channels", Blocks: trustBlocks(r)},
		{ID: "unprotected", Title: "What is not protected", Blocks: declared(r)},
		{ID: "steps", Title: "Every step", Blocks: stepBlocks(r)},
		{ID: "use", Title: "How to use and check the release", Blocks: useBlocks(s)},
	}) {
		if len(part.Blocks) > 0 {
			p.Sections = append(p.Sections, part)
		}
	}
	return p
}

// body shows the model, its held-out metrics and its parts.
func (t *Training) body(s Source) pageBody {
	r := s.Report
	out := pageBody{
		title:   "Private model of " + printableName(t.Target),
		facts:   t.metricFacts(r.Format),
		meaning: t.modelBlocks(r),
	}
	if t.Model.Kind == "" {
		out.title = "No model of " + printableName(t.Target)
	} else {
		out.identity = []document.Fact{{
			Name: "Model",
			Value: fmt.Sprintf("%s of %s, from %s", t.Model.Method, printableName(t.Target),
				countOf(len(t.Features.Selected), "column")),
		}}
	}
	out.figure, out.caption = metricPicture(r)
	out.sections = []document.Section{
		{
			ID:     "quality",
			Title:  "Model quality",
			Blocks: qualities(r),
		},
		{
			ID:     "groups",
			Title:  "Quality by group",
			Blocks: groupBlocks(r),
		},
		{
			ID:     "choice",
			Title:  "Confidence in the selected columns",
			Blocks: confidenceBlocks(r),
		},
		{
			ID:     "columns",
			Title:  "Which columns matter",
			Blocks: importanceBlocks(r),
		},
		{
			ID:     "prototypes",
			Title:  "Typical members of the classes",
			Blocks: typicalBlocks(s),
		},
		{
			ID:     "shapes",
			Title:  "What each column contributes",
			Blocks: shapeBlocks(s),
		},
		{
			ID:     "tree",
			Title:  "What each path costs",
			Blocks: treeBlocks(s),
		},
		{
			ID:     "data",
			Title:  "The training data",
			Blocks: cardBlocks(r),
		},
	}
	return out
}

// body has a title only: the release of a study has a picture in place of a page.
func (c *Causal) body(Source) pageBody {
	return pageBody{title: "Private study of causal directions"}
}

// HTML writes a release as one page that needs nothing from elsewhere: no network, no
// script. Equal releases give equal bytes. It returns the errors of w.
func HTML(w io.Writer, s Source) error {
	return document.HTML(w, pageOf(s))
}

// Markdown writes the same content in GitHub Markdown, with tables instead of pictures. It returns the errors of w.
func Markdown(w io.Writer, s Source) error {
	return document.Markdown(w, pageOf(s))
}

// greek writes the parameters of a guarantee with Greek letters.
var greek = strings.NewReplacer("(epsilon ", "(ε\u00a0", ", delta ", ", δ\u00a0", ", mu ", ", μ\u00a0")

func prose(s string) document.Block {
	return document.Block{Text: s}
}

// figure is a picture with a table of its numbers.
func figure(
	svg chart.SVG,
	caption string,
	numbers *document.Table,
) document.Block {
	return document.Block{
		Figure:  svg,
		Caption: caption,
		Table:   numbers,
	}
}
