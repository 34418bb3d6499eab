package dptrain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// ErrAbstained is returned by [Fit.Predictor] where the method abstained: there is no model.
var ErrAbstained = fault.New(fault.Abstained,
	"the method abstained, so there is no model; the budget is spent")

// A StoppedError is returned with the result if a run stopped before training because hardly any record has a
// usable target: the task or the decimal mark may be wrong. It depends on released counts only. No other
// release was made, and a ledger is charged for these counts only. The result has no model; Save writes its
// report.
type StoppedError struct {
	Target string
	Task   string
	// Usable is the noisy number of records with a usable target: a number, or one of the classes. Text is that
	// with text or another label in its place, and Empty that without a target.
	Usable, Text, Empty float64
	// Epsilon is the budget that the run spent on these counts.
	Epsilon float64

	stop pipeline.Stop
}

// Error describes the problem of the target and the remedy.
func (e *StoppedError) Error() string {
	return inFields(e.stop.Advice())
}

// newStoppedError converts the reason why a run stopped.
func newStoppedError(x pipeline.Stop) *StoppedError {
	return &StoppedError{
		Target:  x.Target,
		Task:    x.Task,
		Usable:  x.Readable,
		Text:    x.Text,
		Empty:   x.Empty,
		Epsilon: x.Epsilon,
		stop:    x,
	}
}

// A Fit is the result of a run. The guarantee covers all of it except Curator, so its printed and JSON forms are
// public. [Fit.Report] has all released numbers. A Fit must not be used concurrently.
type Fit struct {
	Task   string // "regression" or "classification"
	Target string
	// Method is the name of the method that trained the model: that of the plan, or its fallback.
	Method string
	// Model is nil if the method abstained and there was no fallback, and after a [*StoppedError].
	Model     regression.Model
	Guarantee budget.Guarantee
	// Considered are the candidate features in the order of the table, and Selected those of the model.
	Considered, Selected []string
	// FoundCategories has the categories of the columns whose text was found privately, sorted; see
	// [Column.FindCategories].
	FoundCategories map[string][]string
	// Importances are those of the columns of the model, the largest first; nil if they are unknown.
	Importances []regression.Importance
	R2          *R2        // of a regression with held-out records, otherwise nil
	Confusion   *Confusion // of a classification with held-out records, otherwise nil
	// Winner is the index in [Search].Candidates of the candidate that was kept; -1 without a search.
	Winner int
	// Unprotected lists the facts that the run declares, which the guarantee does not protect.
	Unprotected []Fact
	Warnings    []Warning

	// Curator has exact facts for the owner of the data. It is in no JSON, and prints as a remark.
	Curator Curator `json:"-"`

	stopped *pipeline.Stop
	files   *report.Files // a pointer, so that package fmt prints an address
	entry   *entry.Entry  // nil for a run without a ledger
}

// A Warning is a public remark on a run. It depends on the plan and on released values only.
type Warning struct {
	// Code identifies the kind of warning, such as "wide-interval"; docs/reference/report.md lists the codes.
	Code string
	// Severity is "critical" for a number that must not be relied on, "theoretical" for a limitation of the
	// guarantee, or "negligible".
	Severity string
	Text     string
}

// A Fact is a fact about the data that a run declares, such as the range of a column.
type Fact struct {
	Name  string
	Value any // a number, a text or a list of them
}

// Curator holds exact facts about the records for the owner of the data. No guarantee covers them, so they must not be
// published: every verb of package fmt and encoding/json write a remark in their place.
type Curator struct {
	Rows        int // of the table
	TrainRows   int // that trained the model
	HoldoutRows int // that measured it
	// Seconds is the wall time by stage, which may depend on the records.
	Seconds map[string]float64
}

// remark is printed in place of a [Curator].
const remark = "(exact facts for the owner of the data)"

// Format writes a remark in place of the facts.
func (Curator) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, remark)
}

// MarshalJSON returns a remark in place of the facts.
func (Curator) MarshalJSON() ([]byte, error) {
	return json.Marshal(remark)
}

// newFit converts the result of a run.
func newFit(x *pipeline.Result, files *report.Files, e *entry.Entry) *Fit {
	out := &Fit{
		Task:        x.Task,
		Target:      x.Target,
		Method:      x.Method,
		Model:       x.Model,
		Guarantee:   x.Guarantee,
		Considered:  x.Considered,
		Selected:    x.Selected,
		Importances: x.Importances,
		R2:          newR2(x.R2),
		Confusion:   newConfusion(x.Confusion),
		Winner:      -1,
		Curator: Curator{
			Rows:        x.Curator.Rows,
			TrainRows:   x.Curator.TrainRows,
			HoldoutRows: x.Curator.HoldoutRows,
			Seconds:     x.Curator.Seconds,
		},
		stopped: x.Stopped,
		files:   files,
		entry:   e,
	}
	if x.Search != nil {
		out.Winner = x.Search.Chosen
	}
	for _, v := range x.Vocabulary {
		if out.FoundCategories == nil {
			out.FoundCategories = map[string][]string{}
		}
		out.FoundCategories[v.Column] = v.Words
	}
	for _, f := range x.Unprotected {
		out.Unprotected = append(out.Unprotected, Fact{f.Name, f.Value})
	}
	for _, w := range files.Report.Warnings {
		out.Warnings = append(out.Warnings, Warning{w.Code, string(w.Severity), inFields(w.Text)})
	}
	return out
}

