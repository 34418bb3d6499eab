package pipeline

import (
	"context"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// FitPlan is [Pipeline.Fit] with a plan that p made before: pricing takes
// longer than training on a small table, and a plan never changes. Every call
// opens a session of its own and spends what the plan priced once more. Where p is not
// what was planned, it returns [ErrPlan].
func (p *Pipeline) FitPlan(ctx context.Context, plan *Plan, t *dataset.Table, o Options) (*Result, error) {
	s, err := mechanism.NewSession(plan.Priced)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, plan, s, t, o)
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
