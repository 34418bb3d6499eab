// Package entry records a run in a ledger: it reserves the price before a row is read, names the reservation in the
// report, and commits the run before anything is published.
package entry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// A Request asks for the reservation of a run. All of it is public.
type Request struct {
	Ledger  *ledger.Ledger
	Dataset string         // the name under which runs are added up
	Note    string         // a label; may be empty
	Table   string         // path of the table
	Format  dataset.Format // how the table is written
	Header  []string
	Run     Run
}

// A Run is the part of a run that a ledger needs.
type Run struct {
	Priced *budget.Priced
	Budget budget.Target // for which Priced was calibrated
	Method string
	Target string   // the predicted column, or the columns of a study
	Public []string // columns that are read and not protected
	// Price prices the run at another epsilon. It fails if there is no plan for that epsilon.
	Price func(epsilon float64) (*budget.Priced, error)
}

// RunOf returns the run of a pipeline and its plan; plan may be nil for a run that is not carried out.
func RunOf(p *pipeline.Pipeline, plan *pipeline.Plan) Run {
	r := Run{
		Budget: p.Budget,
		Target: p.Target,
		Public: p.PublicColumns(),
		Price: func(epsilon float64) (*budget.Priced, error) {
			q := *p
			q.Budget.Epsilon = epsilon
			plan, err := q.Plan()
			if err != nil {
				return nil, err
			}
			return plan.Priced, nil
		},
	}
	if plan != nil {
		r.Priced, r.Method = plan.Priced, plan.Method()
	}
	return r
}

// An Entry is the reservation of a run. A nil Entry is that of a run without a ledger; its methods do nothing.
type Entry struct {
	reservation *ledger.Reservation
	request     Request
	absent      []string // protected columns that the table does not have
	stopped     bool     // the run stopped after the first step of its plan
	committed   bool
	release     string // the release with which the run was committed
}

// Reserve reserves the price of a run, or refuses the run; no row may be read before. Errors are those of package
// ledger, with a hint; see [Hint].
func Reserve(ctx context.Context, r Request) (*Entry, error) {
	absent, err := absentColumns(ctx, r)
	if err != nil {
		return nil, err
	}
	reserved, err := r.Ledger.Reserve(ctx, ledger.Request{
		Dataset:      r.Dataset,
		Plan:         r.Run.Priced,
		Table:        RealPath(r.Table),
		Method:       r.Run.Method,
		Target:       r.Run.Target,
		CuratorNotes: true,
		Public:       r.Run.Public,
		Records:      Records(r.Table, r.Format),
		Note:         r.Note,
	})
	if err != nil {
		return nil, Hint(ctx, err, r.Ledger.Path(), r.Run)
	}
	return &Entry{
		reservation: reserved,
		request:     r,
		absent:      absent,
	}, nil
}

// Records returns the rule by which a run splits its table into records. From standard input, the rows of any format are the
// lines of the CSV file with the same cells: Python sends large tables in another format than small ones, and their size is
// private.
func Records(table string, format dataset.Format) ledger.Records {
	_, piped := tablefile.Stdin(table)
	switch kind, _, _ := tablefile.ParsePath(table); {
	case table == "", kind.Offsets() && !piped:
		return ledger.RecordsUnstated
	case !format.Lines():
		return ledger.RecordsQuoted
	}
	return ledger.RecordsLines
}

