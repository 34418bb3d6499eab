// Package fault gives errors a kind, a field, a message and a hint.
//
// The kind says who can do something about an error: the command has one table from
// kinds to exit codes, and asks nothing else of an error. Errors of other types have a
// kind where they have the method FaultKind; an error without any is internal, a fault of
// the program.
//
// Messages are for the person at the terminal and for readers of Go code alike: they begin
// with what is wrong, never with the name of a package.
package fault

import "errors"

// A Kind says what an error is about.
type Kind uint8

// The kinds. [KindOf] says which an error has.
const (
	// Internal is a fault of the program: what no person who runs it can mend.
	Internal Kind = iota
	// Usage is a wrong argument, or an output that exists or cannot be written.
	Usage
	// Recipe is a description of a run that cannot be carried out.
	Recipe
	// Data is a table, a model or a report that cannot be read.
	Data
	// Budget is a budget within which the run has no price.
	Budget
	// Ledger is a ledger that refuses the run.
	Ledger
	// Abstained is a mechanism that abstained, within its guarantee.
	Abstained
	// Broken is a release that does not hold together.
	Broken
)

// An Error is what went wrong.
type Error struct {
	Kind    Kind
	Field   string // what of the description it is about, such as "search.runs"; may be empty
	Message string // what is wrong; that of Err if it is empty
	Hint    string // what to do about it; may be empty
	Err     error  // what it wraps; may be nil
}

// Error returns "message; hint", without what is empty.
func (e *Error) Error() string {
	s := e.Message
	if s == "" && e.Err != nil {
		s = e.Err.Error()
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// FaultKind returns the kind.
func (e *Error) FaultKind() Kind { return e.Kind }

// New returns a sentinel of a kind, for errors.Is.
func New(k Kind, message string) error { return &Error{Kind: k, Message: message} }

// As returns err with a kind in front of those it has. It returns nil for nil.
func As(k Kind, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: k, Err: err}
}

// KindOf returns the kind of the first error in the tree of err, outermost first, that has
// one; Internal if none has.
func KindOf(err error) Kind {
	var e interface {
		error
		FaultKind() Kind
	}
	if errors.As(err, &e) {
		return e.FaultKind()
	}
	return Internal
}
