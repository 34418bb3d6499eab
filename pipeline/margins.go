package pipeline

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
	"github.com/dptrain/dptrain/svm"
)

// The forms of Logistic, as recipes name them (docs/methods/logistic.md).
const (
	// LogisticGradients releases noisy gradients.
	LogisticGradients = "gradients"
	// LogisticOutput releases the minimiser with noise.
	LogisticOutput = "output"
)

// machine is a trainer that perturbs a minimiser; atLeast is a lower bound of the
// number of records.
type machine struct {
	margins interface {
		Plan() (budget.Node, error)
		Run(ctx context.Context, s *mechanism.Session, v dataset.View, atLeast int, ranges []scaling.Range) (*svm.Fit, error)
	}
	atLeast int
}

// Plan prices the release.
func (t machine) Plan() (budget.Node, error) { return t.margins.Plan() }

// Run trains; see [trainer].
func (t machine) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error) {
	fit, err := t.margins.Run(ctx, s, v, t.atLeast, ranges)
	if err != nil {
		return nil, err
	}
	return &fitted{classifier: fit.Model, scale: logOdds}, nil
}

// perturbsMinimizer reports whether a method of a form is a [machine], which wants to
// know about how many records there are.
func perturbsMinimizer(method, form string) bool {
	return method == SVM || method == Logistic && form == LogisticOutput
}

// logistic is logistic regression by gradients.
type logistic struct{ svm.Logistic }

// logistic returns the trainer of a setting.
func (x setting) logistic() (trainer, error) {
	switch x.form {
	case "", LogisticGradients:
		return logistic{svm.Logistic{Columns: x.columns}}, nil
	case LogisticOutput:
		return machine{svm.OutputLogistic{Columns: x.columns}, x.atLeast}, nil
	}
	return nil, fmt.Errorf("%w: logistic %q; use one of %v", ErrForm, x.form, Forms(Logistic))
}

// Run trains; see [trainer].
func (t logistic) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error) {
	fit, err := t.Logistic.Run(ctx, s, v, ranges)
	if err != nil {
		return nil, err
	}
	return &fitted{classifier: fit.Model, scale: logOdds}, nil
}