// RealPath returns the absolute path of a file, with symbolic links resolved where that is
// possible. It returns "" for a table on standard input or without a file.
func RealPath(path string) string {
	if _, piped := tablefile.Stdin(path); path == "" || piped {
		return ""
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// Enter writes the reservation into the report of its run.
func (e *Entry) Enter(r *report.Report) {
	if e == nil {
		return
	}
	name := e.request.Dataset
	head := e.reservation.Head
	r.Enter(report.Ledger{
		Dataset: name,
		Entry:   head.Sequence,
		Head:    head.Hash,
		Nonce:   e.reservation.Nonce,
	})
	if len(e.absent) > 0 {
		text := AbsentText(name, e.absent)
		r.Warn(pipeline.Warning{
			Code:     stage.CodeProtectedAbsent,
			Severity: pipeline.Theoretical,
			Text:     text,
		})
	}
	if others := e.reservation.Others; len(others) > 0 {
		text := othersText(name, others)
		r.Warn(pipeline.Warning{
			Code:     stage.CodeSeveralNames,
			Severity: pipeline.Critical,
			Text:     text,
		})
	}
}

// ErrChanged is returned for results that were changed after their run was committed.
var ErrChanged = errors.New(
	"the results were changed after the run was committed to the ledger")

// Stop records that the run stopped after the first step of its plan: Commit then gives back the unspent budget.
func (e *Entry) Stop() {
	if e != nil {
		e.stopped = true
	}
}

// Commit records that the run has ended with a release, given by its checksum. It must be called before anything is
// published. It may be called again after an error, and does nothing once it has succeeded, unless the release is a
// different one: [ErrChanged].
func (e *Entry) Commit(ctx context.Context, release string) error {
	switch {
	case e == nil:
		return nil
	case e.committed && release != e.release:
		return ErrChanged
	case e.committed:
		return nil
	}
	end := e.reservation.Commit
	if e.stopped {
		end = e.reservation.Stop
	}
	err := end(ctx, release)
	if errors.Is(err, ledger.ErrCommitted) { // by an earlier call that was interrupted
		err = nil
	}
	if err == nil {
		e.committed = true
		e.release = release
	}
	return err
}

// Publish commits the run, unless this was done before, and puts the staged results of folder in place. The results
// of a run that cannot be committed are kept next to their place, with a [*KeptError]. out is the folder as the
// caller named it.
func (e *Entry) Publish(
	ctx context.Context,
	folder *report.Folder,
	out string,
) error {
	err := e.Commit(ctx, folder.Checksum())
	switch {
	case errors.Is(err, ErrChanged):
		return err
	case err != nil:
		return e.keepResults(err, folder, out)
	}
	return folder.Place(ctx)
}

// keepResults keeps the results of a run that could not be committed.
func (e *Entry) keepResults(err error, folder *report.Folder, out string) error {
	path := e.request.Ledger.Path()
	if absolute, failed := filepath.Abs(path); failed == nil {
		path = absolute
	}
	head := e.reservation.Head
	kept, failed := folder.Keep(report.Kept{
		Path:  path,
		Entry: head.Sequence,
		Head:  head.Hash,
	})
	if failed != nil {
		return err
	}
	return &KeptError{err, kept, out}
}

// Spent returns the error of a run that ended after its price was reserved: a [*SpentError] that wraps err, or err
// itself if there is no error or no entry.
func (e *Entry) Spent(err error) error {
	if e == nil || err == nil {
		return err
	}
	return &SpentError{err, e.request.Ledger.Path()}
}

// SpentError is the error of a run that ended after its price was reserved.
type SpentError struct {
	error
	ledger string
}

// Error returns the error and the fact that the price stays spent.
func (e *SpentError) Error() string {
	return e.error.Error() + e.Consequence()
}

// Unwrap returns the underlying error.
func (e *SpentError) Unwrap() error {
	return e.error
}

// Consequence states that the price stays spent, and where kept results are. It starts with a semicolon.
func (e *SpentError) Consequence() string {
	var kept *KeptError
	if errors.As(e.error, &kept) {
		return "; the price of this run remains spent in " + e.ledger +
			", and its results are kept in " + kept.folder +
			": record and publish them with `dptrain ledger commit " + kept.out + "`"
	}
	return "; the price of this run remains spent in " + e.ledger
}

// KeptError is the error of a run that could not be committed, and whose results are kept ([report.Folder.Keep]).
type KeptError struct {
	error
	folder string
	out    string
}

// Unwrap returns the reason why the run could not be committed.
func (e *KeptError) Unwrap() error {
	return e.error
}

// othersText is the warning about a table that has runs under other names.
func othersText(dataset string, others []string) string {
	return fmt.Sprintf("The ledger also has runs on this table under other names: %s. "+
		"Each name has its own total, so the guarantee for the records is the sum of all of them, not that of %q.",
		quoted(others), dataset)
}

// quoted lists names in quotes.
func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(list, ", ")
}
