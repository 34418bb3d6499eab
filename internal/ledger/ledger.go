package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise/secret"
	bolt "go.etcd.io/bbolt"
)

// DefaultWait is the default time to wait for a locked ledger.
const DefaultWait = 30 * time.Second

// Options are settings for opening a ledger.
type Options struct {
	// Wait is the time to wait while another process holds the file. 0 means DefaultWait, and a negative value means
	// no wait.
	Wait time.Duration
	// Waiting, if set, is called once before a wait begins.
	Waiting func()
}

// A Ledger is a ledger file identified by its path. It keeps no file open: every call opens the file, takes its lock,
// checks its content and closes it. It is safe for concurrent use by goroutines and processes.
type Ledger struct {
	path    string
	options Options

	hook func(name string) error // tests: called between the steps of writing
}

// New returns the ledger in the file at path, which need not exist yet.
func New(path string, o Options) *Ledger {
	switch {
	case o.Wait == 0:
		o.Wait = DefaultWait
	case o.Wait < 0:
		o.Wait = 0
	}
	return &Ledger{path: path, options: o}
}

// Path returns the path given to At.
func (l *Ledger) Path() string {
	return l.path
}

// runHook calls the test hook, if set, with the name of a step.
func (l *Ledger) runHook(step string) error {
	if l.hook == nil {
		return nil
	}
	return l.hook(step)
}

// inFile adds the path of the ledger to an error.
func (l *Ledger) inFile(err error) error {
	return InFile(l.path, err)
}

// Register enters a data set and its total, which cannot be changed later. The file is created if it does not exist.
// private lists the columns that the total protects: at least one under budget.SubstitutePrivateColumns, and no column
// under the other relations, which protect all. The error wraps ErrExists if the name is taken, ErrInvalid for a name
// or a list that is not allowed, budget.ErrTarget if the total is out of range.
func (l *Ledger) Register(
	ctx context.Context,
	name string,
	total budget.Total,
	private ...string,
) (Head, error) {
	if err := checkName(name); err != nil {
		return Head{}, err
	}
	private = validNames(private)
	if err := checkPrivate(total.Relation, private); err != nil {
		return Head{}, err
	}
	limit, err := total.Limit()
	if err != nil {
		return Head{}, err
	}
	d := &Dataset{
		Name:     name,
		Relation: total.Relation.String(),
		Private:  private,
		Unit:     total.Unit,
		Epsilon:  total.Epsilon,
		Delta:    total.Delta,
		BlackBox: total.BlackBox,
		Currency: total.Currency.String(),
		Limit:    limit,
	}
	l.removeDrafts()
	if _, err := os.Lstat(l.path); errors.Is(err, fs.ErrNotExist) {
		head, err := l.createWith(d)
		if !errors.Is(err, fs.ErrExist) {
			return head, l.inFile(err)
		}
	}
	return l.appendNext(ctx, pathsFor(0, "", ""), l.options.Wait, func(b *Book) (*Entry, error) {
		if _, err := b.Account(name); err == nil {
			return nil,
				fmt.Errorf("%w: %q; its total cannot be changed, so register different data under another name",
					ErrExists, name)
		}
		if like := b.findLookalike(name); like != "" {
			return nil,
				fmt.Errorf("%w: %+q looks like %+q; use the existing name, or choose one that is easier to tell apart",
					ErrExists, name, like)
		}
		return &Entry{
			Kind:    KindRegister,
			Date:    timestamp(),
			Dataset: d,
		}, nil
	})
}

// createWith creates the file with its first data set.
func (l *Ledger) createWith(d *Dataset) (Head, error) {
	first := &Entry{
		Sequence: 1,
		Kind:     KindOpen,
		Date:     timestamp(),
		Format:   Format,
	}
	data, err := first.Encode()
	if err != nil {
		return Head{}, err
	}
	second := &Entry{
		Sequence: 2,
		Previous: hashOf(data),
		Kind:     KindRegister,
		Date:     first.Date,
		Dataset:  d,
	}
	return l.createFile([]*Entry{first, second})
}

