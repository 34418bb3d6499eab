package pipeline

import (
	"context"
	"strconv"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// oneVsRest is a classifier made of numeric models: one of -1 and +1 for two classes, otherwise one for each
// class against the others.
type oneVsRest struct{ method.Trainer }

// classNode is the name of the node of a class.
func classNode(k int) string {
	return "class-" + strconv.Itoa(k+1)
}

// ofScore returns the facts of a score.
func ofScore(f method.Facts) method.Facts {
	last := len(f.Columns) - 1
	f.Columns = append(f.Columns[:last:last], numericTarget(f.Columns[last]))
	f.Derived = true
	return f
}

// Plan prices the fits: with L > 2 classes each has 1/L of the budget.
func (t oneVsRest) Plan(f method.Facts) (budget.Node, error) {
	node, err := t.Trainer.Plan(ofScore(f))
	classes := len(f.Target().Categories)
	if err != nil || classes == 2 {
		return node, err
	}
	nodes := make([]budget.Node, classes)
	for k := range nodes {
		nodes[k] = budget.Sequence(classNode(k), node).Scaled(1 / float64(classes))
	}
	return budget.Sequence("classes", nodes...), nil
}

// Fit trains; see [method.Trainer].
func (t oneVsRest) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	target := d.Target()
	classes := len(target.Categories)
	model := &regression.Classifier{
		Target:  target.Name,
		Classes: target.Categories,
	}
	out := &method.Fit{Model: model, Scale: method.Signs}
	add := func(s *mechanism.Session, class int) (*method.Fit, error) {
		one := d
		one.Facts, one.Records = ofScore(d.Facts), deriveTarget(d.Records, class)
		fit, err := t.Trainer.Fit(ctx, s, one)
		if err == nil {
			model.Scores = append(model.Scores, fit.Model)
			out.Spreads = append(out.Spreads, fit.Spreads...)
		}
		return fit, err
	}
	if classes == 2 {
		if _, err := add(s, 1); err != nil {
			return nil, err
		}
		return out, nil
	}
	s = s.Sub("classes")
	for k := range classes {
		fit, err := add(s.Sub(classNode(k)), k)
		if err != nil {
			return nil, err
		}
		// Clamped to [-1, 1], the scores of two sure classes would be equal.
		fit.Linear().Lower = -method.ScoreLimit
		fit.Linear().Upper = method.ScoreLimit
	}
	return out, nil
}
