package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
	"github.com/dptrain/dptrain/regression"
)

// ErrSchema is returned when a table was read under another schema than the
// pipeline's.
var ErrSchema = errors.New("the table has another schema than the pipeline")

// Options are the optional parts of a run. The zero value is a run without
// progress.
type Options struct {
	// Progress, if set, is called with the name of each stage when it starts. It does not depend on the data.
	Progress func(stage string)
}

// A Result is the outcome of a run. The guarantee covers everything except Curator, so all other fields may be
// published.
type Result struct {
	Task        string
	Target      string
	Method      string           // what trained the model: the plan's method, or its fallback
	Abstained   bool             // the plan's method abstained
	Model       regression.Model // nil if it abstained and there was no fallback
	Branch      string           // of a run, or a winning try, that chose between ways, those of several choices joined by "/"; "" otherwise
	Guarantee   budget.Guarantee
	Addition    budget.Addition // how the events add up to the guarantee
	Events      []mechanism.Event
	Considered  []string                // candidate features
	Selected    []string                // chosen features
	Confidence  *Confidence             // of the choice of features; nil without a private choice
	Importances []regression.Importance // of the columns of Model, the largest first; nil if unknown
	R2          *evaluate.R2            // regression
	Transform   rescale.Transform       // of the target
	Confusion   *evaluate.Confusion     // classification
	Stopped     *Stop                   // why no model was trained; nil if the run was completed
	Search      *Searched               // nil for a run without a search
	Sizes       *SizeSearch             // nil for a run without a list of sizes
	Unread      []Unread                // columns that are not in the model as their ranges were not found
	Gaps        []Gap                   // features with many missing cells
	Huge        []string                // columns, perhaps the target too, with numbers as large as the search for ranges reaches, or larger
	Tiny        []string                // such columns in which all numbers are too small for that search
	Alike       []string                // columns, perhaps the target too, whose numbers that search cannot tell apart
	TwoValues   []float64               // the two values that nearly all targets have, as far as the counts show; nil if there are more
	Card        []Histogram             // of the training records: columns whose ranges were found, in the order of the table
	Unprotected []Fact
	Warnings    []Warning
	stage.Findings

	// Curator is for the owner of the data: it is in no JSON, and prints as a remark.
	Curator Curator `json:"-"`
}

// A Histogram is the noisy histogram of a column from which its range was determined. It was released for the range, so
// publishing it is free.
type Histogram struct {
	Column string
	scaling.Histogram
}

// A Fact is a number or list stated by the recipe, which the guarantee does not protect.
type Fact = stage.Fact

// Curator holds exact facts about the records for the data owner. They are not covered by the guarantee and
// must not be published. To prevent accidental output, every verb of package fmt prints a remark in their
// place, here and in a [Result]; read the fields instead.
type Curator struct {
	Rows        int
	TrainRows   int
	HoldoutRows int
	ScoreRows   int                // of the training rows, those that scored the tries of a search
	Seconds     map[string]float64 // wall time by stage; of a search, that of its best try
}

// Format prints a remark.
func (Curator) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, "(exact facts for the owner of the data)")
}

// MarshalJSON encodes the remark of [Curator.Format].
func (Curator) MarshalJSON() ([]byte, error) {
	return json.Marshal(fmt.Sprint(Curator{}))
}

// Fit runs the pipeline on a table: it plans, opens a session and spends the planned budget. It returns the
// context's error if the context ends first; all other errors are independent of the records. Abstention of a
// method is not an error, see Result.Abstained, nor is a run that stops early, see Result.Stopped.
func (p *Pipeline) Fit(
	ctx context.Context,
	t *dataset.Table,
	o Options,
) (*Result, error) {
	plan, err := p.Plan()
	if err != nil {
		return nil, err
	}
	return p.FitPlan(ctx, plan, t, o)
}

// FitPlan is [Pipeline.Fit] with a plan made before, because pricing takes longer than training on a small
// table. The plan pays for one run: a second call returns [mechanism.ErrOpened], even after a run that failed
// or was cancelled; see [Plan.Again]. If the plan was made for another pipeline it returns [ErrPlan], and if
// the table has another schema [ErrSchema]; the plan can then still be used.
func (p *Pipeline) FitPlan(
	ctx context.Context,
	plan *Plan,
	t *dataset.Table,
	o Options,
) (*Result, error) {
	return p.runPlan(ctx, plan, mechanism.NewSession, t, o)
}

