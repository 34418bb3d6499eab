package dptrain

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	methods "github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/selection"
)

// A Trainer is a training method with its settings: a value of a type of package adassp, boosting, costtree,
// logistic, prototypes, svm or tukey, such as boosting.Kernel{}. The zero value of each type has the defaults of
// its method. [Run.Plan] rejects a trainer of any other type.
type Trainer interface {
	// Name returns the name of the method in a recipe.
	Name() string
}

// A Search tries several combinations of selection and training, a secret number of times, and keeps the one with
// the best private score (N. Papernot and T. Steinke, "Hyperparameter tuning with Rényi differential privacy",
// 2022). All tries together have one price in the plan, which does not depend on the number of candidates.
//
// A search needs a positive delta and tight composition, and no candidate may be a method that can abstain, such as
// tukey.Tukey.
type Search struct {
	// Candidates are 2 to 64 distinct combinations.
	Candidates []Candidate
	// Runs is the mean number of tries, above 1 and at most 1000. A candidate may be tried several times or never.
	Runs float64
	// Holdout is the share of the training records that scores the tries, in (0, 0.5].
	Holdout float64
}

// A Candidate of a [Search] is one combination of selection and training.
type Candidate struct {
	// Selector chooses the features; nil keeps all features.
	Selector selection.Selector
	// SelectionShare is the share of the budget of the try that Selector spends, in (0, 1); 0 means the default.
	SelectionShare float64
	// Model is the trainer; nil means the default of the task.
	Model Trainer
}

// ErrOpened is returned by [Plan.Fit] for a plan that has been executed already: a plan pays for one run. See
// [Plan.Again].
var ErrOpened = mechanism.ErrOpened

// trainer returns the trainer that a field of a run names, or nil for nil.
func trainer(field string, t Trainer) (method.Trainer, error) {
	if t == nil {
		return nil, nil
	}
	out, ok := pipeline.TrainerFromSettings(t)
	if !ok {
		return nil, foreignError(field, t)
	}
	return out, nil
}

// selector returns the selector that a field of a run names, or nil for nil.
func selector(field string, s selection.Selector) (methods.Selector, error) {
	if s == nil {
		return nil, nil
	}
	out, ok, err := methods.FromSettings(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", field, err)
	case !ok:
		return nil, foreignError(field, s)
	}
	return out, nil
}

// foreignError rejects a method of another module.
func foreignError(field string, value any) error {
	return &fault.Error{
		Kind:    fault.Usage,
		Field:   field,
		Message: fmt.Sprintf("%s: %T is no method of this module", field, value),
		Hint:    "use a type of packages adassp, boosting, costtree, logistic, prototypes, selection, svm or tukey",
	}
}

// search returns the search of a run in terms of the pipeline.
func (r Run) search() (*pipeline.Search, error) {
	if r.Search == nil {
		return nil, nil
	}
	out := &pipeline.Search{
		Runs:    r.Search.Runs,
		Holdout: r.Search.Holdout,
	}
	for i, c := range r.Search.Candidates {
		model, err := trainer(fmt.Sprintf("Search.Candidates[%d].Model", i), c.Model)
		if err != nil {
			return nil, err
		}
		chosen, err := selector(fmt.Sprintf("Search.Candidates[%d].Selector", i), c.Selector)
		if err != nil {
			return nil, err
		}
		out.Candidates = append(out.Candidates, pipeline.Candidate{
			Selector:       chosen,
			SelectionShare: c.SelectionShare,
			Model:          model,
		})
	}
	return out, nil
}
