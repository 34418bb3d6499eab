package nonprivate

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/internal/numeric/columns"
	"github.com/dptrain/dptrain/internal/numeric/lasso"
	"github.com/dptrain/dptrain/regression"
)

// Names of the baselines, as recipes and the bench command use them.
const (
	NonprivateOLS   = "nonprivate-ols"
	NonprivateRidge = "nonprivate-ridge"
	NonprivateLasso = "nonprivate-lasso"
)

// Names of the baselines of classification.
const (
	NonprivateLogistic = "nonprivate-logistic"
	NonprivateSVM      = "nonprivate-svm"
)

// Trainer fits a model to a numeric table without privacy: the implementation of a method of an experiment on
// public data.
type Trainer interface {
	Name() string
	// Fit trains on all rows of the design. It changes neither the trainer nor
	// the design, and may be called from several goroutines at once.
	Fit(ctx context.Context, d regression.Design) (regression.Model, error)
}

// UnknownBaselineError reports a name that is not a baseline's.
type UnknownBaselineError struct{ Name string }

func (e *UnknownBaselineError) Error() string {
	return fmt.Sprintf("unknown non-private baseline %q; choose %s, %s or %s",
		e.Name, NonprivateOLS, NonprivateRidge, NonprivateLasso)
}

// Baseline returns the trainer of that name with the settings it is reported
// with: ridge with lambda = 1 (scikit-learn's default), lasso on standardised
// columns with lambda = 0.001 of the smallest penalty that leaves no
// coefficient. An unknown name gives an [*UnknownBaselineError].
func Baseline(name string) (Trainer, error) {
	switch name {
	case NonprivateOLS:
		return baseline{name, fitOLS}, nil
	case NonprivateRidge:
		return baseline{name, fitRidge}, nil
	case NonprivateLasso:
		return baseline{name, fitLasso}, nil
	}
	return nil, &UnknownBaselineError{name}
}

type baseline struct {
	name string
	fit  func(context.Context, regression.Design) (*regression.Linear, error)
}

func (b baseline) Name() string {
	return b.name
}

func (b baseline) Fit(
	ctx context.Context,
	d regression.Design,
) (regression.Model, error) {
	m, err := b.fit(ctx, d)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func fitOLS(
	ctx context.Context,
	d regression.Design,
) (*regression.Linear, error) {
	return OLS(ctx, d)
}

func fitRidge(
	ctx context.Context,
	d regression.Design,
) (*regression.Linear, error) {
	return Ridge(ctx, d, 1)
}

func fitLasso(
	ctx context.Context,
	d regression.Design,
) (*regression.Linear, error) {
	const fraction = 1e-3
	if len(d.Names) != len(d.X) {
		return nil, ErrShape
	}
	s, err := lasso.NewSolver(
		ctx,
		d.X,
		d.Y,
		lasso.Options{Standardize: true, Tolerance: 1e-7},
	)
	if err != nil {
		return nil, err
	}
	lambda := fraction * s.LambdaMax()
	if !(lambda > 0) { // a constant target: any penalty leaves no coefficient
		lambda = 1
	}
	solution, err := s.Solve(ctx, lambda)
	if err != nil {
		return nil, err
	}
	return linearModel(
		d,
		columns.CleanAll(d.X),
		columns.Clean(d.Y),
		solution.Coefficients,
		true,
	)
}
