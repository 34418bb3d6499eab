package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// trained is the result of the training part.
type trained struct {
	fit       *method.Fit // nil if the method abstained and there is no fallback
	chosen    []int       // candidates
	method    string
	abstained bool
	branch    string       // chosen branch; "" for a run without a choice
	search    *Searched    // nil for a run without a search
	sizes     *SizeSearch  // nil for a run without a list of sizes
	readings  readings     // of the columns that were scaled
	card      []Histogram  // likewise
	scoreRows int          // of a search
	rated     *ratedChoice // nil for a choice without confidence
}

// trainModels runs the stages of the training part in the order given in stages.go.
func (r *runner) trainModels(
	ctx context.Context,
	s *mechanism.Session,
	part mechanism.Records,
) (*trained, error) {
	known, err := recordsOf(part).known.Len(ctx)
	if err != nil {
		return nil, err
	}
	if len(r.plan.byClasses) > 0 {
		r.plan = r.plan.forClasses(len(r.Facts.Target.Categories))
		s = s.Sub(r.plan.name)
	}
	b, s, err := r.chooseBranch(s, known)
	if err != nil {
		return nil, err
	}
	if s, part, err = r.runBefore(ctx, s, part, true); err != nil {
		return nil, err
	}
	facts, err := r.stageFacts(s, b, known)
	if err != nil {
		return nil, err
	}
	out, err := r.runStages(ctx, s, b, facts, recordsOf(part))
	if err == nil {
		out.branch = r.branchName(b)
		out.rated = r.rated
	}
	return out, err
}

// branchName names the ways that were taken.
func (r *runner) branchName(b branch) string {
	if b.name == trainNode {
		return path.Join(r.plan.name, r.Branch)
	}
	return path.Join(r.plan.name, b.name, r.Branch)
}

// runStages runs the stages of a branch.
func (r *runner) runStages(
	ctx context.Context,
	s *mechanism.Session,
	b branch,
	facts selection.Facts,
	v records,
) (*trained, error) {
	if !b.scalesFirst(facts) {
		return r.selectThenScale(ctx, s, b, facts, v)
	}
	ranges, card, err := r.findRanges(ctx, s, v.all)
	if err != nil {
		return nil, err
	}
	facts.Ranges = ranges
	told, err := readingsOf(ctx, s, v.all, facts.Ranges)
	if err != nil {
		return nil, err
	}
	v, kept := keepFeatures(s, &facts, v)
	chosen, err := r.runSelector(
		ctx,
		s,
		b.selector,
		facts,
		v.forSelector(b.selector, facts.LabelOnly),
	)
	if err != nil {
		return nil, err
	}
	var out *trained
	if sizesOf(b.selector) != nil {
		out, err = r.trySizes(ctx, s, b, facts, v, chosen)
	} else {
		out, err = r.trainModel(
			ctx,
			s,
			b,
			facts.AtLeast,
			selectColumns(v, chosen),
			rangesFor(facts, chosen),
		)
		if out != nil {
			out.chosen = chosen
		}
	}
	if err != nil {
		return nil, err
	}
	out.chosen = selectItems(kept, out.chosen)
	out.readings = told
	out.card = card
	return out, nil
}

// selectThenScale continues train for a selector that needs no ranges: they are found for the selected columns
// only.
func (r *runner) selectThenScale(
	ctx context.Context,
	s *mechanism.Session,
	b branch,
	f selection.Facts,
	v records,
) (*trained, error) {
	chosen, err := r.runSelector(
		ctx,
		s,
		b.selector,
		f,
		v.forSelector(b.selector, f.LabelOnly),
	)
	if err != nil {
		return nil, err
	}
	v = selectColumns(v, chosen)
	ranges, card, err := r.findRanges(ctx, s, v.all)
	if err != nil {
		return nil, err
	}
	told, err := readingsOf(ctx, s, v.all, ranges)
	if err != nil {
		return nil, err
	}
	kept := usableColumns(s, v.all.Schema().Columns, ranges)
	out, err := r.trainModel(
		ctx,
		s,
		b,
		f.AtLeast,
		selectColumns(v, kept),
		append(selectItems(ranges, kept), ranges[len(chosen)]),
	)
	if err != nil {
		return nil, err
	}
	out.chosen = selectItems(chosen, kept)
	out.readings = told
	out.card = card
	return out, nil
}

// runSelector runs a selector on the records in the form that it requires. If the number of features is left to the
// model, the columns are returned in their released order. If at most as many columns are usable as it must choose,
// it selects all usable columns.
func (r *runner) runSelector(
	ctx context.Context,
	s *mechanism.Session,
	x selection.Selector,
	f selection.Facts,
	v mechanism.Records,
) ([]int, error) {
	defer r.startStage(selectionNode)()
	s = s.Sub(selectionNode)
	told := factsFor(x, f)
	var chosen []int
	var err error
	switch {
	case keepsAll(x, len(f.Columns)):
		return selection.None{}.Select(ctx, s, told, v)
	case ratesConfidence(x):
		choice, err := x.(confidenceRater).Choose(ctx, s, told, viewFor(x, f, v))
		if err != nil {
			return nil, fmt.Errorf("selection: %w", err)
		}
		r.rated = &ratedChoice{x.Name(), f.Columns, choice}
		return choice.Picked, nil
	case sizesOf(x) != nil:
		chosen, err = x.(selection.Sizer).Ranked(ctx, s, told, viewFor(x, f, v))
	default:
		chosen, err = x.Select(ctx, s, told, viewFor(x, f, v))
	}
	if err != nil {
		return nil, fmt.Errorf("selection: %w", err)
	}
	return chosen, nil
}

