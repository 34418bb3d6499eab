package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/evaluate"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/scaling"
	"github.com/dptrain/dptrain/selection"
)

// ErrSchema is returned when a table was read under another schema than the
// pipeline's.
var ErrSchema = errors.New("pipeline: the table has another schema than the pipeline")

// Options are the optional parts of a run. The zero value is a run without
// progress.
type Options struct {
	// Progress, if set, is called when a stage begins, with its name. It says
	// nothing about the data.
	Progress func(stage string)
}

// A Result is what a run produced. Everything but Curator is covered by the
// guarantee and may be published.
type Result struct {
	Task        string
	Target      string
	Method      string
	Model       regression.Model
	Guarantee   budget.Guarantee
	Events      []mechanism.Event
	Considered  []string // candidate features
	Selected    []string // chosen features
	R2          *evaluate.R2
	Unprotected []Fact
	Warnings    []Warning

	Curator Curator
}

// A Fact is a number or list that the recipe states and that the guarantee
// does not protect.
type Fact struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Curator holds exact facts about the records for the data's owner. They are
// not covered by the guarantee and must not be published.
type Curator struct {
	Rows, TrainRows, HoldoutRows int
	Seconds                      map[string]float64 // wall time by stage
}

// Fit runs the pipeline on a table: it plans, opens a session and spends what
// the plan priced. It returns the context's error when that ends first, and
// otherwise fails only for reasons that do not depend on a record.
func (p *Pipeline) Fit(ctx context.Context, t *dataset.Table, o Options) (*Result, error) {
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	s, err := mechanism.NewSession(plan.Priced)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, plan, s, t, o)
}

// run carries a plan out in a session.
func (p *Pipeline) run(ctx context.Context, plan *Plan, s *mechanism.Session, t *dataset.Table, o Options) (*Result, error) {
	if !sameSchema(p.Schema, t.Schema()) {
		return nil, ErrSchema
	}
	r := &runner{pipeline: p, plan: plan, options: o, seconds: map[string]float64{}}
	train, held := r.split(s, t.All().Columns(plan.columns))
	fit, chosen, err := r.train(ctx, s.Sub(trainNode), train)
	if err != nil {
		return nil, err
	}
	guarantee := plan.Guarantee()
	fit.Linear.Guarantee = &regression.Guarantee{
		Epsilon: guarantee.Epsilon, Delta: guarantee.Delta, Mu: guarantee.Mu, Relation: guarantee.Relation.String(),
	}
	res := &Result{
		Task: regression.TaskRegression, Target: p.Target, Method: plan.Method(), Model: fit.Model,
		Guarantee: guarantee, Considered: plan.Columns(),
	}
	for _, j := range chosen {
		res.Selected = append(res.Selected, plan.facts.Columns[j].Name)
	}
	if p.Holdout > 0 {
		if res.R2, err = r.evaluate(ctx, s.Sub(holdoutNode), held, fit); err != nil {
			return nil, err
		}
	}
	res.Events = s.Events()
	res.Unprotected = p.unprotected()
	res.Warnings = p.warnings(res)
	res.Curator = Curator{t.Len(), train.Len(), held.Len(), r.seconds}
	return res, nil
}

// runner carries the state of one run.
type runner struct {
	pipeline *Pipeline
	plan     *Plan
	options  Options
	seconds  map[string]float64
}

// stage announces a stage and returns the function that ends it.
func (r *runner) stage(name string) func() {
	if r.options.Progress != nil {
		r.options.Progress(name)
	}
	start := time.Now()
	return func() { r.seconds[name] += time.Since(start).Seconds() }
}

// split deals every record, by its own coin, to the training or the held-out
// part.
func (r *runner) split(s *mechanism.Session, all dataset.View) (train, held dataset.View) {
	defer r.stage("split")()
	if r.pipeline.Holdout == 0 {
		return all, all.Select(nil)
	}
	coins := s.Coins("split")
	parts := all.Split(2, func(id uint64) int {
		if coins.Heads(id, r.pipeline.Holdout) {
			return 1
		}
		return 0
	})
	return parts[0], parts[1]
}

