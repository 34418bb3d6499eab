package pipeline

import (
	"reflect"
	"slices"
)

// Again returns the plan for one run more, which costs what the first one did once more; see
// [budget.Priced.Again].
func (p *Plan) Again() *Plan {
	next := *p
	next.Priced = p.Priced.Again()
	return &next
}

// clone copies what a caller may change. Selectors are values that describe themselves.
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

// planned returns the pipeline of a plan, and [ErrPlan] where it is not p: what was priced
// under one relation, say, must not be run under another.
func (p *Pipeline) planned(plan *Plan) (*Pipeline, error) {
	if plan.of == nil || !reflect.DeepEqual(plan.of, p.clone()) {
		return nil, ErrPlan
	}
	return plan.of, nil
}