func timestamp() string {
	return time.Now().UTC().Format(time.RFC3339)
}

// appendNext opens the ledger, calls next for the next entry and writes it to disk. paths lists the keys that next
// looks up.
func (l *Ledger) appendNext(
	ctx context.Context,
	paths keyPaths,
	wait time.Duration,
	next func(*Book) (*Entry, error),
) (Head, error) {
	head, err := l.appendEntry(ctx, paths, wait, next)
	if is := (*SpentError)(nil); errors.As(err, &is) {
		return Head{}, err
	}
	return head, l.inFile(err)
}

func (l *Ledger) appendEntry(
	ctx context.Context,
	paths keyPaths,
	wait time.Duration,
	next func(*Book) (*Entry, error),
) (head Head, err error) {
	s, err := l.openStore(ctx, true, paths, wait)
	if err != nil {
		return Head{}, err
	}
	defer func() {
		err = errors.Join(err, s.db.Close())
	}()
	tx, err := s.db.Begin(true)
	if err != nil {
		return Head{}, unwritableError(err)
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or there is an error already
	book, err := s.loadBook(tx)
	if err != nil {
		return Head{}, err
	}
	e, err := next(book)
	if err != nil {
		return Head{}, err
	}
	list := []*Entry{e}
	if e.needsLaterFormat(book.format) {
		list = []*Entry{{
			Kind:   KindUpgrade,
			Date:   timestamp(),
			Format: Format,
		}, e}
	}
	for _, e := range list {
		if err := l.linkEntry(tx, book, e); err != nil {
			return Head{}, err
		}
	}
	if err := l.finishAppend(s, tx, book); err != nil {
		return Head{}, err
	}
	return book.Head(), nil
}

// linkEntry links an entry to the end of the book and writes it to the store.
func (l *Ledger) linkEntry(tx *bolt.Tx, book *Book, e *Entry) error {
	top := book.Head()
	e.Sequence = top.Sequence + 1
	e.Previous = top.Hash
	data, err := e.Encode()
	if err != nil {
		return err
	}
	again, err := decodeEntry(data) // it must be readable in future
	if err == nil {
		err = book.applyEntry(again)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	book.setHead(Head{e.Sequence, hashOf(data)})
	if err := putEntry(tx, e.Sequence, data); err != nil {
		return unwritableError(err)
	}
	if book.sums == nil { // rebuild everything
		return nil
	}
	if err := recordDerived(tx, again); err != nil {
		return unwritableError(err)
	}
	return nil
}

// finishAppend writes the sums, commits the transaction to disk, and checks that the file still is the ledger: an
// entry in a file that was removed or replaced meanwhile would be lost.
func (l *Ledger) finishAppend(s *store, tx *bolt.Tx, book *Book) error {
	writeSums := recordSums
	if book.sums == nil {
		writeSums = rebuildDerived
	}
	if err := writeSums(tx, book); err != nil {
		return unwritableError(err)
	}
	if err := l.runHook("put"); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return unwritableError(err)
	}
	if err := l.runHook("synced"); err != nil {
		return err
	}
	if info, err := os.Lstat(l.path); err != nil || !os.SameFile(info, s.info) {
		return fmt.Errorf("%w: the file was removed or replaced meanwhile", ErrUnwritable)
	}
	return nil
}

// A Request is a run that applies for a reservation.
type Request struct {
	Dataset      string
	Plan         *budget.Priced
	Table        string // path of the table; may be empty
	Method       string
	Target       string // the column that is predicted
	CuratorNotes bool   // the run writes exact facts for the data's owner
	Note         string // a label of the caller; may be empty
	// Public lists the columns that the run reads without protecting them, including the target, under
	// budget.SubstitutePrivateColumns.
	Public []string
	// Records is the record rule, if the file format leaves a choice.
	Records Records
}

// A Reservation is a run that was admitted. It counts as spent, whether or not it is committed.
type Reservation struct {
	Head   Head          // covers this reservation and everything before it; print it in the report
	Nonce  string        // of this reservation alone, in hex; the report has it too
	Charge budget.Charge // price of the run
	// Others lists the other data sets of the ledger that this table was used for. Their spending is not included in
	// the total of this run's data set.
	Others []string
	ledger *Ledger
}

// Reserve admits a run and enters it, or refuses it with a [*SpentError] if it would cross the total. No row may be
// read before it returns, and no result may be released if it returns an error.
func (l *Ledger) Reserve(ctx context.Context, r Request) (*Reservation, error) {
	l.removeDrafts()
	out := &Reservation{ledger: l}
	t := r.Plan.Target()
	table := strings.ToValidUTF8(r.Table, "\uFFFD")
	if err := checkNote(r.Note); err != nil {
		return nil, l.inFile(err)
	}
	if table != "" && sameFile(table, l.path) {
		return nil, l.inFile(errIsTable)
	}
	file := fileID(table)
	nonce, err := secret.Nonce()
	if err != nil {
		return nil,
			l.inFile(fmt.Errorf("%w: the system has no random bits for it: %v", ErrUnwritable, err))
	}
	head, err := l.appendNext(ctx, pathsFor(0, table, file), l.options.Wait,
		func(b *Book) (*Entry, error) {
			a, err := b.Account(r.Dataset)
			if err != nil {
				return nil, err
			}
			var mu float64
			if out.Charge, mu, err = a.pricePlan(r.Plan); err != nil {
				return nil, err
			}
			public := validNames(r.Public)
			if err := a.CheckPublic(public); err != nil {
				return nil, err
			}
			if err := a.CheckRecords(r.Records); err != nil {
				return nil, err
			}
			if err := a.Refuse(out.Charge); err != nil {
				return nil, err
			}
			out.Others = b.otherDatasets(table, file, a.Name)
			run := &Run{
				Dataset: r.Dataset, Table: table, Method: r.Method,
				Target:  strings.ToValidUTF8(r.Target, "\uFFFD"),
				Epsilon: t.Epsilon, Delta: t.Delta, Relation: t.Relation.String(), Public: public,
				Unit: t.Unit.Column, MaxRows: t.Unit.MaxRows,
				Records: r.Records, CuratorNotes: r.CuratorNotes, Charge: out.Charge,
				Plan: stepOf(r.Plan.Tree()),
				Note: r.Note, Mu: mu, Nonce: nonce, File: file,
			}
			return &Entry{
				Kind: KindReserve,
				Date: timestamp(),
				Run:  run,
			}, nil
		})
	if err != nil {
		return nil, err
	}
	out.Head = head
	out.Nonce = nonce
	return out, nil
}

// Commit enters that the run has ended with a release. Call it once, before the results are put in place. release is
// the checksum of the release, the SHA-256 in hex of its report: a function of the released data only. Commit waits
// for a ledger held by another process until the context ends, because the run is paid for. A second call returns an
// error that wraps ErrCommitted, or ErrReleases if the run was committed with another release.
func (r *Reservation) Commit(ctx context.Context, release string) error {
	return r.ledger.Commit(ctx, r.Head, release)
}

// Stop is [Reservation.Commit] for a run that stopped after the lead of its plan, because of the lead's output. It
// charges the price of the lead and returns the rest of the reservation to the budget. A run without a lead released
// no result and costs 0. (docs/proofs/prices.md, "A run that stops")
func (r *Reservation) Stop(ctx context.Context, release string) error {
	return r.ledger.Stop(ctx, r.Head, release)
}

// Commit enters that the run of a reservation has ended; see [Reservation.Commit]. It is for a process other than the
// one of the run.
func (l *Ledger) Commit(
	ctx context.Context,
	reservation Head,
	release string,
) error {
	return l.commitReservation(ctx, reservation, release,
		func(*Account, *RunState) (*budget.Charge, error) {
			return nil, nil
		})
}

// Stop enters that the run of a reservation stopped; see [Reservation.Stop].
func (l *Ledger) Stop(
	ctx context.Context,
	reservation Head,
	release string,
) error {
	return l.commitReservation(ctx, reservation, release,
		func(a *Account, r *RunState) (*budget.Charge, error) {
			charge, err := r.stopPrice(a.Promise.Currency)
			return &charge, err
		})
}

// commitReservation appends the commit of a reservation. cost returns the cost of the run if it differs from the
// reservation, and nil otherwise.
func (l *Ledger) commitReservation(
	ctx context.Context,
	reservation Head,
	release string,
	cost func(*Account, *RunState) (*budget.Charge, error),
) error {
	_, err := l.appendNext(ctx, pathsFor(reservation.Sequence, "", ""), forever,
		func(b *Book) (*Entry, error) {
			if !b.Contains(reservation) {
				return nil,
					fmt.Errorf(
						"%w: the reservation of this run, entry %d, is gone: the ledger was replaced or restored to an earlier state",
						ErrHead, reservation.Sequence)
			}
			account, run, err := b.reservedRun(reservation.Sequence)
			switch {
			case err != nil:
				return nil, err
			case run.Committed && run.Release != "" && run.Release != release:
				return nil,
					fmt.Errorf("%w: entry %d was committed by another release, with checksum %s",
						ErrReleases, reservation.Sequence, run.Release)
			case run.Committed:
				return nil, ErrCommitted
			}
			charge, err := cost(account, run)
			if err != nil {
				return nil, err
			}
			return &Entry{
				Kind:    KindCommit,
				Of:      reservation.Sequence,
				Release: release,
				Charge:  charge,
			}, nil
		})
	return err
}

// forever is a wait that only the context ends.
const forever = -1

// Account returns the account of a data set with its sums, without its runs and notes. Its cost does not depend on the
// number of entries. The error wraps ErrUnknown.
func (l *Ledger) Account(ctx context.Context, name string) (*Account, error) {
	b, err := l.viewBook(ctx, pathsFor(0, "", ""), (*store).loadBook)
	if err != nil {
		return nil, l.inFile(err)
	}
	a, err := b.Account(name)
	if err != nil {
		return nil, l.inFile(err)
	}
	out := *a
	out.Runs = nil
	out.Spends = nil
	out.Notes = nil
	return &out, nil
}

// Read returns the checked content of the ledger. It needs no write permission.
func (l *Ledger) Read(ctx context.Context) (*Book, error) {
	b, err := l.readBook(ctx)
	return b, l.inFile(err)
}

func (l *Ledger) readBook(ctx context.Context) (*Book, error) {
	return l.viewBook(ctx, nil, func(_ *store, tx *bolt.Tx) (*Book, error) {
		b, err := readAll(tx)
		if err == nil {
			err = checkTally(tx, b)
		}
		return b, err
	})
}

// viewBook reads a book from the file.
func (l *Ledger) viewBook(
	ctx context.Context,
	paths keyPaths,
	read func(*store, *bolt.Tx) (*Book, error),
) (*Book, error) {
	s, err := l.openStore(ctx, false, paths, l.options.Wait)
	if err != nil {
		return nil, err
	}
	defer s.db.Close()
	var book *Book
	err = s.db.View(func(tx *bolt.Tx) error {
		book, err = read(s, tx)
		return err
	})
	return book, err
}

// Verify reads the ledger, recomputes the price of every run's plan, and checks that the chain contains the heads,
// which reports printed.
//
// It detects every edited, removed and inserted entry, unless all later hashes were recomputed. Such a rewrite, and a
// ledger cut short or rolled back, is detected by a head from outside: the chain up to a head cannot
// change without changing the head. The error wraps ErrDamaged or ErrHead.
func (l *Ledger) Verify(ctx context.Context, heads ...Head) (*Book, error) {
	b, err := l.readBook(ctx)
	if err != nil {
		return nil, l.inFile(err)
	}
	if err := b.auditPrices(); err != nil {
		return nil, l.inFile(err)
	}
	for _, h := range heads {
		if err := b.checkHead(h); err != nil {
			return b, l.inFile(err)
		}
	}
	return b, nil
}
