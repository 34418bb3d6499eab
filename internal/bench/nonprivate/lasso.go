package nonprivate

import (
	"context"

	"github.com/dptrain/dptrain/internal/numeric/columns"
	"github.com/dptrain/dptrain/internal/numeric/lasso"
	"github.com/dptrain/dptrain/regression"
)

// LassoOptions adjusts a lasso. The zero value asks for the defaults.
type LassoOptions = lasso.Options

// LassoSolution is the result of [LassoSolver.Solve].
type LassoSolution = lasso.Solution

// LassoSolver solves the lasso for several penalties on one table.
type LassoSolver = lasso.Solver

// NewLassoSolver prepares a table: x holds columns of the length of y. Errors: [ErrShape]
// or that of ctx.
func NewLassoSolver(
	ctx context.Context,
	x [][]float64,
	y []float64,
	opts LassoOptions,
) (*LassoSolver, error) {
	return lasso.NewSolver(ctx, x, y, opts)
}

// Lasso minimises (1/(2n)) ||y - Xw - b||^2 + lambda |w|_1 without privacy, as
// scikit-learn's Lasso does; see [LassoSolver] for the method and for several
// penalties on one table. The model has terms for non-zero coefficients only.
//
// Errors: [ErrShape], [ErrLambda], a [*regression.ModelError] for names, or that of ctx. A
// descent that stops at MaxSweeps is not an error.
func Lasso(
	ctx context.Context,
	d regression.Design,
	lambda float64,
	opts LassoOptions,
) (*regression.Linear, error) {
	if len(d.Names) != len(d.X) {
		return nil, ErrShape
	}
	s, err := lasso.NewSolver(ctx, d.X, d.Y, opts)
	if err != nil {
		return nil, err
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
