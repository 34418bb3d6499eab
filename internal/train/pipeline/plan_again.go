package pipeline

import (
	"reflect"
	"slices"
)

// Again returns a plan for another run, at the same price; see [budget.Priced.Again].
func (p *Plan) Again() *Plan {
	next := *p
	next.Priced = p.Priced.Again()
	return &next
}

// clone copies the fields that a caller may change. Selectors are immutable values.
func (p *Pipeline) clone() *Pipeline {
	q := *p
	q.Schema = p.Schema.Clone()
	if p.Search != nil {
		search := *p.Search
		search.Candidates = slices.Clone(search.Candidates)
		q.Search = &search
	}
	return &q
}

// plannedPipeline returns the pipeline of a plan, or [ErrPlan] if it differs from p: a plan priced under one relation,
// for instance, must not be run under another.
func (p *Pipeline) plannedPipeline(plan *Plan) (*Pipeline, error) {
	if plan.of == nil || !reflect.DeepEqual(plan.of, p.clone()) {
		return nil, ErrPlan
	}
	return plan.of, nil
}