// A sessionOpener opens the session of a run.
type sessionOpener func(*budget.Priced) (*mechanism.Session, error)

// openedSession returns a session that is there already.
func openedSession(s *mechanism.Session) sessionOpener {
	return func(*budget.Priced) (*mechanism.Session, error) {
		return s, nil
	}
}

// runPlan executes a plan, in a session that it opens after checking plan and table.
func (p *Pipeline) runPlan(
	ctx context.Context,
	plan *Plan,
	open sessionOpener,
	t *dataset.Table,
	o Options,
) (*Result, error) {
	schema := t.Schema()
	if SameSchema(p.Schema, schema) {
		t = p.recodedTable(t)
	}
	return p.runFrom(ctx, plan, open, recordSource{
		schema: schema,
		records: func(r *runner, s *mechanism.Session) (mechanism.Records, error) {
			return memory.NewRecords(r.limitUnits(s, t.View().Columns(plan.columns))), nil
		},
		rows: func(context.Context) (int, error) {
			return t.Len(), nil
		},
	}, o)
}

// recordSource is where the records of a run come from.
type recordSource struct {
	schema  dataset.Schema
	records func(*runner, *mechanism.Session) (mechanism.Records, error) // with the plan's columns, those of units limited
	rows    func(context.Context) (int, error)                           // their exact number before that
}

// runFrom is run on the records of a source.
func (p *Pipeline) runFrom(
	ctx context.Context, plan *Plan, open sessionOpener, from recordSource, o Options,
) (*Result, error) {
	p, err := p.plannedPipeline(plan)
	if err != nil {
		return nil, err
	}
	if !SameSchema(p.Schema, from.schema) {
		return nil, ErrSchema
	}
	s, err := open(plan.Priced)
	if err != nil {
		return nil, err
	}
	r := newRunner(p, plan, plan.facts, o)
	all, err := from.records(r, s)
	if err != nil {
		return nil, err
	}
	stop, err := r.checkTarget(ctx, s, all)
	if err != nil {
		return nil, fmt.Errorf("check of the target: %w", err)
	}
	if stop != nil {
		s.Close()
		return r.stoppedResult(ctx, s, stop, from)
	}
	train, held := r.splitRecords(s, all)
	r.Held = held
	r.Training = train
	training := s
	if p.wrapsTraining() {
		training = s.Sub(trainNode)
	}
	if training, train, err = r.runBefore(ctx, training, train, false); err != nil {
		return nil, err
	}
	out, err := r.trainWithClasses(ctx, training, train)
	if err != nil {
		return nil, err
	}
	res := p.newResult(plan, r.Findings, out)
	if res.LacksClasses() {
		res.addUntried(plan)
	}
	if err := res.describeChoice(ctx, plan, out); err != nil {
		return nil, err
	}
	if err := r.addModel(ctx, s, p.Schema, out.fit, res); err != nil {
		return nil, err
	}
	res.Events = s.Events()
	res.Unprotected = p.unprotectedFacts()
	res.Warnings = p.warnings(res)
	res.Curator = Curator{
		ScoreRows: out.scoreRows,
		Seconds:   r.seconds,
	}
	if err := res.Curator.countRecords(ctx, from, train, held); err != nil {
		return nil, err
	}
	return res, nil
}

// newResult returns the result of a run without its model and its releases. found are the findings of its stages.
func (p *Pipeline) newResult(
	plan *Plan,
	found stage.Findings,
	out *trained,
) *Result {
	return &Result{
		Task:       p.taskName(),
		Target:     p.Target,
		Transform:  p.Transform,
		Method:     out.method,
		Abstained:  out.abstained,
		Branch:     out.branch,
		Guarantee:  plan.Guarantee(),
		Addition:   plan.Addition(),
		Considered: plan.Columns(),
		Search:     out.search,
		Sizes:      out.sizes,
		Unread:     out.readings.unread,
		Gaps:       out.readings.gaps,
		Huge:       out.readings.huge,
		Tiny:       out.readings.tiny,
		Alike:      out.readings.alike,
		TwoValues:  out.readings.two,
		Card:       out.card,
		Findings:   found,
	}
}

