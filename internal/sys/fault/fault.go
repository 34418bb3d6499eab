// Package fault gives errors a kind, a field, a message and a hint.
//
// The kind classifies an error by who can fix it. The command maps kinds to exit codes with one table and inspects no
// other property of an error. An error of another type has a kind if it has the method FaultKind or wraps a sentinel
// of [New]; any other error is internal, a bug in the program.
//
// Messages serve both the person at the terminal and callers in Go: they start with the problem, never with a package
// name.
package fault

import "errors"

// A Kind classifies an error by its subject.
type Kind uint8

// The kinds of errors; [KindOf] returns the kind of an error.
const (
	// Internal is a bug in the program, which its user cannot fix.
	Internal Kind = iota
	// Usage is a wrong argument, or an output that exists or cannot be written.
	Usage
	// Recipe is a description of a run that cannot be executed.
	Recipe
	// Data is a table, a model or a report that cannot be read.
	Data
	// Budget is a budget that no price of the run fits.
	Budget
	// Ledger is a ledger that refuses the run.
	Ledger
	// Abstained is a mechanism that abstained, within its guarantee.
	Abstained
	// Broken is an inconsistent release.
	Broken
)

// A kinder is an error that has a kind.
type kinder interface {
	error
	FaultKind() Kind
}

// An Error is an error with a kind, an optional field and an optional hint.
type Error struct {
	Kind    Kind
	Field   string // what of the description it is about, such as "search.runs"; may be empty
	Message string // the problem; if empty, the message of Err
	Hint    string // the remedy; may be empty
	Err     error  // the wrapped error; may be nil
}

// Error returns "message; hint", leaving out empty parts.
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
func (e *Error) Unwrap() error {
	return e.Err
}

// FaultKind returns the kind.
func (e *Error) FaultKind() Kind {
	return e.Kind
}

// New returns a sentinel error of kind k, for use with errors.Is.
func New(k Kind, message string) error {
	return &Error{Kind: k, Message: message}
}

// WithKind wraps err so that its outermost kind is k. It returns nil for a nil err.
func WithKind(k Kind, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: k, Err: err}
}

// KindOf returns the outermost kind in the tree of err, or Internal if no error in it has a kind.
func KindOf(err error) Kind {
	var e kinder
	if errors.As(err, &e) {
		return e.FaultKind()
	}
	return Internal
}
