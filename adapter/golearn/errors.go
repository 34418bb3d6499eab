package golearn

import (
	"errors"
	"fmt"
)

// Reasons an [AttributeError] wraps.
var (
	ErrAttributeAbsent = errors.New("the grid has no attribute of this name")
	ErrAttributeTwice  = errors.New("the grid has several attributes of this name")
	ErrAttributeType   = errors.New(
		"the attribute's type does not fit: numbers come from float or binary " +
			"attributes, categories from categorical or binary ones")
)

// AttributeError reports an attribute that cannot be used for the requested purpose.
type AttributeError struct {
	Attribute string
	Err       error
}

func (e *AttributeError) Error() string {
	return fmt.Sprintf("attribute %q: %v", e.Attribute, e.Err)
}

// Unwrap returns the reason.
func (e *AttributeError) Unwrap() error {
	return e.Err
}

// Errors about classes, models and grids as a whole. They never repeat a cell
// or a count of rows.
var (
	ErrClass = errors.New("the grid needs exactly one class attribute")
	// ErrClassMismatch is returned if the grid's class attribute differs from the model's target in name or
	// type.
	ErrClassMismatch = errors.New("the grid's class attribute is not the model's target: " +
		"it has another name, or another type (float for regression, categorical or binary for classification)")
	ErrNoModel = errors.New(
		"the classifier has no model: make it from a trained model, or call Fit or Load first")
	ErrNoFit = errors.New(
		"the classifier cannot fit: a private fit needs a declared schema and a budget, " +
			"and runs through package pipeline; or pass a fit function to NewTrainable")
	ErrRowCount   = errors.New("the reference and the predictions have different numbers of rows")
	ErrPrediction = errors.New("the model predicts a class outside its own list")
	ErrSavedModel = errors.New("the saved classifier is not a dptrain model of a version read here")
)