// addModel adds a model with its guarantee and its quality to a result. schema is that of the table as it was read,
// without the categories that were found. addModel has no effect for a method that abstained, whose fit is nil.
func (r *runner) addModel(
	ctx context.Context,
	s *mechanism.Session,
	schema dataset.Schema,
	fit *method.Fit,
	res *Result,
) error {
	if fit == nil {
		return nil
	}
	regression.WithGuarantee(fit.Model, modelGuarantee(res.Guarantee))
	RecordReading(fit.Model, schema)
	res.Model = fit.Model
	res.Importances = importancesOf(fit)
	return r.finishModel(ctx, s, fit, res)
}

// countRecords counts the records of a run exactly.
func (c *Curator) countRecords(
	ctx context.Context,
	from recordSource,
	train, held mechanism.Records,
) (err error) {
	for n, count := range map[*int]func(
		context.Context,
	) (int, error){
		&c.Rows:        from.rows,
		&c.TrainRows:   train.Len,
		&c.HoldoutRows: held.Len,
	} {
		if *n, err = count(ctx); err != nil {
			return err
		}
	}
	return nil
}

// finishModel runs the stages after the training and measures the model.
func (r *runner) finishModel(
	ctx context.Context,
	s *mechanism.Session,
	fit *method.Fit,
	res *Result,
) error {
	p := r.pipeline
	part := s.Sub(holdoutNode)
	for _, x := range p.stages() {
		if err := x.AfterTraining(ctx, &r.Run, s.Sub(trainNode), part, fit); err != nil {
			return err
		}
	}
	res.Findings = r.Findings
	if p.Holdout == 0 {
		return nil
	}
	if err := r.evaluateModel(ctx, part, r.Held, fit, r.scoreBins(part, fit), r.groups(),
		res); err != nil {
		return fmt.Errorf("held-out metric: %w", err)
	}
	addIntervals(res)
	return nil
}

// modelGuarantee is the promise in a model's file. Its mu is 0 where no Gaussian
// curve covers the run.
func modelGuarantee(g budget.Guarantee) *regression.Guarantee {
	out := &regression.Guarantee{
		Epsilon:  g.Epsilon,
		Delta:    g.Delta,
		Mu:       g.Mu,
		Relation: g.Relation.String(),
	}
	if math.IsInf(out.Mu, 1) {
		out.Mu = 0
	}
	if u := g.Unit; u != (budget.Unit{}) {
		out.Unit = &regression.Unit{
			Column:  u.Column,
			MaxRows: u.MaxRows,
		}
	}
	return out
}

// runner holds the state of one run.
type runner struct {
	stage.Run
	pipeline *Pipeline
	plan     *Plan
	options  Options
	values   []string     // of the column of groups, if they were found: those that have a group
	rated    *ratedChoice // the choice of features; nil until it is made, and for a choice without confidence
	seconds  map[string]float64
}

// newRunner returns the runner of a plan, or of a try of a search. facts are those that are known when it starts.
func newRunner(
	p *Pipeline,
	plan *Plan,
	facts selection.Facts,
	o Options,
) *runner {
	r := &runner{
		pipeline: p,
		plan:     plan,
		options:  o,
		seconds:  map[string]float64{},
	}
	r.Run = stage.Run{
		Facts:           facts,
		Forced:          plan.forcedWay,
		NoteCategories:  r.noteGroups,
		CompleteClasses: r.completeClasses,
		Start:           r.startStage,
		Fits: func(features []dataset.Column) bool {
			return p.rowsFit(selection.Facts{
				Columns:  features,
				Target:   r.plan.facts.Target,
				Relation: r.plan.facts.Relation,
			})
		},
	}
	return r
}

// announceStage reports the start of a stage to the caller.
func (r *runner) announceStage(name string) {
	if r.options.Progress != nil {
		r.options.Progress(name)
	}
}

// startStage announces a stage and returns the function that ends it.
func (r *runner) startStage(name string) func() {
	r.announceStage(name)
	start := time.Now()
	return func() {
		r.seconds[name] += time.Since(start).Seconds()
	}
}

// heldOutStage is the name of the last stage.
const heldOutStage = stage.HeldOut

