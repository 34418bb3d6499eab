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

// DefaultWait is how long a locked ledger is waited for, unless the options say otherwise.
const DefaultWait = 30 * time.Second

// Options say how a ledger is opened.
type Options struct {
	// Wait is how long to wait while another process has the file; 0 means
	// DefaultWait, and anything below 0 not at all.
	Wait time.Duration
	// Waiting, if set, is called once before a wait begins.
	Waiting func()
}

// A Ledger is a file by its name. It holds nothing open: every call opens the
// file, takes its lock, checks everything and closes it again. It may be used
// concurrently, by goroutines and by processes.
type Ledger struct {
	path    string
	options Options

	step func(name string) error // tests: called between the steps of writing
}

// At returns the ledger in the file at path, which need not exist yet.
func At(path string, o Options) *Ledger {
	switch {
	case o.Wait == 0:
		o.Wait = DefaultWait
	case o.Wait < 0:
		o.Wait = 0
	}
	return &Ledger{path: path, options: o}
}

// Path returns the path that the ledger was named by.
func (l *Ledger) Path() string { return l.path }

// at marks a step for the tests.
func (l *Ledger) at(step string) error {
	if l.step == nil {
		return nil
	}
	return l.step(step)
}

// named says which file an error is about.
func (l *Ledger) named(err error) error { return InFile(l.path, err) }

// Register enters a data set and its total, once: both stay as they are. The file
// is made if it does not exist. private lists the columns that the total
// protects: at least one under budget.SubstitutePrivateColumns, none under the
// other relations, which protect all. The error wraps ErrExists if the name is
// taken, ErrInvalid for a name or a list that is not allowed, budget.ErrTarget if
// the total is out of range.
func (l *Ledger) Register(ctx context.Context, name string, total budget.Total, private ...string) (Head, error) {
	if err := checkName(name); err != nil {
		return Head{}, err
	}
	private = valid(private)
	if err := checkPrivate(total.Relation, private); err != nil {
		return Head{}, err
	}
	limit, err := total.Limit()
	if err != nil {
		return Head{}, err
	}
	d := &Dataset{
		Name: name, Relation: total.Relation.String(), Private: private, Unit: total.Unit, Epsilon: total.Epsilon, Delta: total.Delta,
		BlackBox: total.BlackBox, Currency: total.Currency.String(), Limit: limit,
	}
	l.sweep()
	if _, err := os.Lstat(l.path); errors.Is(err, fs.ErrNotExist) {
		head, err := l.found(d)
		if !errors.Is(err, fs.ErrExist) {
			return head, l.named(err)
		}
	}
	return l.append(ctx, waysFor(0, "", ""), l.options.Wait, func(b *Book) (*Entry, error) {
		if _, err := b.Account(name); err == nil {
			return nil, fmt.Errorf("%w: %q; a total is fixed once, so give other data another name", ErrExists, name)
		}
		if like := b.alike(name); like != "" {
			return nil, fmt.Errorf("%w: %+q looks like %+q; use that name, or one that can be told apart", ErrExists, name, like)
		}
		return &Entry{Kind: KindRegister, Date: now(), Dataset: d}, nil
	})
}

