package dptrain

import "github.com/dptrain/dptrain/internal/ledger"

// A Ledger records the spending of all runs on a data set and enforces its total, in one file. Its method
// Register enters a data set with its total, and creates the file if necessary:
//
//	book := dptrain.OpenLedger("dptrain.ledger", dptrain.LedgerOptions{})
//	_, err := book.Register(ctx, "houses", budget.Total{Epsilon: 3, Delta: 1e-6, BlackBox: 5e-7})
//	run := dptrain.Run{Target: "price", Epsilon: 1, Ledger: book, Dataset: "houses"}
//
// Account returns the spent and remaining budget, Spend enters spending from elsewhere, Verify checks the chain
// of entries.
type Ledger = ledger.Ledger

// LedgerOptions control how long to wait for a ledger that another process holds.
type LedgerOptions = ledger.Options

// OpenLedger returns the ledger in the file at path, which need not exist yet. Every method opens the file and
// closes it again.
func OpenLedger(path string, o LedgerOptions) *Ledger {
	return ledger.At(path, o)
}

// A SpentError rejects a run that would exceed the total of its data set. Its text gives the epsilon that would
// fit.
type SpentError = ledger.SpentError

// Errors of a ledger, for errors.Is.
var (
	ErrSpent        = ledger.ErrSpent      // the total would be exceeded: a [*SpentError]
	ErrBusy         = ledger.ErrBusy       // another process held the ledger for too long
	ErrUnregistered = ledger.ErrUnknown    // the ledger has no data set of this name
	ErrRegistered   = ledger.ErrExists     // the ledger has a data set of this name already
	ErrNoLedger     = ledger.ErrUnreadable // the ledger does not exist or cannot be opened
	ErrDamaged      = ledger.ErrDamaged    // an entry was edited, removed or forged
)
