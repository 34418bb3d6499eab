package pipeline

import (
	"context"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// FitPlan is [Pipeline.Fit] with a plan that p made before: pricing takes
// longer than training on a small table. The plan pays for one run: a second call with it
// is [mechanism.ErrOpened], also after one that failed or was cancelled; see [Plan.Again].
// Where p is not what was planned, it returns [ErrPlan], and [ErrSchema] for another table's
// schema; the plan can then still be used.
func (p *Pipeline) FitPlan(ctx context.Context, plan *Plan, t *dataset.Table, o Options) (*Result, error) {
	return p.run(ctx, plan, mechanism.NewSession, t, o)
}

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