// chooseBranch chooses the branch by the released number of records. records is the number of records with a usable
// target.
func (r *runner) chooseBranch(
	s *mechanism.Session,
	records int,
) (branch, *mechanism.Session, error) {
	if len(r.plan.branches) == 1 {
		return r.plan.branches[0], s, nil
	}
	defer r.startStage("count")()
	return r.plan.chooseBranch(s, r.Facts, records)
}

// stageFacts returns the facts for the stages of a branch, with a released number of records if a stage needs one.
func (r *runner) stageFacts(
	s *mechanism.Session,
	b branch,
	records int,
) (selection.Facts, error) {
	facts := r.Facts
	if !b.countsRecords() {
		return facts, nil
	}
	defer r.startStage("count")()
	low, err := r.pipeline.releaseCount(s, facts, records)
	facts.AtLeast = atLeast(s, low, records)
	return facts, err
}

// findRanges finds the ranges of a view whose last column is the target.
func (r *runner) findRanges(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
) ([]scaling.Range, []Histogram, error) {
	defer r.startStage("scaling")()
	var card []Histogram
	columns := v.Schema().Columns
	stage := r.pipeline.rangesOf(columns)
	stage.Histograms = func(column int, h scaling.Histogram) {
		card = append(card, Histogram{columns[column].Name, h})
	}
	ranges, err := stage.Run(ctx, s.Sub(scalingNode), v)
	if err != nil {
		return nil, nil, fmt.Errorf("scaling: %w", err)
	}
	for j, c := range columns {
		ranges[j].Unread = ranges[j].Unread || isWordless(c)
	}
	if r.pipeline.isClassification() {
		ranges[len(ranges)-1] = scaling.Range{
			Lower:    -scoreRange,
			Upper:    scoreRange,
			Declared: true,
		}
	}
	return ranges, card, nil
}

// trainModel trains a branch's method on the columns of at least atLeast records, and trains the fallback if the
// method abstains.
func (r *runner) trainModel(
	ctx context.Context,
	s *mechanism.Session,
	b branch,
	atLeast int,
	v records,
	ranges []scaling.Range,
) (*trained, error) {
	defer r.startStage("model")()
	out := &trained{method: b.trainer.Name()}
	var err error
	if out.fit, err = r.fitModel(ctx, s.Sub(modelNode), b, atLeast, v, ranges); errors.Is(err,
		method.ErrAbstained) {
		out.fit = nil
		out.abstained = true
		err = nil
		if b.fallback != nil {
			b.trainer, out.method = b.fallback, b.fallback.Name()
			out.fit, err = r.fitModel(ctx, s.Sub(fallbackNode), b, atLeast, v, ranges)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return out, nil
}

// fitModel fits the method of a branch.
func (r *runner) fitModel(
	ctx context.Context,
	s *mechanism.Session,
	b branch,
	atLeast int,
	v records,
	ranges []scaling.Range,
) (*method.Fit, error) {
	columns := v.all.Schema().Columns
	t := r.pipeline.trainerFor(b.trainer, columns[len(columns)-1])
	known, err := v.forTrainer(b.trainer, r.pipeline.protectsTargetOnly())
	if err != nil {
		return nil, err
	}
	return runTrainer(ctx, t, s, method.Data{
		Facts:   r.pipeline.factsOf(b, columns),
		Records: known,
		Ranges:  ranges,
		AtLeast: atLeast,
	})
}

// runTrainer runs a trainer and returns as soon as the context ends: solving a large dense system does not
// check the context. The session is then closed, so that a trainer that is still running ends at its next
// release without releasing anything. What may continue is one eigendecomposition and a few products: 2 s of
// processor time with 500 entries per row, 14 s with 1,000, and, growing with the cube, a quarter of an hour
// with the maximum of 4,096.
func runTrainer(
	ctx context.Context,
	t method.Trainer,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	type outcome struct {
		fit   *method.Fit
		err   error
		panic *parallel.Panic
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.panic = parallel.Catch(func() {
			o.fit, o.err = t.Fit(ctx, s, d)
		})
		done <- o
	}()
	var o outcome
	select {
	case <-ctx.Done():
	case o = <-done:
		o.panic.Rethrow()
	}
	if err := ctx.Err(); err != nil {
		s.Close()
		return nil, err
	}
	if o.err != nil {
		return nil, o.err
	}
	clampModel(o.fit.Model)
	return o.fit, nil
}

// largest is the magnitude at which a model's numbers saturate. Ranges of
// absurd widths can carry a coefficient beyond what float64 holds; the model
// stays a model.
const largest = 1e300

// clampModel clamps the numbers of a model, or of every score of a classifier.
func clampModel(model regression.Model) {
	if c, ok := model.(*regression.Classifier); ok {
		for _, score := range c.Scores {
			clampModel(score)
		}
		return
	}
	m := regression.LinearPart(model)
	clamp := func(numbers ...*float64) {
		for _, x := range numbers {
			if *x != *x {
				*x = 0
			}
			*x = min(max(*x, -largest), largest)
		}
	}
	terms := func(list []regression.Term) {
		for i := range list {
			clamp(&list[i].Coefficient, &list[i].StdError)
		}
	}
	clamp(&m.Intercept, &m.InterceptStdError)
	terms(m.Terms)
	if tree, ok := model.(*regression.Tree); ok {
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			clamp(&n.Intercept, &n.Threshold)
			terms(n.Terms)
		}
	}
}

// selectColumns returns the records with the chosen columns and then the last one, the target.
func selectColumns(v records, chosen []int) records {
	return v.columns(append(slices.Clone(chosen), len(v.all.Schema().Columns)-1))
}
