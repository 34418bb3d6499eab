package suite

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// A fitJob trains a private classifier through package pipeline, as a recipe does: undeclared ranges are released
// from the same budget.
type fitJob struct {
	model    method.Trainer
	selector selection.Selector // nil: all columns
	share    float64            // of mu^2, of a private selection
	target   budget.Target
}

// fit trains on all records of a table whose last column is the target.
func (j fitJob) fit(
	ctx context.Context,
	t *dataset.Table,
) (*pipeline.Result, error) {
	columns := t.Schema().Columns
	p := pipeline.Pipeline{
		Schema:         t.Schema(),
		Task:           regression.TaskClassification,
		Target:         columns[len(columns)-1].Name,
		Budget:         j.target,
		Selector:       j.selector,
		SelectionShare: j.share,
		Model:          j.model,
	}
	if p.Selector == nil {
		p.Selector = selection.None{}
	}
	return p.Fit(ctx, t, pipeline.Options{})
}

// predicted returns the classes that a model predicts for a view.
func predicted(m regression.Model, v dataset.View) ([]int32, error) {
	classes, err := m.Predict(nil, pipeline.RowsOf(v))
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(classes))
	for i, c := range classes {
		out[i] = int32(c)
	}
	return out, nil
}

// priced opens a session for a trainer that is not available in recipes, with the ranges of the columns released from
// the same budget. It returns the session and the ranges; the range of the target, the last column, is empty. The
// function plan plans the trainer.
func priced(
	ctx context.Context,
	plan func() (budget.Node, error),
	v dataset.View,
	target budget.Target,
	ranges bool,
) (*mechanism.Session, []scaling.Range, error) {
	node, err := plan()
	if err != nil {
		return nil, nil, err
	}
	columns := v.Schema().Columns
	scale := scaling.Private{
		Columns:  columns[:len(columns)-1],
		Target:   -1,
		Relation: target.Relation,
	}
	kids := []budget.Node{node}
	if s, private := scale.Plan(); ranges && private {
		kids = []budget.Node{s, node}
	}
	p, err := budget.Calibrate(budget.Sequence("run", kids...), target)
	if err != nil {
		return nil, nil, err
	}
	s, err := mechanism.NewSession(p)
	if err != nil || !ranges {
		return s, nil, err
	}
	found, err := scale.Run(ctx, s.Sub("scaling"), memory.NewRecords(v))
	return s, append(found, scaling.Range{}), err
}
