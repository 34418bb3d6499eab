package vocabulary

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// ErrUnsupported is returned for columns whose words are to be found in a run that cannot pay for it.
var ErrUnsupported = fmt.Errorf("text values cannot be found privately here")

// Kind describes the stage.
func Kind() stage.Kind {
	return stage.Kind{
		Node:       Node,
		Share:      "words",
		Absent:     "this run does not detect text",
		Statistics: []mechanism.Statistic{kindStatistic{}},
		New: func(d stage.Description) stage.Stage {
			if !slices.ContainsFunc(d.Schema.Columns, isFound) {
				return nil
			}
			return Stage{Description: d}
		},
	}
}

func isFound(c dataset.Column) bool {
	return c.Found
}

// Stage is the stage of a run that has columns to investigate.
type Stage struct {
	stage.Passive
	stage.Description
}

// Check checks that the run can pay for the columns and categories that it must find.
func (x Stage) Check() []*fault.Error {
	var out []*fault.Error
	for _, c := range x.Schema.Columns {
		if !c.Found {
			continue
		}
		what := Unsupported(x.Description)
		hint := "declare its categories"
		field := fault.Child(fault.Child("data.columns", c.Name), "categories")
		if c.Name == x.Target {
			field = "data.classes"
			hint = "list the classes"
		}
		switch {
		case c.Name == x.Target && !x.Classification:
			out = append(out, stage.Problem(stage.ErrTarget, "data.target", "", "%v: %q",
				stage.ErrTarget, x.Target))
		case what != "" && c.Name == x.Target:
			out = append(out, stage.Problem(ErrUnsupported, field, hint,
				"%s: classes cannot be found privately %s", field, what))
		case what != "":
			out = append(out, stage.Problem(ErrUnsupported, field, hint,
				"%s: text values cannot be found privately %s", field, what))
		}
	}
	return out
}

// Unsupported returns the reason why words cannot be found privately in a run, or "".
func Unsupported(d stage.Description) string {
	switch {
	case d.Budget.Relation == budget.SubstitutePrivateColumns:
		return "under the relation " + d.Budget.Relation.String()
	case d.Budget.Composition == budget.Basic:
		return "under basic composition, because their noise is Gaussian"
	case !(d.Budget.Delta > 0):
		return "with a delta of 0"
	case d.Abstainer() != "":
		return "with method " + d.Abstainer() + ", which spends all of delta"
	}
	return ""
}

// mayBeWords reports whether the run must find out for a column whether it contains text.
func (x Stage) mayBeWords() bool {
	return slices.ContainsFunc(x.Schema.Columns, func(c dataset.Column) bool {
		return c.Found && c.Kind == dataset.Numeric
	})
}

// asksFirst reports whether words are paid for only if some column contains text. A try of a search gets
// earlier findings.
func (x Stage) asksFirst() bool {
	return !x.Search && x.mayBeWords() &&
		!slices.ContainsFunc(x.Schema.Columns, func(c dataset.Column) bool {
			return c.Found && c.Kind == dataset.Category
		})
}

// PlanFacts returns the columns as later steps are planned for them: categories that are to be found are as many as
// there may be.
func (x Stage) PlanFacts(
	f selection.Facts,
	fits func(selection.Facts) bool,
) selection.Facts {
	d := 0
	for _, c := range append(slices.Clone(f.Columns), f.Target) {
		if c.Found && c.Kind == dataset.Category {
			d++
		}
	}
	f.Columns = slices.Clone(f.Columns)
	var words []*dataset.Column
	for j := range f.Columns {
		if c := &f.Columns[j]; c.Found && c.Kind == dataset.Category {
			c.Categories = stage.Placeholders("word", wordCap(d))
			words = append(words, c)
		}
	}
	if f.Target.Found {
		f.Target.Categories = stage.Placeholders("class", x.Classes())
	}
	limitWords(words, nil, func() bool {
		return fits(f)
	})
	return f
}

// shares returns the shares of the kinds of columns and of the counts of words. asked is the share that the recipe
// asks for both together; 0 for the defaults.
func (x Stage) shares(asked float64) (kinds, words float64) {
	switch {
	case asked == 0:
		return KindShare, WordShare
	case !x.mayBeWords():
		return KindShare, asked
	}
	return asked * KindShare / (KindShare + WordShare), asked * WordShare / (KindShare + WordShare)
}

// Spends returns the share of all releases of the stage.
func (x Stage) Spends(asked float64) float64 {
	kinds, words := x.shares(asked)
	if !x.mayBeWords() {
		kinds = 0
	}
	return kinds + words
}

// Around returns the node before the training. It returns none if the paid steps depend on the kinds of columns.
func (x Stage) Around(asked, rest float64) (before, after []budget.Node, left float64) {
	if x.asksFirst() {
		return nil, nil, rest
	}
	kindShare, wordShare := x.shares(asked)
	search := wordLeaves(wordShare)
	rest -= wordShare
	if x.mayBeWords() {
		rest -= kindShare
		search = append([]budget.Node{kindLeaf(kindShare)}, search...)
	}
	return []budget.Node{sequence(search...)}, nil, rest
}

// Branches returns the branches of a run that pays for words only if the kinds show that some column contains text.
func (x Stage) Branches() (node string, names []string) {
	if !x.asksFirst() {
		return "", nil
	}
	return UndeclaredNode, []string{NumbersBranch, WordsBranch}
}

// InBranches returns the sequence of the kinds and of one of two branches.
func (x Stage) InBranches(
	name string,
	steps []budget.Node,
	asked float64,
) budget.Node {
	kindShare, wordShare := x.shares(asked)
	words := append([]budget.Node{WordSteps(wordShare)},
		scaleShares(steps, 1-kindShare-wordShare)...)
	return budget.Sequence(
		name,
		KindSteps(kindShare),
		Undeclared(scaleShares(steps, 1-kindShare), words),
	)
}

func scaleShares(nodes []budget.Node, f float64) []budget.Node {
	out := make([]budget.Node, len(nodes))
	for i, n := range nodes {
		out[i] = n.Scaled(f)
	}
	return out
}

// Gathers reports whether the engine lacks a list of words of its own.
func (x Stage) Gathers(c mechanism.Capabilities) bool {
	return c.Lexicon == nil || c.Resolve == nil
}
