package dptrain

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	pipeline.Stop
}

// Error describes the problem of the target and the remedy.
func (e *StoppedError) Error() string {
	return e.Advice()
}

// FaultKind returns [fault.Abstained].
func (e *StoppedError) FaultKind() fault.Kind {
	return fault.Abstained
}

// A Fit is the result of a run. Its printed and JSON forms are public. Exact facts for the data owner are only
// in Curator, which is neither printed nor encoded, and in the folder curator/ that Save writes. A Fit must not
// be used concurrently.
type Fit struct {
	pipeline.Result
	files *report.Files // a pointer, so that package fmt prints an address
	entry *entry.Entry  // nil for a run without a ledger
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
		return nil, err
	}
	if p.used.Swap(true) {
		return nil, ErrOpened
	}
	return p.enter(ctx, t,
		func(options pipeline.Options) (*pipeline.Result, *dataset.Stats, error) {
			options.Progress(readStage)
			start := time.Now()
			if store != nil {
				from := stream.Source{Path: t.Path, Options: t.reading(), Folder: p.run.Scratch}
				seconds := 0.
				res, stats, err := entry.FitStored(ctx, store, p.pipeline, p.Plan, from,
					options, func() { seconds = time.Since(start).Seconds() })
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
			res, err := p.pipeline.FitPlan(ctx, p.Plan, table, options)
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
	store, err := entry.StoreOf(name, p.pipeline, p.Plan, t.Path, len(t.Header))
	if err != nil || store != nil {
		return store, err
	}
	return nil, entry.Holdable(t.Path, len(t.Header), p.pipeline.Schema, 1)
}

// FitOn is [Plan.Fit] on the records of an engine, which must have the schema of the plan. A plan with a stage
// that needs all records in one place ([Plan.Gathers]) is rejected before it is paid for, and so is one that
// protects units, unless the engine limits their records.
func (p *Plan) FitOn(ctx context.Context, e Engine) (*Fit, error) {
	if err := p.pipeline.CheckEngine(p.Plan, e); err != nil {
		return nil, err
	}
	if p.used.Swap(true) {
		return nil, ErrOpened
	}
	return p.enter(ctx, &Table{},
		func(options pipeline.Options) (*pipeline.Result, *dataset.Stats, error) {
			options.Progress(readStage)
			res, err := p.pipeline.FitOn(ctx, p.Plan, e, options)
			return res, nil, err
		})
}

// Schema declares the columns that the run reads.
func (p *Plan) Schema() dataset.Schema {
	return p.pipeline.Schema.Clone()
}

// enter enters the run, trains, and enters its end.
func (p *Plan) enter(ctx context.Context, t *Table, train trainer) (*Fit, error) {
	var e *entry.Entry
	if p.run.Ledger != nil {
		var err error
		e, err = entry.Reserve(ctx, entry.Request{
			Ledger: p.run.Ledger, Dataset: p.run.Dataset, Note: p.run.Note,
			Table: t.Path, Format: t.Format, Header: p.header,
			Run: entry.RunOf(p.pipeline, p.Plan),
		})
		if err != nil {
			return nil, err
		}
	}
	f, err := p.collect(train, t.Path, e)
	if err != nil {
		return f, e.Spent(err)
	}
	if f.Stopped != nil {
		e.Stop()
	}
	if e != nil {
		release, err := f.files.Checksum()
		if err == nil {
			err = e.Commit(ctx, release)
		}
		if err != nil {
			return f, e.Spent(err)
		}
	}
	if f.Stopped != nil {
		return f, &StoppedError{*f.Stopped}
	}
	return f, nil
}

// trainer trains on records. It also returns the counts of the reader, if there was one.
type trainer func(pipeline.Options) (*pipeline.Result, *dataset.Stats, error)

// collect trains and collects the results to publish.
func (p *Plan) collect(train trainer, path string, e *entry.Entry) (*Fit, error) {
	res, stats, err := train(pipeline.Options{Progress: p.progress()})
	if err != nil {
		return nil, err
	}
	files := report.Collect(report.New(res), res.Model, res.Curator, stats, p.recipe, path)
	e.Enter(files.Report)
	res.Warnings = files.Report.Warnings
	if p.run.Progress != nil {
		p.run.Progress(1, "done")
	}
	return &Fit{*res, &files, e}, nil
}

// readStage is the stage before those of the pipeline.
const readStage = "read"

// progress returns the function to call at the start of each stage. The number of stages is known from the
// plan.
func (p *Plan) progress() func(stage string) {
	planned := float64(1 + len(p.Stages()))
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
	if f.Stopped != nil {
		return nil, &StoppedError{*f.Stopped}
	}
	if f.Model == nil {
		return nil, fmt.Errorf("%s: %w", f.Method, ErrAbstained)
	}
	return regression.Compile(f.Model)
}

// Report returns the report of the run, as Save writes it. All of it is public.
func (f *Fit) Report() *Report {
	return f.files.Report
}

// Save writes the folders release/, which may be published, and curator/, which may not, into dir: both or
// neither. Existing results are not replaced ([ErrExists]). If the ledger could not record the end of the run,
// the run is kept in dir/pending; `dptrain ledger commit` records and publishes it.
func (f *Fit) Save(dir string) error {
	folder, err := report.Prepare(dir, false)
	if err != nil {
		return err
	}
	defer folder.Close()
	ctx := context.Background()
	if err := folder.Stage(ctx, *f.files); err != nil {
		return err
	}
	return f.entry.Spent(f.entry.Publish(ctx, folder, dir))
}
