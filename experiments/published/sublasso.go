package published

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/numeric/lasso"
)

// SubLasso is algorithm 2 of the Kendall paper: the records are shuffled into Parts equal parts
// of floor(n/Parts), with the rest left out; each part votes for the K columns with the largest lasso coefficients,
// and the columns with the most votes are chosen with Gumbel noise of scale 2K/epsilon.
//
// If floor((n+1)/Parts) exceeds floor(n/Parts), one more record changes every part, so all votes may change.
type SubLasso struct {
	K      int
	Parts  int
	Lambda float64 // on standardised columns; 0: .1
}

// Choose returns the chosen columns in increasing order. The error is that of ctx.
func (m SubLasso) Choose(
	ctx context.Context,
	src Source,
	x [][]float64,
	y []float64,
	epsilon float64,
) ([]int, error) {
	counts, err := m.Votes(ctx, src, x, y)
	if err != nil {
		return nil, err
	}
	for j := range counts {
		counts[j] = counts[j]*epsilon/float64(2*m.K) + gumbel(src)
	}
	chosen := byScore(counts)[:m.K]
	slices.Sort(chosen)
	return chosen, nil
}

// Votes counts the votes for every column.
func (m SubLasso) Votes(
	ctx context.Context,
	src Source,
	x [][]float64,
	y []float64,
) ([]float64, error) {
	counts := make([]float64, len(x))
	order := permutation(src, len(y))
	size := len(y) / max(m.Parts, 1)
	for part := range m.Parts {
		vote, err := m.vote(ctx, x, y, order[part*size:(part+1)*size])
		if err != nil {
			return nil, err
		}
		for _, j := range vote {
			counts[j]++
		}
	}
	return counts, nil
}

// vote returns the K columns with the largest coefficients on some rows.
func (m SubLasso) vote(
	ctx context.Context,
	x [][]float64,
	y []float64,
	rows []int,
) ([]int, error) {
	if len(rows) < 2 {
		return nil, ctx.Err()
	}
	take := func(column []float64) []float64 {
		out := make([]float64, len(rows))
		for i, row := range rows {
			out[i] = column[row]
		}
		return out
	}
	part := make([][]float64, len(x))
	for j, column := range x {
		part[j] = take(column)
	}
	solver, err := lasso.NewSolver(
		ctx,
		part,
		take(y),
		lasso.Options{
			Standardize: true,
			Tolerance:   1e-6,
			MaxSweeps:   10_000,
			Workers:     1,
		},
	)
	if err != nil {
		return nil, err
	}
	deviations, scale := solver.Deviations()
	lambda := m.Lambda
	if lambda == 0 {
		lambda = .1
	}
	if !(lambda*scale > 0) {
		return nil, nil
	}
	solution, err := solver.Solve(ctx, lambda*scale)
	if err != nil {
		return nil, err
	}
	sizes := make([]float64, len(x))
	for j, w := range solution.Coefficients {
		sizes[j] = math.Abs(w) * deviations[j]
	}
	return byScore(sizes)[:min(m.K, len(x))], nil
}
