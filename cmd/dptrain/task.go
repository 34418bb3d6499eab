package main

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// A task is a run that a job asks for: a training or a study. [app.carryOut] calls its methods in their order.
type task interface {
	// prepare reads the header of the table, if there is one, and prices the run. It reads no row.
	prepare(ctx context.Context) error
	// start refuses a table that cannot be held. The returned function releases resources.
	start(ctx context.Context) (end func(), err error)
	// ledgerRun returns the run as its ledger sees it.
	ledgerRun() entry.Run
	// run reads the rows and returns the files to publish.
	run(ctx context.Context) (report.Files, error)
	// stage shows the start of a stage, and done the end of the last one.
	stage(name string)
	done()
	// print prints what is published for a person. out is the output folder.
	print(files report.Files, out string) error
	// verdict returns the error of a run that was carried out and has no result.
	verdict(out string) error
}

// carryOut carries out the task of a job: the output folder first, then the price, then the ledger, then the rows.
func (a *app) carryOut(ctx context.Context, j *job, t task, how fitHow) error {
	if err := j.needsTable(); err != nil {
		return err
	}
	if how.quiet {
		j.notes = nil
	}
	out := j.recipe.Output.Dir
	folder, err := report.Prepare(out, how.force)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := t.prepare(ctx); err != nil {
		return err
	}
	if err := a.checkReplaced(ctx, j, how.force); err != nil {
		return err
	}
	end, err := t.start(ctx)
	if err != nil {
		return err
	}
	defer end()
	e, err := a.reserve(ctx, j, t.ledgerRun())
	if err != nil {
		return err
	}
	files, err := a.publish(ctx, t, e, folder, out)
	if err != nil {
		return e.Spent(err)
	}
	switch {
	case how.json:
		err = a.printReleased(out, files.Report.FileName())
		return errors.Join(err, t.verdict(out))
	case how.quiet:
		return t.verdict(out)
	}
	if err := t.print(files, out); err != nil {
		return usagef(
			"the results are in %s, but their summary could not be printed: %w",
			out,
			err,
		)
	}
	return t.verdict(out)
}

// publish runs a task, commits it and writes its results.
func (a *app) publish(
	ctx context.Context,
	t task,
	e *entry.Entry,
	folder *report.Folder,
	out string,
) (report.Files, error) {
	defer t.done()
	files, err := t.run(ctx)
	if err != nil {
		return files, err
	}
	if files.Report.HasStopped() {
		e.Stop()
	}
	e.Enter(files.Report)
	t.stage("write")
	if err := folder.Stage(ctx, files); err != nil {
		return files, err
	}
	return files, e.Publish(ctx, folder, out)
}

// published returns the recipe of the release.
func (j *job) published() ([]byte, error) {
	published := *j.recipe
	published.Data.Header = j.header
	return published.Public()
}

// A study is a task that trains no model: it asks for causal directions, or describes columns.
type study struct {
	app  *app
	job  *job
	kind studyKind
	*pricedStudy
}

// A studyKind has the differences between the two kinds of studies.
type studyKind struct {
	price  func(j *job, header []string) (*pricedStudy, error)
	recipe bool   // it comes from a recipe, which is published
	name   string // stage in which the rows are read
	print  func(a *app, files report.Files, out string) error
}

// A pricedStudy is a study of the columns of a table, with its price.
type pricedStudy struct {
	entry.Run
	schema   dataset.Schema
	rehearse func(ctx context.Context) error
	release  func(ctx context.Context, t *dataset.Table) (*report.Report, pipeline.Curator, error)
	describe func(b *bill) // adds what the bill of this kind of study has
}

// An askedStudy is a study S before it has a price.
type askedStudy[S, P any] interface {
	WithEpsilon(epsilon float64) S
	Plan() (P, error)
	Target() string
}

// A studyPlan carries out a study once, with a result R.
type studyPlan[R any] interface {
	Method() string
	Price() *budget.Priced
	Rehearse(ctx context.Context) error
	Run(ctx context.Context, t *dataset.Table) (R, error)
}

