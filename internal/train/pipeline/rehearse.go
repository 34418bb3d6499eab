package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/evaluate"
)

// faint is the mu or epsilon of a draw, for one record, above which no noise comes near
// the ends of the integer grid: sensitivities are below 2^46 units of the grid, or
// 2^33 where they are widths of a choice, with up to 2^16 columns.
const faint = 0x1p-9

// Rehearse reports, before any budget is spent, whether the budget of a plan is so small that the noise of a
// step would leave the integer grid: the error then wraps [mechanism.ErrScale]. If a step has very little
// budget, it runs every branch on a table without records; otherwise it returns nil at once. The result depends
// on the plan only, and is discarded.
//
// A plan that passes allows for noise 2^4 times as large as in the rehearsal. Actual noise can be larger in two
// places. A draw of boosted-additive is spent in as many parts as there are curves, and one of boosted-kernel
// in parts whose shares were released; the noise grows with the square root. And the sensitivity of blocks with
// public columns, under substitute-private-columns, grows with the longest row of those columns, which is
// public but not part of the plan. If the noise exceeds the allowance, at a budget within 2^4 of the limit, the
// run fails with the same error when the noise is drawn, for a reason that is not private.
func (p *Pipeline) Rehearse(ctx context.Context, plan *Plan) error {
	if !plan.hasFaintDraw() {
		return nil
	}
	t, err := EmptyTable(p.Schema)
	if err != nil {
		return err
	}
	for _, only := range plan.rehearsals() {
		err := p.rehearseBranch(ctx, only, t)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, mechanism.ErrScale):
			return TooFaint(err, p.Budget.Epsilon, "run")
		}
	}
	return nil
}

// rehearsals returns the plan with its choices settled, in all ways in which they may be.
func (p *Plan) rehearsals() []*Plan {
	counts := []int{0}
	for _, x := range append([]*Plan{p}, p.tries...) {
		for _, way := range x.byClasses {
			counts = append(counts, len(way.facts.Target.Categories))
		}
	}
	slices.Sort(counts)
	counts = slices.Compact(counts)
	if len(counts) > 1 {
		counts = counts[1:]
	}
	var out []*Plan
	for _, way := range p.stageBranches() {
		for _, n := range counts {
			for i := range p.mostBranches() {
				only := p.forceBranch(i)
				only.forcedWay = way
				only.forcedClasses = n
				out = append(out, only)
			}
		}
	}
	return out
}

// stageBranches returns the branches between which a stage chooses; "" if there is no such stage.
func (p *Plan) stageBranches() []string {
	x, ok := p.of.branchingStage()
	if !ok {
		return []string{""}
	}
	_, names := x.stage.Branches()
	return names
}

// mostBranches is the largest number of branches, of the run or of a candidate.
func (p *Plan) mostBranches() int {
	n := 0
	for _, x := range p.subplans() {
		n = max(n, len(x.branches))
	}
	return n
}

// forceBranch returns the plan with the choice between branches settled: the one at i,
// or the last of fewer. Of a search every candidate is rehearsed, see
// [mechanism.Best].
func (p *Plan) forceBranch(i int) *Plan {
	only := *p
	if n := len(p.branches); n > 0 {
		only.forced = &p.branches[min(i, n-1)]
	}
	only.tries = nil
	only.byClasses = nil
	for _, t := range p.tries {
		only.tries = append(only.tries, t.forceBranch(i))
	}
	for _, t := range p.byClasses {
		only.byClasses = append(only.byClasses, t.forceBranch(i))
	}
	return &only
}

// hasFaintDraw reports whether a draw of the plan has a budget below that limit. A draw with neither mu nor epsilon
// draws no noise.
func (p *Plan) hasFaintDraw() bool {
	records := float64(p.Target().Unit.Records())
	for _, l := range p.Leaves() {
		if x := max(l.Law.Mu, l.Law.Epsilon); x > 0 && x/records < faint {
			return true
		}
	}
	return false
}

// rehearseBranch runs one branch.
func (p *Pipeline) rehearseBranch(
	ctx context.Context,
	plan *Plan,
	t *dataset.Table,
) error {
	s, err := mechanism.NewRehearsal(plan.Priced)
	if err != nil {
		return err
	}
	res, err := p.runPlan(ctx, plan, openedSession(s), t, Options{})
	if err != nil || res.Model != nil || p.Holdout == 0 {
		return err
	}
	// It abstained, and with records it may not.
	held := t.View().Columns(plan.columns)
	target := len(plan.facts.Columns)
	groups := p.plannedGroups(held.Schema())
	if p.isClassification() {
		_, err = evaluate.Classification{
			Classes: plan.facts.Target.Categories,
			Pure:    p.isPure(),
		}.Run(
			ctx,
			s.Sub(holdoutNode),
			evaluate.Labels{
				Records: memory.NewRecords(held),
				Target:  target,
				Bins:    evaluate.Bins{Edges: []float64{0}},
				Groups:  groups,
			},
		)
	} else {
		_, err = evaluate.Regression{ByGroup: groups.Column != "", Pure: p.isPure()}.Run(
			ctx,
			s.Sub(holdoutNode).Sub("r2"),
			evaluate.Pairs{
				Records: memory.NewRecords(held),
				Target:  target,
				Lower:   -1,
				Upper:   1,
				Groups:  groups,
			},
		)
	}
	return err
}
