package dptrain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/entry"
	"github.com/dptrain/dptrain/internal/fault"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/pipeline"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/regression"
)

// ErrAbstained is returned by [Fit.Predictor] where the method abstained: there is no model.
var ErrAbstained = fault.New(fault.Abstained, "the method abstained, so there is no model; the budget is spent")

// A Fit is what a run produced. All that it prints and encodes to JSON is public; exact
// facts for the owner of the data are in Curator, which does neither, and in what Save
// writes to curator/. It is not for concurrent use.
type Fit struct {
	pipeline.Result
	files *report.Files // a pointer, so that package fmt prints an address
	entry *entry.Entry  // nil for a run without a ledger
}

// Fit reads the table, trains, and releases the held-out metric. The table has the header
// that was planned for ([pipeline.ErrSchema]). A plan pays for one run: a second
// call is [mechanism.ErrOpened], whatever came of the first.
//
// With a ledger the price is entered before a row is read, or refused with a
// [*ledger.SpentError]. It stays spent if Fit fails after that. Where training succeeded and
// the ledger could not be written at the end, Fit returns the result beside the error: Save
// tries again.
func (p *Plan) Fit(ctx context.Context, t *Table) (*Fit, error) {
	if !slices.Equal(t.Header, p.header) {
		return nil, pipeline.ErrSchema
	}
	if p.used.Swap(true) {
		return nil, mechanism.ErrOpened
	}
	var e *entry.Entry
	if p.run.Ledger != nil {
		var err error
		e, err = entry.Reserve(ctx, entry.Request{
			Ledger: p.run.Ledger, Dataset: p.run.Dataset, Note: p.run.Note,
			Table: t.Path, MultilineQuotes: t.MultilineQuotes, Header: p.header, Pipeline: p.pipeline, Plan: p.Plan,
		})
		if err != nil {
			return nil, err
		}
	}
	f, err := p.train(ctx, t, e)
	if err == nil {
		err = e.Commit(ctx)
	}
	return f, e.Spent(err)
}

// train reads the rows and trains.
func (p *Plan) train(ctx context.Context, t *Table, e *entry.Entry) (*Fit, error) {
	progress := p.progress()
	progress(readStage)
	start := time.Now()
	table, stats, err := dataset.Read(ctx, t.Path, p.pipeline.Schema, dataset.ReadOptions{MultilineQuotes: t.MultilineQuotes})
	if err != nil {
		return nil, err
	}
	seconds := time.Since(start).Seconds()
	res, err := p.pipeline.FitPlan(ctx, p.Plan, table, pipeline.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	res.Curator.Seconds[readStage] = seconds
	files := report.Collect(res, stats, p.recipe, t.Path)
	e.Enter(files.Report)
	res.Warnings = files.Report.Warnings
	if p.run.Progress != nil {
		p.run.Progress(1, "done")
	}
	return &Fit{*res, &files, e}, nil
}

// readStage is the stage before those of the pipeline.
const readStage = "read"

// progress returns the function that is told of every stage as it begins. How many there are
// is known from the plan.
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

// Predictor returns what predicts single records, or [ErrAbstained].
func (f *Fit) Predictor() (*regression.Predictor, error) {
	if f.Model == nil {
		return nil, fmt.Errorf("%s: %w", f.Method, ErrAbstained)
	}
	return regression.Compile(f.Model)
}

// Save writes the folders release/, which may be published, and curator/, which may not,
// into dir, both or neither. Results that are there already are not replaced
// ([report.ErrExists]). A run that its ledger has still not entered as ended is
// kept in dir/pending; `dptrain ledger commit` enters and publishes it.
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