// priceStudy prices a study of the columns of a schema within a budget. account returns the report of a result and the
// exact facts for the data owner.
func priceStudy[S askedStudy[S, P], P studyPlan[R], R any](
	s S,
	schema dataset.Schema,
	target budget.Target,
	account func(R) (*report.Report, pipeline.Curator),
) (*pricedStudy, P, error) {
	planned, err := s.Plan()
	if err != nil {
		return nil, planned, ofRecipe(err)
	}
	return &pricedStudy{
		Run: entry.Run{
			Priced: planned.Price(),
			Budget: target,
			Method: planned.Method(),
			Target: s.Target(),
			Price: func(epsilon float64) (*budget.Priced, error) {
				other, err := s.WithEpsilon(epsilon).Plan()
				if err != nil {
					return nil, err
				}
				return other.Price(), nil
			},
		},
		schema:   schema,
		rehearse: planned.Rehearse,
		release: func(
			ctx context.Context, t *dataset.Table,
		) (*report.Report, pipeline.Curator, error) {
			res, err := planned.Run(ctx, t)
			if err != nil {
				return nil, pipeline.Curator{}, err
			}
			r, curator := account(res)
			return r, curator, nil
		},
	}, planned, nil
}

// prepare prices the study, and rehearses it without a row.
func (s *study) prepare(ctx context.Context) error {
	header, err := s.job.columns(ctx)
	if err != nil {
		return err
	}
	s.job.header = header
	s.pricedStudy, err = s.kind.price(s.job, header)
	if err == nil {
		err = s.job.checkColumns(ctx, s.schema)
	}
	if err == nil {
		err = s.rehearse(ctx)
	}
	return ofRecipe(err)
}

// ofRecipe makes an error without a kind one of the recipe.
func ofRecipe(err error) error {
	if err != nil && fault.KindOf(err) == fault.Internal {
		return fault.WithKind(fault.Recipe, err)
	}
	return err
}

func (s *study) start(context.Context) (end func(), err error) {
	return func() {}, engine.Holdable(s.job.table, len(s.job.header), s.schema, 1)
}

func (s *study) ledgerRun() entry.Run {
	return s.Run
}

func (s *study) run(ctx context.Context) (report.Files, error) {
	none := report.Files{}
	ended := begin(s.stage, "read")
	table, stats, err := s.job.read(ctx, s.schema)
	if err != nil {
		return none, err
	}
	reading := ended()
	ended = begin(s.stage, s.kind.name)
	r, curator, err := s.release(ctx, table)
	if err != nil {
		return none, err
	}
	curator.Seconds = map[string]float64{
		"read":      reading,
		s.kind.name: ended(),
	}
	var public []byte
	if s.kind.recipe {
		if public, err = s.job.published(); err != nil {
			return none, err
		}
	}
	return report.Collect(r, nil, curator, stats, public, s.job.tableName()), nil
}

func (s *study) stage(name string) {
	s.app.stage(name)
}

func (s *study) done() {}

func (s *study) print(files report.Files, out string) error {
	if err := report.Text(s.app.stdout, files.Report); err != nil {
		return err
	}
	return s.kind.print(s.app, files, out)
}

func (s *study) verdict(string) error {
	return nil
}

// newBill returns the price of the study.
func (s *study) newBill() *bill {
	b := pricedBill(s.Priced)
	b.Target, b.Method, b.Features = s.Target, s.Method, s.schema.Names()
	s.describe(b)
	return b
}

// printBill prints the price of a run, and returns the error of one that its ledger would refuse. equal is the number
// of equal runs whose epsilon is asked for, or nil.
func (a *app) printBill(
	ctx context.Context,
	j *job,
	r entry.Run,
	b *bill,
	equal *int,
	asJSON bool,
) error {
	refused, err := a.entryOf(ctx, j, r, b)
	if err == nil && equal != nil {
		refused = nil // the question is which epsilon is not
		err = a.equalRuns(ctx, j, r, *equal, b)
	}
	if err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(a.stdout, b)
	} else {
		err = errors.Join(b.text(a.stdout), a.withoutLedger(j))
	}
	return errors.Join(err, refused)
}