// train runs selection, scaling and the model on the training part.
func (r *runner) train(ctx context.Context, s *mechanism.Session, v dataset.View) (*adassp.Fit, []int, error) {
	done := r.stage("selection")
	b, s, err := r.plan.choose(s, v.Len())
	if err != nil {
		return nil, nil, err
	}
	chosen, err := b.selector.Select(ctx, s.Sub(selectionNode), r.plan.facts, v)
	if err != nil {
		return nil, nil, fmt.Errorf("selection: %w", err)
	}
	done()
	columns, view := r.plan.narrow(v, chosen)

	done = r.stage("scaling")
	ranges, err := scaling.Private{Columns: columns, Target: len(columns) - 1}.Run(ctx, s.Sub(scalingNode), view)
	if err != nil {
		return nil, nil, fmt.Errorf("scaling: %w", err)
	}
	done()

	defer r.stage("model")()
	method, err := trainerOf(b.method, columns)
	if err != nil {
		return nil, nil, err
	}
	fit, err := runTrainer(ctx, method, s.Sub(modelNode), view, ranges)
	if err != nil {
		return nil, nil, fmt.Errorf("model: %w", err)
	}
	return fit, chosen, nil
}

// runTrainer runs a trainer and returns as soon as the context ends: solving a
// large dense system does not look at it.
func runTrainer(ctx context.Context, t trainer, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*adassp.Fit, error) {
	type outcome struct {
		fit *adassp.Fit
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		fit, err := t.Run(ctx, s, v, ranges)
		done <- outcome{fit, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-done:
		if o.err == nil {
			saturate(o.fit.Linear)
		}
		return o.fit, o.err
	}
}

// largest is the magnitude at which a model's numbers saturate. Ranges of
// absurd widths can carry a coefficient beyond what float64 holds; the model
// stays a model.
const largest = 1e300

func saturate(m *regression.Linear) {
	clamp := func(x *float64) {
		if *x != *x {
			*x = 0
		}
		*x = min(max(*x, -largest), largest)
	}
	clamp(&m.Intercept)
	clamp(&m.InterceptStdError)
	for i := range m.Terms {
		clamp(&m.Terms[i].Coefficient)
		clamp(&m.Terms[i].StdError)
	}
}

// narrow returns the chosen columns and then the target.
func (p *Plan) narrow(v dataset.View, chosen []int) ([]dataset.Column, dataset.View) {
	index := append(append([]int(nil), chosen...), len(p.facts.Columns))
	view := v.Columns(index)
	return view.Schema().Columns, view
}

// evaluate predicts the held-out part and releases its R².
func (r *runner) evaluate(ctx context.Context, s *mechanism.Session, v dataset.View, fit *adassp.Fit) (*evaluate.R2, error) {
	defer r.stage("held-out metric")()
	prediction, err := fit.Model.Predict(nil, rowsOf(v, r.plan.facts))
	if err != nil {
		return nil, fmt.Errorf("held-out metric: %w", err)
	}
	r2, err := evaluate.Regression{}.Run(ctx, s.Sub("r2"), evaluate.Pairs{
		View: v, Target: len(r.plan.facts.Columns), Prediction: prediction, Lower: fit.Linear.Lower, Upper: fit.Linear.Upper, Center: fit.TargetMean,
	})
	if err != nil {
		return nil, fmt.Errorf("held-out metric: %w", err)
	}
	return &r2, nil
}

// rowsOf gathers the candidate features of a view for a prediction.
func rowsOf(v dataset.View, f selection.Facts) regression.Rows {
	rows := regression.Rows{N: v.Len(), Numeric: map[string][]float64{}, Codes: map[string]regression.Codes{}}
	all := v.Block(0, v.Len())
	for j, c := range f.Columns {
		if c.Kind == dataset.Numeric {
			rows.Numeric[c.Name] = all.Float(j, nil)
		} else {
			rows.Codes[c.Name] = regression.Codes{Values: all.Codes(j, nil), Categories: c.Categories}
		}
	}
	return rows
}