// evaluateModel predicts a part of the records and releases how good that is. The scores of
// a classifier are counted in the given bins. groups, if any, divide the records as
// well.
func (r *runner) evaluateModel(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	f *method.Fit,
	bins evaluate.Bins,
	groups evaluate.Groups,
	res *Result,
) error {
	defer r.startStage(heldOutStage)()
	var err error
	if r.pipeline.isClassification() {
		res.Confusion, err = evaluate.Classification{
			Classes: f.Model.Output().Classes,
			Pure:    r.pipeline.isPure(),
		}.Run(
			ctx,
			s,
			evaluate.Labels{
				Records: v,
				Target:  len(r.Facts.Columns),
				Model:   method.NewPredictor(f.Model, r.Facts.Columns),
				Bins:    bins,
				Groups:  groups,
			},
		)
		return err
	}
	res.R2, err = r.r2(ctx, s.Sub("r2"), v, f, groups)
	return err
}

// r2 releases R² of the predictions of a model in units of the target, or of the transformed one before a model has its
// way back.
func (r *runner) r2(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	f *method.Fit,
	groups evaluate.Groups,
) (*evaluate.R2, error) {
	pairs := r.PairsOf(v, f)
	pairs.Groups = groups
	r2, err := evaluate.Regression{
		ByGroup: groups.Column != "",
		Pure:    r.pipeline.isPure(),
	}.Run(ctx, s, pairs)
	if err != nil {
		return nil, err
	}
	return &r2, nil
}

// RecordReading writes into a model how the cells of a table with the given schema were written.
func RecordReading(m regression.Model, s dataset.Schema) {
	places := make(map[string]int, len(s.Columns))
	for j := range s.Columns {
		places[s.Columns[j].Name] = j
	}
	regression.SetReading(m, func(column string, r *regression.Reading) {
		r.Decimal = s.Numbers.Decimal
		r.Thousands = s.Numbers.Thousands
		r.Strict = s.Numbers.Strict
		r.Missing = s.Numbers.Missing
		if j, found := places[column]; found {
			c := &s.Columns[j]
			r.Source = c.Source
			r.Part = c.Part
			r.Date = c.Date
		}
	})
}

// SchemaOf declares the columns that a model needs, as they were written in its training table. Missing cells
// remain missing: the model replaces them.
func SchemaOf(m regression.Model) dataset.Schema {
	var s dataset.Schema
	for _, in := range m.Inputs() {
		s.Numbers = dataset.Numbers{
			Decimal:   in.Reading.Decimal,
			Thousands: in.Reading.Thousands,
			Strict:    in.Reading.Strict,
			Missing:   in.Reading.Missing,
		}
		c := dataset.Column{
			Name:   in.Name,
			Source: in.Reading.Source,
			Part:   in.Reading.Part,
			Date:   in.Reading.Date,
		}
		if in.Text() {
			c.Kind = dataset.Category
			c.Categories = in.Categories
			c.Other = in.Other
			c.TextRule = dataset.TextRule(in.TextRule)
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// RowsOf converts a view to rows for the Predict method of a model, which ignores columns that it does not
// need. If the records of the view are consecutive, as in [dataset.Table.View], no cell is copied. Text of
// columns with [dataset.Column.Found] is missing; see [RowsFor].
func RowsOf(v dataset.View) regression.Rows {
	return method.RowsOfColumns(v.Block(0, v.Len()), v.Schema().Columns, nil)
}

// RowsFor is [RowsOf] for a model that was trained on columns with [dataset.Column.Found]: they are read as the
// model reads them.
func RowsFor(m regression.Model, v dataset.View) regression.Rows {
	inputs := map[string]dataset.Column{}
	for _, c := range SchemaOf(m).Columns {
		inputs[c.Name] = c
	}
	as := slices.Clone(v.Schema().Columns)
	for k, c := range as {
		if !c.Found {
			continue
		}
		as[k] = dataset.Column{
			Name:   c.Name,
			Kind:   c.Kind,
			Other:  c.Kind == dataset.Category && !c.Labels,
			Labels: c.Labels,
		}
		if input, ok := inputs[c.Name]; ok {
			as[k] = input
		}
	}
	return RowsOf(v.Resolve(as))
}
