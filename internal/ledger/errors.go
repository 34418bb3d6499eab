package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// Sentinels for errors.Is. Every error of this package except context errors wraps a sentinel.
var (
	// ErrSpent: the run would cross the total of its data set ([*SpentError]).
	ErrSpent = fault.New(fault.Budget, "the total would be exceeded")
	// ErrBusy: another process held the ledger for too long.
	ErrBusy = errors.New("in use by another process")
	// ErrUnreadable: the ledger does not exist or cannot be opened.
	ErrUnreadable = errors.New("cannot be read")
	// ErrUnwritable: an entry could not be written to disk. The run must not release any result.
	ErrUnwritable = errors.New("cannot be written")
	// ErrFormat: the file is not a ledger, or not a plain file.
	ErrFormat = errors.New("not a ledger")
	// ErrVersion: the ledger is of a version that this program cannot read.
	ErrVersion = errors.New("unsupported version")
	// ErrDamaged: an entry was edited, removed or made up.
	ErrDamaged = errors.New("damaged")
	// ErrHead: the ledger does not contain a head that a report printed. It was cut short, rolled back, rewritten, or
	// is another ledger.
	ErrHead = errors.New("head not found")
	// ErrReleases: several releases name one entry, which belongs to a single run.
	ErrReleases = errors.New("one entry, several releases")
	// ErrUnknown: the ledger has no data set of this name.
	ErrUnknown = errors.New("unknown data set")
	// ErrExists: the data set is registered already.
	ErrExists = errors.New("the data set is already registered")
	// ErrRelation: the run's relation differs from the data set's.
	ErrRelation = errors.New("different neighbouring relations")
	// ErrPublic: the run uses a column as public that the data set protects.
	ErrPublic = errors.New("a protected column is public in the run")
	// ErrUnit: the run does not protect the data set's privacy unit.
	ErrUnit = errors.New("different privacy units")
	// ErrRecords: the run's record rule differs from earlier runs'.
	ErrRecords = errors.New("different record formats")
	// ErrInvalid: a name or a run that no entry can represent.
	ErrInvalid = errors.New("invalid entry")
	// ErrCommitted: the reservation was committed before.
	ErrCommitted = errors.New("already committed")
)

// errIsTable refuses a ledger that is also named as the table.
var errIsTable = fmt.Errorf(
	"%w: the table is the ledger itself", ErrInvalid)

// FileError is an error about a ledger file.
type FileError struct {
	Path string
	Msg  string
	Err  error // one of the sentinels
}

// Error returns "path: message".
func (e *FileError) Error() string {
	return e.Path + ": " + e.Msg
}

// Unwrap returns the sentinel.
func (e *FileError) Unwrap() error {
	return e.Err
}

// FaultKind returns fault.Budget if the budget does not suffice, and fault.Ledger otherwise.
func (e *FileError) FaultKind() fault.Kind {
	if errors.Is(e.Err, ErrSpent) {
		return fault.Budget
	}
	return fault.Ledger
}

// InFile wraps an error in a [*FileError] with the path of its ledger. err should wrap one of the sentinels; nil and
// context errors are returned unchanged.
func InFile(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &FileError{
		Path: path,
		Msg:  err.Error(),
		Err:  err,
	}
}

// SpentError is the refusal of a run that would cross the total.
type SpentError struct {
	Dataset string
	Total   budget.Total
	Limit   budget.Charge
	Spent   budget.Charge
	Charge  budget.Charge // of the refused run
}

// Error states the cost of the run and the remaining budget.
func (e *SpentError) Error() string {
	left := e.Limit.Left(e.Spent)
	symbol := e.Total.Currency.Symbol()
	cost, delta := e.Charge.Value()
	leftCost, leftDelta := left.Value()
	short := func(x float64) string { // four significant digits
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
		if err != nil { // cannot happen
			rounded = x
		}
		return fault.Readable(rounded)
	}
	if e.Charge.Cost > left.Cost {
		also := ""
		if e.Charge.Delta > left.Delta {
			also = fmt.Sprintf(", and the black boxes of the run cost delta %s, but only %s is left",
				short(delta), short(leftDelta))
		}
		return fmt.Sprintf(
			"the run costs %s %s, but data set %q (total epsilon %v, delta %s) has only %s left%s",
			symbol, short(cost), e.Dataset, e.Total.Epsilon, fault.Readable(e.Total.Delta),
			short(leftCost), also)
	}
	return fmt.Sprintf(
		"the black boxes of the run cost delta %s, but of the delta that data set %q reserves for them (%s) only %s is left (detecting text columns or classes is a black box; to avoid it, list the classes and set undeclared: numbers)",
		short(delta), e.Dataset, fault.Readable(e.Total.BlackBox), short(leftDelta))
}

// Unwrap makes errors.Is(err, ErrSpent) true.
func (e *SpentError) Unwrap() error {
	return ErrSpent
}
