package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// The order of the training part, as the plan prices it and the run keeps it:
//
//	count      a lower bound n_lo of the number of records, if a stage asks for it
//	scaling    before selection, over all columns, for a selector that works on
//	           scaled ones
//	selection
//	scaling    otherwise, over the chosen columns only
//	model
//	fallback   if one is named
//
// The stages of stage_list.go are around these.

// branch is one way to run the training part.
type branch struct {
	name     string
	selector selection.Selector
	trainer  method.Trainer
	fallback method.Trainer   // or nil
	columns  []dataset.Column // the widest choice, and then the target; set by trainTree
	fixed    float64          // share of epsilon for a model with a fixed distribution; set by trainTree
}

// countsRecords reports whether a stage asks for the number of records.
func (b branch) countsRecords() bool {
	c, ok := b.selector.(selection.Counter)
	m, wants := b.trainer.(method.Counter)
	return ok && c.NeedsCount() || wants && m.NeedsCount()
}

// scalesFirst reports whether ranges are found before features are chosen.
func (b branch) scalesFirst(f selection.Facts) bool {
	s, ok := b.selector.(selection.Scaler)
	return ok && s.NeedsRanges(factsFor(b.selector, f))
}

// trainTree plans the stages of a branch of the training part. What a private
// choice decides is planned for the widest choice.
func (p *Pipeline) trainTree(f selection.Facts, b *branch) (budget.Node, error) {
	told := factsFor(b.selector, f)
	choice, private, err := b.selector.Plan(told)
	if err != nil {
		return budget.Node{}, err
	}
	columns := append(slices.Clone(b.selector.Widest(told)), f.Target)
	toScale := columns
	if private || b.scalesFirst(f) { // the choice may need ranges where the widest one does not
		toScale = append(slices.Clone(f.Columns), f.Target)
	}
	ranges, scaled := p.rangesOf(toScale).Plan()
	several := len(p.planBranches(f)) > 1
	counted := b.countsRecords() && !publicCount(f)
	shares, err := p.divideBudget(*b, branchStages{
		mayCount:   p.mayCount(f),
		counted:    counted || several && !publicCount(f),
		selects:    private,
		scaled:     scaled,
		fixedModel: mayAbstain(b.trainer),
		fallback:   b.fallback != nil,
	})
	if err != nil {
		return budget.Node{}, err
	}
	if p.isPure() { // the shares of the leaves add up to 1 then, and to those of Gaussian leaves otherwise
		ranges = ranges.Scaled(1 - linear.GramShare)
	}
	ranges = ranges.Scaled(shares.ranges)

	var stages []budget.Node
	if counted {
		stages = append(stages, p.countNode())
	}
	if scaled && b.scalesFirst(f) {
		stages = append(stages, ranges)
	}
	if private {
		stages = append(stages,
			budget.Sequence(selectionNode, choice).Scaled(shares.selection).
				WithRole(budget.RoleStage))
	}
	if scaled && !b.scalesFirst(f) {
		stages = append(stages, ranges)
	}
	b.fixed = shares.fixed
	b.columns = columns
	models, err := p.modelNodes(*b, columns, shares)
	if err != nil {
		return budget.Node{}, err
	}
	role := budget.RoleBranch
	if b.name == trainNode {
		role = budget.RolePart
	}
	stages = append(stages, models...)
	if x, ok := p.branchingStage(); ok {
		asked := p.askedShare(x.Kind, p.mayCount(f))
		return x.stage.InBranches(b.name, stages, asked).WithRole(role), nil
	}
	return budget.Sequence(b.name, stages...).WithRole(role), nil
}

// modelNodes plans the model and its fallback.
func (p *Pipeline) modelNodes(
	b branch,
	columns []dataset.Column,
	shares division,
) ([]budget.Node, error) {
	target := columns[len(columns)-1]
	model, err := p.trainerFor(b.trainer, target).Plan(p.factsOf(b, columns))
	if err != nil {
		return nil, err
	}
	node := budget.Sequence(modelNode, model).WithRole(budget.RoleStage)
	if sizes := sizesOf(b.selector); sizes != nil {
		if node, err = p.sizesNode(sizes, model); err != nil {
			return nil, err
		}
	}
	nodes := []budget.Node{node.Scaled(shares.model)}
	if b.fallback == nil {
		return nodes, nil
	}
	facts := method.Facts{
		Columns:   columns,
		Relation:  p.Budget.Relation,
		LabelOnly: p.protectsTargetOnly(),
	}
	if model, err = p.trainerFor(b.fallback, target).Plan(facts); err != nil {
		return nil, err
	}
	return append(nodes, budget.Sequence(fallbackNode, model).Scaled(shares.fallback).
			WithRole(budget.RoleStage)),
		nil
}

// selectionShare returns the share of a selector that releases something.
func (p *Pipeline) selectionShare(b branch, private bool) float64 {
	switch {
	case !private:
		return 0
	case p.SelectionShare != 0:
		return p.SelectionShare
	case releasesClasses(b.selector):
		return ClassedSelectionShare
	}
	return DefaultSelectionShare
}

// rangesOf is the scaling stage of columns whose last is the target.
func (p *Pipeline) rangesOf(columns []dataset.Column) scaling.Private {
	return scaling.Private{
		Columns:   columns,
		Target:    len(columns) - 1,
		Transform: p.Transform,
		Relation:  p.Budget.Relation,
		Pure:      p.isPure(),
	}
}

// countNode returns the release of n_lo. It takes a fixed fraction of epsilon, so that plans based on it do not
// depend on the other stages.
func (p *Pipeline) countNode() budget.Node {
	law := budget.Law{
		Kind:    budget.Laplace,
		Epsilon: p.countShare() * p.Budget.Epsilon,
		Draws:   1,
	}
	return budget.FixedLeaf(countLeaf, law).WithStatistic(mechanism.StatCount).
		WithRole(budget.RoleStage)
}

// countFailure is the probability with which n_lo may exceed the number of records.
func (p *Pipeline) countFailure() float64 {
	if p.CountFailure == 0 {
		return DefaultCountFailure
	}
	return p.CountFailure
}

// countMargin returns the distance between the noisy number and n_lo, in scales of the noise: P(Lap(b) > b
// margin) is countFailure.
func (p *Pipeline) countMargin() float64 {
	return math.Log(1 / (2 * p.countFailure()))
}

// releaseCount releases n_lo with P(n_lo > n) <= p.countFailure() (docs/proofs/auto.md, "The rule"), n the
// number of records with a usable target. It returns n itself if n is public.
func (p *Pipeline) releaseCount(
	s *mechanism.Session,
	f selection.Facts,
	records int,
) (int, error) {
	if publicCount(f) {
		return records, nil
	}
	noisy, err := mechanism.Laplace(s, countLeaf, 0, s.Count(records))
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return int(max(1, math.Floor(noisy.Value()-s.Scale(countLeaf)*p.countMargin()))), nil
}