// Fit reads the table, trains, and releases the held-out metric. The table must have the header of the plan
// ([ErrSchema]) and fit into memory (dataset.ErrTooLarge), unless [Run].Engine selects another engine. A plan
// pays for one run: a second call returns [ErrOpened], whatever the result of the first; see [Plan.Again].
//
// With a ledger the price is entered before a row is read, or rejected with a [*SpentError]. It remains spent
// if Fit fails later; after a [*StoppedError] most of it is returned. If training succeeded but the ledger
// could not be written at the end, Fit returns the result and the error: Save tries again.
func (p *Plan) Fit(ctx context.Context, t *Table) (*Fit, error) {
	if !slices.Equal(t.Header, p.header) {
		return nil, ErrSchema
	}
	if err := t.fits(p.pipeline.Schema); err != nil {
		return nil, err
	}
	store, err := p.storeOf(t)
	if err != nil {
		return nil, goError(err)
	}
	if p.used.Swap(true) {
		return nil, ErrOpened
	}
	return p.enter(ctx, t,
		func(options pipeline.Options) (*pipeline.Result, *dataset.Stats, error) {
			options.Progress(readStage)
			start := time.Now()
			if store != nil {
				from := stream.Source{
					Path:    t.Path,
					Options: t.reading(),
					Folder:  p.run.Scratch,
				}
				seconds := 0.
				res, stats, err := engine.FitStored(ctx, store, p.pipeline, p.plan, from,
					options, func() {
						seconds = time.Since(start).Seconds()
					})
				if err == nil {
					res.Curator.Seconds[readStage] = seconds
				}
				return res, stats, err
			}
			table, stats, err := t.read(ctx, p.pipeline.Schema)
			if err != nil {
				return nil, nil, err
			}
			seconds := time.Since(start).Seconds()
			res, err := p.pipeline.FitPlan(ctx, p.plan, table, options)
			if err == nil {
				res.Curator.Seconds[readStage] = seconds
			}
			return res, stats, err
		})
}

// storeOf returns the store that keeps the table, or nil for memory. It rejects a table that cannot be used
// otherwise.
func (p *Plan) storeOf(t *Table) (*engine.Store, error) {
	name := p.run.Engine
	if name == "" || t.held != nil {
		name = engine.Memory
	}
	store, err := engine.StoreOf(name, p.pipeline, p.plan, t.Path, len(t.Header))
	if err != nil || store != nil {
		return store, err
	}
	return nil, engine.Holdable(t.Path, len(t.Header), p.pipeline.Schema, 1)
}

// Schema declares the columns that the run reads.
func (p *Plan) Schema() dataset.Schema {
	return p.pipeline.Schema.Clone()
}

// enter enters the run, trains, and enters its end.
func (p *Plan) enter(
	ctx context.Context,
	t *Table,
	train training,
) (*Fit, error) {
	var e *entry.Entry
	if p.run.Ledger != nil {
		var err error
		e, err = entry.Reserve(ctx, entry.Request{
			Ledger:  p.run.Ledger.file(),
			Dataset: p.run.Dataset,
			Note:    p.run.Note,
			Table:   t.Path,
			Format:  t.Format,
			Header:  p.header,
			Run:     entry.RunOf(p.pipeline, p.plan),
		})
		if err != nil {
			return nil, goError(err)
		}
	}
	f, err := p.collect(train, t.Path, e)
	if err != nil {
		return f, goError(e.Spent(err))
	}
	if f.stopped != nil {
		e.Stop()
	}
	if e != nil {
		release, err := f.files.Checksum()
		if err == nil {
			err = e.Commit(ctx, release)
		}
		if err != nil {
			return f, goError(e.Spent(err))
		}
	}
	if f.stopped != nil {
		return f, newStoppedError(*f.stopped)
	}
	return f, nil
}

// training trains on records. It also returns the counts of the reader, if there was one.
type training func(pipeline.Options) (*pipeline.Result, *dataset.Stats, error)

// collect trains and collects the results to publish.
func (p *Plan) collect(
	train training,
	path string,
	e *entry.Entry,
) (*Fit, error) {
	res, stats, err := train(pipeline.Options{Progress: p.progress()})
	if err != nil {
		return nil, err
	}
	files := report.Collect(
		report.New(res),
		res.Model,
		res.Curator,
		stats,
		p.recipe,
		path,
	)
	e.Enter(files.Report)
	if p.run.Progress != nil {
		p.run.Progress(1, "done")
	}
	return newFit(res, &files, e), nil
}

// readStage is the stage before those of the pipeline.
const readStage = "read"

// progress returns the function to call at the start of each stage. The number of stages is known from the
// plan.
func (p *Plan) progress() func(stage string) {
	planned := float64(1 + len(p.plan.Stages()))
	begun := 0
	return func(stage string) {
		if p.run.Progress != nil {
			p.run.Progress(float64(begun)/planned, stage)
		}
		begun++
	}
}

// Predictor returns a predictor for single records, or [ErrAbstained] or a [*StoppedError].
func (f *Fit) Predictor() (*regression.Predictor, error) {
	if f.stopped != nil {
		return nil, newStoppedError(*f.stopped)
	}
	if f.Model == nil {
		return nil, fmt.Errorf("%s: %w", f.Method, ErrAbstained)
	}
	return regression.Compile(f.Model)
}

// Report returns the report of the run, as Save writes it. All of it is public.
func (f *Fit) Report() *Report {
	return &Report{f.files.Report}
}

// Save writes the folders release/, which may be published, and curator/, which may not, into dir: both or
// neither. Existing results are not replaced ([ErrExists]). If the ledger could not record the end of the run,
// the run is kept in dir/pending; `dptrain ledger commit` records and publishes it.
func (f *Fit) Save(dir string) error {
	folder, err := report.Prepare(dir, false)
	if err != nil {
		return goError(err)
	}
	defer folder.Close()
	ctx := context.Background()
	if err := folder.Stage(ctx, *f.files); err != nil {
		return goError(err)
	}
	return goError(f.entry.Spent(f.entry.Publish(ctx, folder, dir)))
}
