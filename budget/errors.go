package budget

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/fault"
)

// Sentinels for errors.Is; every error of this package wraps one of them.
var (
	// ErrTarget marks a target outside its domain.
	ErrTarget = fault.New(fault.Budget, "invalid target")
	// ErrTree marks a malformed plan tree.
	ErrTree = fault.New(fault.Budget, "invalid plan tree")
	// ErrLaw marks a law with parameters outside their domain.
	ErrLaw = fault.New(fault.Budget, "invalid law")
	// ErrNotPure marks a law that has no pure epsilon where one is needed.
	ErrNotPure = fault.New(fault.Budget, "noise distribution is not pure")
	// ErrOverspent marks a tree whose fixed laws alone exceed the target.
	ErrOverspent = fault.New(fault.Budget, "fixed noise distributions exceed the target")
	// ErrNoConversion marks a conversion between relations that does not exist.
	ErrNoConversion = fault.New(fault.Budget, "no conversion exists")
)

// TargetError reports which field of a Target is out of range.
type TargetError struct {
	Field   string
	Value   float64
	Problem string
	Hint    string // what to do about it; may be empty
}

func (e *TargetError) Error() string {
	return fmt.Sprintf("target %s = %v: %s", e.Field, e.Value, e.Problem)
}

// Unwrap makes errors.Is(err, ErrTarget) true.
func (e *TargetError) Unwrap() error {
	return ErrTarget
}

// treeError reports a problem of the node at Path.
type treeError struct {
	Path    string
	Problem string
}

func (e *treeError) Error() string {
	return fmt.Sprintf("plan tree at %q: %s", e.Path, e.Problem)
}

// Unwrap makes errors.Is(err, ErrTree) true.
func (e *treeError) Unwrap() error {
	return ErrTree
}

// LawError reports which parameter of a law is out of range.
type LawError struct {
	Kind    Kind
	Field   string
	Value   float64
	Problem string
}

func (e *LawError) Error() string {
	return fmt.Sprintf("%s law: %s = %v: %s", e.Kind, e.Field, e.Value, e.Problem)
}

// Unwrap makes errors.Is(err, ErrLaw) true.
func (e *LawError) Unwrap() error {
	return ErrLaw
}

// NotPureError reports a leaf that has no pure epsilon where the target
// (delta = 0), the operation (an informer) or the composition needs one.
type NotPureError struct {
	Path string
	Kind Kind
	Need string
}

func (e *NotPureError) Error() string {
	return fmt.Sprintf(
		"%q has %s noise, but %s; use Laplace, exponential or other pure noise, or a delta above 0",
		e.Path, e.Kind, e.Need)
}

// Unwrap makes errors.Is(err, ErrNotPure) true.
func (e *NotPureError) Unwrap() error {
	return ErrNotPure
}

// OverspentError reports a part of the tree whose fixed laws (or informers) use up the target before the
// scalable leaves get a share.
type OverspentError struct {
	Path    string
	Epsilon float64
	Delta   float64
}

func (e *OverspentError) Error() string {
	return fmt.Sprintf(
		"the fixed noise distributions below %q already exceed epsilon %v, delta %v; lower them or raise the budget",
		e.Path, e.Epsilon, e.Delta)
}

// Unwrap makes errors.Is(err, ErrOverspent) true.
func (e *OverspentError) Unwrap() error {
	return ErrOverspent
}

// conversionError reports that a guarantee does not carry over to another relation.
type conversionError struct{ From, To Relation }

func (e *conversionError) Error() string {
	return fmt.Sprintf(
		"a guarantee under %s implies none under %s; account for the step under %s instead",
		e.From, e.To, e.To)
}

// Unwrap makes errors.Is(err, ErrNoConversion) true.
func (e *conversionError) Unwrap() error {
	return ErrNoConversion
}
