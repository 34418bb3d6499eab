package pipeline

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// checkVocabulary checks that the run can pay for the columns and categories that it must find.
func (r *rules) checkVocabulary() {
	for _, c := range r.Schema.Columns {
		if !c.Found {
			continue
		}
		what := r.NoVocabulary()
		hint := "declare its categories"
		field := fault.Child(fault.Child("data.columns", c.Name), "categories")
		if c.Name == r.Target {
			field = "data.classes"
			hint = "list the classes"
		}
		switch {
		case c.Name == r.Target && !r.isClassification():
			r.addProblem(ErrTarget, "data.target", "", "%v: %q", ErrTarget, r.Target)
		case what != "" && c.Name == r.Target:
			r.addProblem(ErrVocabulary, field, hint, "%s: classes cannot be found privately %s",
				field, what)
		case what != "":
			r.addProblem(ErrVocabulary, field, hint, "%s: text values cannot be found privately %s",
				field, what)
		}
	}
}

// NoVocabulary returns the reason why words cannot be found privately in a run, or "".
func (p *Pipeline) NoVocabulary() string {
	abstainer := p.abstainingMethod()
	switch {
	case p.Budget.Relation == budget.SubstitutePrivateColumns:
		return "under the relation " + p.Budget.Relation.String()
	case p.Budget.Composition == budget.Basic:
		return "under basic composition, because their noise is Gaussian"
	case !(p.Budget.Delta > 0):
		return "with a delta of 0"
	case abstainer != "":
		return "with method " + abstainer + ", which spends all of delta"
	}
	return ""
}

// AsIfFound returns the run with columns as they might be found: a few categories, two classes or MostClasses,
// and numbers for undeclared columns. It is for synthetic tables, and pays for no search for words.
func (p *Pipeline) AsIfFound() *Pipeline {
	if !p.investigatesColumns() {
		return p
	}
	const few = 5
	out := *p
	out.Schema = p.Schema.Clone()
	for j := range out.Schema.Columns {
		c := &out.Schema.Columns[j]
		switch {
		case !c.Found:
		case c.Name == p.Target:
			c.Categories = standIns("class", max(p.MostClasses, leastClasses))
		case c.Kind == dataset.Category:
			c.Categories = standIns("word", few)
		}
		c.Found = false
	}
	return &out
}
