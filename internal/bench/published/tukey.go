package published

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/regression"
)

// Tukey is the Tukey mechanism as in the script of the Kendall paper: least squares on equal batches, the check
// of its lemma 8.5, and a draw by depth. It fits all columns of the view and an intercept.
//
// A twentieth of epsilon is spent on a noisy lower bound of the number of records, which divided by the number
// of coefficients gives the number m of models. The check and the draw use half each of the rest.
//
// In the published form, the outcome depends on the records in two ways that delta does not cover: [ErrTooFew]
// if a batch has fewer records than coefficients, and [ErrAbstained] by a check whose noise is too small. At
// least 8 models are needed, because the script fails below that when it trims depths.
type Tukey struct {
	// Models is the number m of models; 0 sets it from the noisy count, and a
	// positive number leaves all of epsilon to the check and the draw.
	Models int
}

// Settings of the script: the share of epsilon for the count, the odds that the
// bound exceeds the count, and how far equal coefficients are spread. The odds
// are our choice: the text of the paper that we have lost the number.
const (
	countShare   = .05
	countOdds    = 1e-4
	perturbation = 1e-10
	leastModels  = 8
)

// Name returns "as-published-tukey".
func (Tukey) Name() string {
	return NameTukey
}

// Fit trains a model.
func (m Tukey) Fit(
	ctx context.Context,
	src Source,
	v dataset.View,
	target int,
	epsilon, delta float64,
) (Fitted, error) {
	if err := checkTarget(epsilon, delta); err != nil {
		return Fitted{}, err
	}
	t, err := newTable(v, target)
	if err != nil {
		return Fitted{}, err
	}
	d := dice{src}
	models := m.Models
	if models == 0 {
		spent := countShare * epsilon
		models = lowerBound(d, len(t.y), spent) / (len(t.x) + 1)
		epsilon -= spent
	}
	batches, err := Batches(src, len(t.y), models, len(t.x)+1)
	if err != nil {
		return Fitted{}, err
	}
	fits, err := BatchModels(ctx, t.x, t.y, batches)
	if err != nil {
		return Fitted{}, err
	}
	for _, fit := range fits {
		for j := range fit {
			fit[j] += perturbation * d.uniform()
		}
	}
	depths, err := NewDepths(fits, epsilon, delta)
	if err != nil {
		return Fitted{}, err
	}
	coefficients, passed := depths.Draw(src)
	if !passed {
		return Fitted{}, ErrAbstained
	}
	return Fitted{Model: t.linearModel(coefficients)}, nil
}

// lowerBound is the script's noisy bound, above n with probability countOdds at
// most.
func lowerBound(d dice, n int, epsilon float64) int {
	noisy := float64(n) + d.laplace(1/epsilon) - math.Log(1/(2*countOdds))/epsilon
	return int(min(max(1, noisy), float64(n)+1e6))
}

func checkTarget(epsilon, delta float64) error {
	if !(delta > 0 && delta < 1) {
		return ErrBudget
	}
	return checkEpsilon(epsilon)
}

// linearModel writes coefficients, the intercept last, as a model.
func (t *table) linearModel(coefficients []float64) *regression.Linear {
	const unbounded = regression.Unbounded
	m := &regression.Linear{
		Target: t.target,
		Lower:  -unbounded,
		Upper:  unbounded,
	}
	for j, name := range t.names {
		m.Columns = append(m.Columns,
			regression.Column{
				Name:  name,
				Lower: -unbounded,
				Upper: unbounded,
			})
		m.Terms = append(m.Terms, regression.Term{
			Column:      j,
			Coefficient: coefficients[j],
		})
	}
	m.Intercept = coefficients[len(t.names)]
	return m
}

// Batches deals n records to m batches as published: floor(n/m) each, in the
// order of a random permutation, the rest left out. d is the number of
// coefficients, intercept included. The error is [ErrTooFew] when a batch would
// have fewer records than that, or m is below 8.
func Batches(src Source, n, m, d int) ([][]int, error) {
	if m < leastModels || n/m < d {
		return nil, fmt.Errorf("%w: %d models of %d coefficients", ErrTooFew, m, d)
	}
	order := dice{src}.permutation(n)
	size := n / m
	batches := make([][]int, m)
	for b := range batches {
		batches[b] = order[b*size : (b+1)*size]
	}
	return batches, nil
}

// BatchModels fits plain least squares to each batch, with columns x and a last column of ones; of several
// solutions it takes the one of minimum norm. A batch whose solution overflows gives zeros. The error is that
// of ctx.
func BatchModels(
	ctx context.Context,
	x [][]float64,
	y []float64,
	batches [][]int,
) ([][]float64, error) {
	models := make([][]float64, len(batches))
	var next atomic.Int64
	var workers parallel.Group
	for range min(runtime.GOMAXPROCS(0), len(batches)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				b := int(next.Add(1)) - 1
				if b >= len(batches) {
					return
				}
				models[b] = leastSquares(x, y, batches[b])
			}
		})
	}
	workers.Wait()
	return models, ctx.Err()
}

// leastSquares fits one batch by its singular value decomposition, leaving out
// singular values below the rounding of the largest.
func leastSquares(x [][]float64, y []float64, rows []int) []float64 {
	d := len(x) + 1
	design := mat.NewDense(len(rows), d, nil)
	target := mat.NewVecDense(len(rows), nil)
	for i, row := range rows {
		for j, column := range x {
			design.Set(i, j, column[row])
		}
		design.Set(i, d-1, 1)
		target.SetVec(i, y[row])
	}
	zeros := make([]float64, d)
	var svd mat.SVD
	if !svd.Factorize(design, mat.SVDThin) {
		return zeros
	}
	values := svd.Values(nil)
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	var scaled, solution mat.VecDense
	scaled.MulVec(u.T(), target)
	for i, s := range values {
		if s > 0x1p-52*values[0] {
			scaled.SetVec(i, scaled.AtVec(i)/s)
		} else {
			scaled.SetVec(i, 0)
		}
	}
	solution.MulVec(&v, &scaled)
	for _, c := range solution.RawVector().Data {
		if !(math.Abs(c) <= regression.Unbounded) {
			return zeros
		}
	}
	return solution.RawVector().Data
}