// found makes the file with its first data set.
func (l *Ledger) found(d *Dataset) (Head, error) {
	first := &Entry{Sequence: 1, Kind: KindOpen, Date: now(), Format: Format}
	data, err := first.Encode()
	if err != nil {
		return Head{}, err
	}
	second := &Entry{Sequence: 2, Previous: hashOf(data), Kind: KindRegister, Date: first.Date, Dataset: d}
	return l.create([]*Entry{first, second})
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// append opens the ledger, asks for the next entry and puts it on disk. w are the
// ways to what next looks up.
func (l *Ledger) append(ctx context.Context, w ways, wait time.Duration, next func(*Book) (*Entry, error)) (Head, error) {
	head, err := l.appendEntry(ctx, w, wait, next)
	if is := (*SpentError)(nil); errors.As(err, &is) {
		return Head{}, err
	}
	return head, l.named(err)
}

func (l *Ledger) appendEntry(ctx context.Context, w ways, wait time.Duration, next func(*Book) (*Entry, error)) (head Head, err error) {
	s, err := l.open(ctx, true, w, wait)
	if err != nil {
		return Head{}, err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	tx, err := s.db.Begin(true)
	if err != nil {
		return Head{}, unwritable(err)
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or there is an error already
	book, err := s.book(tx)
	if err != nil {
		return Head{}, err
	}
	e, err := next(book)
	if err != nil {
		return Head{}, err
	}
	list := []*Entry{e}
	if e.later(book.format) {
		list = []*Entry{{Kind: KindUpgrade, Date: now(), Format: Format}, e}
	}
	for _, e := range list {
		if err := l.follow(tx, book, e); err != nil {
			return Head{}, err
		}
	}
	if err := l.finish(s, tx, book); err != nil {
		return Head{}, err
	}
	return book.Head(), nil
}

// follow links an entry to the book and puts it into the store.
func (l *Ledger) follow(tx *bolt.Tx, book *Book, e *Entry) error {
	top := book.Head()
	e.Sequence, e.Previous = top.Sequence+1, top.Hash
	data, err := e.Encode()
	if err != nil {
		return err
	}
	again, err := decodeEntry(data) // it must be readable tomorrow
	if err == nil {
		err = book.add(again)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	book.put(Head{e.Sequence, hashOf(data)})
	if err := put(tx, e.Sequence, data); err != nil {
		return unwritable(err)
	}
	if book.sums == nil { // everything is made anew
		return nil
	}
	if err := record(tx, again); err != nil {
		return unwritable(err)
	}
	return nil
}

// finish writes the sums and puts everything on disk, and makes sure that the file
// still is the ledger: an entry in a file that was removed or replaced meanwhile would
// be lost.
func (l *Ledger) finish(s *store, tx *bolt.Tx, book *Book) error {
	keep := recordSums
	if book.sums == nil {
		keep = renew
	}
	if err := keep(tx, book); err != nil {
		return unwritable(err)
	}
	if err := l.at("put"); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return unwritable(err)
	}
	if err := l.at("synced"); err != nil {
		return err
	}
	if info, err := os.Lstat(l.path); err != nil || !os.SameFile(info, s.info) {
		return fmt.Errorf("%w: the file was removed or replaced meanwhile", ErrUnwritable)
	}
	return nil
}

// Request is a run that asks to be admitted.
type Request struct {
	Dataset      string
	Plan         *budget.Priced
	Table        string // path of the table; may be empty
	Method       string
	Target       string // the column that is predicted
	CuratorNotes bool   // the run writes exact facts for the data's owner
	Note         string // a label of the caller; may be empty
	// Public lists the columns that the run reads and does not protect, the target
	// among them, under budget.SubstitutePrivateColumns.
	Public []string
	// Records says what one record of the table is, where that is a choice.
	Records Records
}

// A Reservation is a run that was admitted. It is spent, whether it is committed
// or not.
type Reservation struct {
	Head   Head          // covers this reservation and everything before it; print it in the report
	Nonce  string        // of this reservation alone, in hex; the report has it too
	Charge budget.Charge // price of the run
	// Others lists the other data sets of the ledger that this table was used for: what
	// was spent there is not in the total that this run counts against.
	Others []string
	ledger *Ledger
}

// Reserve admits a run and enters it, or refuses it with a [*SpentError] when it
// would cross the total. No row may be read before it returns, and nothing may be
// released if it returns an error.
func (l *Ledger) Reserve(ctx context.Context, r Request) (*Reservation, error) {
	l.sweep()
	out := &Reservation{ledger: l}
	t := r.Plan.Target()
	table := strings.ToValidUTF8(r.Table, "\uFFFD")
	if err := checkNote(r.Note); err != nil {
		return nil, l.named(err)
	}
	if table != "" && sameFile(table, l.path) {
		return nil, l.named(errIsTable)
	}
	file := fileID(table)
	nonce, err := secret.Nonce()
	if err != nil {
		return nil, l.named(fmt.Errorf("%w: the system has no random bits for it: %v", ErrUnwritable, err))
	}
	head, err := l.append(ctx, waysFor(0, table, file), l.options.Wait, func(b *Book) (*Entry, error) {
		a, err := b.Account(r.Dataset)
		if err != nil {
			return nil, err
		}
		var mu float64
		if out.Charge, mu, err = a.price(r.Plan); err != nil {
			return nil, err
		}
		public := valid(r.Public)
		if err := a.CheckPublic(public); err != nil {
			return nil, err
		}
		if err := a.CheckRecords(r.Records); err != nil {
			return nil, err
		}
		if err := a.Refuse(out.Charge); err != nil {
			return nil, err
		}
		out.Others = b.othersOf(table, file, a.Name)
		run := &Run{
			Dataset: r.Dataset, Table: table, Method: r.Method, Target: strings.ToValidUTF8(r.Target, "\uFFFD"),
			Epsilon: t.Epsilon, Delta: t.Delta, Relation: t.Relation.String(), Public: public, Unit: t.Unit.Column, MaxRows: t.Unit.MaxRows,
			Records: r.Records, CuratorNotes: r.CuratorNotes, Charge: out.Charge, Plan: stepOf(r.Plan.Tree()),
			Note: r.Note, Mu: mu, Nonce: nonce, File: file,
		}
		return &Entry{Kind: KindReserve, Date: now(), Run: run}, nil
	})
	if err != nil {
		return nil, err
	}
	out.Head, out.Nonce = head, nonce
	return out, nil
}

// Commit enters that the run has ended with a release, once: call it before its results are put
// in place. release is the checksum of the release, the SHA-256 in hex that its report holds: a function
// of what was released. Commit waits for a ledger that another process has until the context ends,
// because the run is paid for. The second time the error wraps ErrCommitted, or ErrReleases
// if it was entered with another release.
func (r *Reservation) Commit(ctx context.Context, release string) error {
	return r.ledger.Commit(ctx, r.Head, release)
}

// Stop is [Reservation.Commit] for a run that stopped after the lead of its plan, because of what the lead released: it
// enters that the run cost the price of the lead, and what else was reserved may be spent again. A run without a lead
// released nothing and costs nothing. (docs/methods/prices.md, "A run that stops")
func (r *Reservation) Stop(ctx context.Context, release string) error {
	return r.ledger.Stop(ctx, r.Head, release)
}

// Commit enters that the run of a reservation has ended; see [Reservation.Commit]. It
// is for a process that comes after the one of the run.
func (l *Ledger) Commit(ctx context.Context, reservation Head, release string) error {
	return l.end(ctx, reservation, release, func(*Account, *RunState) (*budget.Charge, error) { return nil, nil })
}

// Stop enters that the run of a reservation stopped; see [Reservation.Stop].
func (l *Ledger) Stop(ctx context.Context, reservation Head, release string) error {
	return l.end(ctx, reservation, release, func(a *Account, r *RunState) (*budget.Charge, error) {
		charge, err := r.stopPrice(a.Promise.Currency)
		return &charge, err
	})
}

// end appends the commit of a reservation. cost returns what the run cost if that is not what was reserved, and else nil.
func (l *Ledger) end(ctx context.Context, reservation Head, release string, cost func(*Account, *RunState) (*budget.Charge, error)) error {
	_, err := l.append(ctx, waysFor(reservation.Sequence, "", ""), forever, func(b *Book) (*Entry, error) {
		if !b.Contains(reservation) {
			return nil, fmt.Errorf("%w: the reservation of this run, entry %d, is gone: the ledger was put back to an earlier state or replaced", ErrHead, reservation.Sequence)
		}
		account, run, err := b.run(reservation.Sequence)
		switch {
		case err != nil:
			return nil, err
		case run.Committed && run.Release != "" && run.Release != release:
			return nil, fmt.Errorf("%w: entry %d was ended by another release, with the checksum %s", ErrReleases, reservation.Sequence, run.Release)
		case run.Committed:
			return nil, ErrCommitted
		}
		charge, err := cost(account, run)
		if err != nil {
			return nil, err
		}
		return &Entry{Kind: KindCommit, Of: reservation.Sequence, Release: release, Charge: charge}, nil
	})
	return err
}

// forever is a wait that only the context ends.
const forever = -1

// Account returns the account of a data set with its sums, without its runs and notes.
// It costs the same however many entries there are. The error wraps ErrUnknown.
func (l *Ledger) Account(ctx context.Context, name string) (*Account, error) {
	b, err := l.view(ctx, waysFor(0, "", ""), (*store).book)
	if err != nil {
		return nil, l.named(err)
	}
	a, err := b.Account(name)
	if err != nil {
		return nil, l.named(err)
	}
	out := *a
	out.Runs, out.Spends, out.Notes = nil, nil, nil
	return &out, nil
}

// Read returns what the ledger holds. It needs no permission to write.
func (l *Ledger) Read(ctx context.Context) (*Book, error) {
	b, err := l.read(ctx)
	return b, l.named(err)
}

func (l *Ledger) read(ctx context.Context) (*Book, error) {
	return l.view(ctx, nil, func(_ *store, tx *bolt.Tx) (*Book, error) {
		b, err := whole(tx)
		if err == nil {
			err = checkTally(tx, b)
		}
		return b, err
	})
}

// view reads a book from the file.
func (l *Ledger) view(ctx context.Context, w ways, read func(*store, *bolt.Tx) (*Book, error)) (*Book, error) {
	s, err := l.open(ctx, false, w, l.options.Wait)
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

// Verify reads the ledger, prices the plan of every run again, and looks for heads
// that reports printed.
//
// It finds every edit of an entry, every removed and every inserted one, unless
// all hashes after it were made anew; that, and a ledger cut short or put back to
// an earlier state, it finds by a head from outside: the chain up to a head cannot be
// changed without changing the head. The error wraps ErrDamaged or ErrHead.
func (l *Ledger) Verify(ctx context.Context, heads ...Head) (*Book, error) {
	b, err := l.read(ctx)
	if err != nil {
		return nil, l.named(err)
	}
	if err := b.audit(); err != nil {
		return nil, l.named(err)
	}
	for _, h := range heads {
		if err := b.checkHead(h); err != nil {
			return b, l.named(err)
		}
	}
	return b, nil
}
