package dptrain

import (
	"context"
	"errors"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
)

// A Ledger records the spending of all runs on a data set in one file and keeps them within a total. Register enters
// a data set with its total; a [Run] with the fields Ledger and Dataset is then charged before it reads a row.
//
// Every method opens the file, takes its lock and closes it again. A Ledger may be used by several goroutines and
// processes at once. Errors wrap one of the errors [ErrSpent] to [ErrDamaged].
type Ledger struct {
	// Wait is the time to wait for a ledger that another process holds ([ErrBusy]); 0 means 30 seconds, and a
	// negative value means no waiting. It must not be changed while the ledger is in use.
	Wait time.Duration

	path string
}

// OpenLedger returns the ledger in the file at path, which need not exist yet: [Ledger.Register] creates it.
func OpenLedger(path string) *Ledger {
	return &Ledger{path: path}
}

// Path returns the path of the file, as given to [OpenLedger].
func (l *Ledger) Path() string {
	return l.path
}

// Register enters a data set with the total of all its runs, which cannot be changed later. It creates the file if
// necessary. private lists the columns that the total protects: at least one under
// [budget.SubstitutePrivateColumns], and no column under the other relations, which protect all of them. The error wraps
// [ErrRegistered] for a name that is taken, and [budget.ErrTarget] for a total that is out of range.
func (l *Ledger) Register(
	ctx context.Context,
	dataset string,
	total budget.Total,
	private ...string,
) error {
	_, err := l.file().Register(ctx, dataset, total, private...)
	return goError(err)
}

// Account returns the spending of a data set. The error wraps [ErrUnregistered] for a name that is not registered.
func (l *Ledger) Account(
	ctx context.Context,
	dataset string,
) (*Account, error) {
	a, err := l.file().Account(ctx, dataset)
	if err != nil {
		return nil, goError(err)
	}
	return &Account{
		Dataset: a.Name,
		Total:   a.Promise,
		Private: a.Private,
		Spent:   a.Spent(),
		Left:    a.Left(),
	}, nil
}

// Spend charges a data set for a release that another program makes, ideally before it is made. The guarantee of the
// release must be about the relation and the privacy unit of the data set, which the ledger cannot check. The error
// is a [*SpentError] if the total would be exceeded; the data set is then not charged.
func (l *Ledger) Spend(ctx context.Context, dataset string, s Spending) error {
	_, _, err := l.file().Spend(ctx, ledger.Spend{
		Dataset: dataset,
		Rho:     s.Rho,
		Mu:      s.Mu,
		Epsilon: s.Epsilon,
		Delta:   s.Delta,
		Note:    s.Note,
	})
	return goError(err)
}

// Verify reads the whole ledger and recomputes its sums and the price of every run. The error wraps [ErrDamaged] if
// an entry was edited, removed or forged.
func (l *Ledger) Verify(ctx context.Context) error {
	_, err := l.file().Verify(ctx)
	return goError(err)
}

// file returns the ledger as other packages use it, or nil for nil.
func (l *Ledger) file() *ledger.Ledger {
	if l == nil {
		return nil
	}
	return ledger.New(l.path, ledger.Options{Wait: l.Wait})
}

// An Account is the spending of one data set in a [Ledger].
type Account struct {
	Dataset string
	Total   budget.Total
	Private []string // the protected columns under budget.SubstitutePrivateColumns, otherwise nil
	// Spent is the sum of all charges, of runs that did not finish as well, and Left the rest of the total. Both
	// are in the currency of the total; see budget.Charge.Value and budget.Total.EpsilonOf.
	Spent, Left budget.Charge
}

// A Spending is the guarantee of a release of another program. Exactly one of Rho, Mu and Epsilon is above 0.
type Spending struct {
	Rho     float64 // of rho zero-concentrated differential privacy; not if the total has the currency budget.GDP
	Mu      float64 // of mu-Gaussian differential privacy
	Epsilon float64 // of (Epsilon, Delta)-differential privacy
	Delta   float64 // with Epsilon, in [0, 1)
	Note    string  // a label that the ledger keeps; it is not protected
}

// A SpentError rejects a run or a [Spending] that would exceed the total of its data set. It was not charged, and no
// record was read. The message gives the largest epsilon that would fit. It wraps [ErrSpent].
type SpentError struct {
	Dataset string
	Total   budget.Total
	Limit   budget.Charge // the total in its currency
	Spent   budget.Charge // by earlier runs
	Charge  budget.Charge // the price of the rejected run

	err error
}

// Error describes the price of the run and the rest of the total.
func (e *SpentError) Error() string {
	return e.err.Error()
}

// Unwrap makes errors.Is(err, [ErrSpent]) true.
func (e *SpentError) Unwrap() error {
	return e.err
}

// spentError returns err as a [*SpentError] if it is one.
func spentError(err error) (*SpentError, bool) {
	var spent *ledger.SpentError
	if !errors.As(err, &spent) {
		return nil, false
	}
	return &SpentError{
		Dataset: spent.Dataset,
		Total:   spent.Total,
		Limit:   spent.Limit,
		Spent:   spent.Spent,
		Charge:  spent.Charge,
		err:     err,
	}, true
}

// Errors of a [Ledger], for errors.Is.
var (
	ErrSpent        = ledger.ErrSpent      // the total would be exceeded: a [*SpentError]
	ErrBusy         = ledger.ErrBusy       // another process held the ledger for too long
	ErrUnregistered = ledger.ErrUnknown    // the ledger has no data set of this name
	ErrRegistered   = ledger.ErrExists     // the ledger has a data set of this name already
	ErrNoLedger     = ledger.ErrUnreadable // the ledger does not exist or cannot be opened
	ErrDamaged      = ledger.ErrDamaged    // an entry was edited, removed or forged
)
