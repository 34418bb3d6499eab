package pipeline

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/method"
)

// ExactParts describes the parts that a run computes without noise because they depend on public columns only. It returns
// nil unless listed columns are protected. These parts cost no budget.
func (p *Pipeline) ExactParts() []string {
	j := p.Schema.Index(p.Target)
	if p.Budget.Relation != budget.SubstitutePrivateColumns || j < 0 {
		return nil
	}
	target := p.Schema.Columns[j]
	var out []string
	open := func(c dataset.Column) bool {
		return c.Kind == dataset.Numeric && !c.Ranged && !c.Private
	}
	if slices.ContainsFunc(p.Schema.Columns, open) {
		out = append(out, "ranges of public columns")
	}
	for _, c := range p.runs() {
		name := nameOf(c.Model)
		if c.Model == nil {
			name = p.autoMethod(p.classesOf(target)).Name()
		}
		out = append(out, p.exactOfSelector(c, target)...)
		out = append(out, p.exactOfModel(name, target)...)
	}
	return slices.Compact(out)
}

// runs lists the stages of a run, or of each candidate of a search.
func (p *Pipeline) runs() []Candidate {
	if p.Search != nil {
		return p.Search.Candidates
	}
	return []Candidate{{
		Selector: p.Selector,
		Model:    p.Model,
	}}
}

// exactOfSelector describes the exact scores of a selector.
func (p *Pipeline) exactOfSelector(
	c Candidate,
	target dataset.Column,
) []string {
	if c.Selector == nil {
		return nil
	}
	m, _ := SelectorNamed(c.Selector.Name())
	switch {
	case !m.PublicFeatures:
	case m.Name == "greedy-gram" && !p.protectsTargetOnly():
	case p.protectsTargetOnly(), method.PublicTarget(p.Budget.Relation, target):
		return []string{fmt.Sprintf("scores of pairs of public columns in %s", m.Name)}
	}
	return nil
}

// exactOfModel describes the exact statistics of a model method.
func (p *Pipeline) exactOfModel(name string, target dataset.Column) []string {
	m, ok := TrainerNamed(name)
	switch {
	case !ok:
	case p.protectsTargetOnly() && m.PublicFeatures:
		return []string{"second moments of the features in " + name}
	case method.PublicTarget(p.Budget.Relation, target) && m.Supports(p.Budget.Relation):
		return []string{"statistics of public columns and the target in " + name}
	}
	return nil
}
