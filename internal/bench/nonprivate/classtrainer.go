package nonprivate

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/regression"
)

// ClassTrainer is [Trainer] for classification.
type ClassTrainer interface {
	Name() string
	// Fit trains on all rows of the design. It changes neither the trainer nor
	// the design, and may be called from several goroutines at once.
	Fit(ctx context.Context, d ClassDesign) (*regression.Classifier, error)
}

// UnknownClassBaselineError reports a name that is not a classifier baseline's.
type UnknownClassBaselineError struct{ Name string }

func (e *UnknownClassBaselineError) Error() string {
	return fmt.Sprintf(
		"unknown non-private baseline %q for classification; choose %s or %s",
		e.Name, NonprivateLogistic, NonprivateSVM)
}

// ClassBaseline returns the named classifier baseline with its reported settings: columns in units of their
// standard deviations, Lambda = 1 (scikit-learn's default). An unknown name gives an
// [*UnknownClassBaselineError].
func ClassBaseline(name string) (ClassTrainer, error) {
	switch name {
	case NonprivateLogistic:
		return classBaseline{name, Logistic}, nil
	case NonprivateSVM:
		return classBaseline{name, LinearSVM}, nil
	}
	return nil, &UnknownClassBaselineError{name}
}

type classBaseline struct {
	name string
	fit  func(context.Context, ClassDesign, MarginOptions) (*regression.Classifier, error)
}

func (b classBaseline) Name() string {
	return b.name
}

func (b classBaseline) Fit(
	ctx context.Context,
	d ClassDesign,
) (*regression.Classifier, error) {
	return b.fit(ctx, d, MarginOptions{
		Lambda:      1,
		Standardize: true,
	})
}
