// Package lasso solves the lasso: least squares with a penalty on the sum of the absolute
// coefficients. It gives no privacy.
package lasso

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dptrain/dptrain/internal/numeric/columns"
)

// ErrLambda is returned for a penalty outside its range.
var ErrLambda = errors.New("the penalty lambda must be finite and above 0 (at least 0 for ridge)")

// Options adjusts a lasso. The zero value asks for the defaults.
type Options struct {
	// Standardize divides each column by its standard deviation for the
	// penalty, so that units do not matter: the term of coefficient w_j becomes
	// lambda * sd_j * |w_j|. Coefficients stay in original units.
	Standardize bool
	// Tolerance ends the descent when the duality gap is at most Tolerance
	// times the sum of squares of the centred target. Default 1e-10.
	Tolerance float64
	// MaxSweeps bounds the number of passes over the working set; the solution then reports its distance from the
	// optimum. Default 100000.
	MaxSweeps int
	// Workers bounds the number of goroutines; 0 means one a processor. Callers
	// that solve many tables at once want 1. It does not change the solution.
	Workers int
}

// Solution is the result of [Solver.Solve].
type Solution struct {
	Coefficients []float64 // one for each column, in original units
	Intercept    float64
	Objective    float64 // (1/(2n)) ||y - Xw - b||^2 + lambda |w|_1
	Gap          float64 // the objective is at most this far above the optimum
	Sweeps       int
	Converged    bool // whether the gap reached the tolerance
}

// Solver minimises (1/(2n)) ||y - Xw - b||^2 + lambda |w|_1 on one table by cyclic coordinate descent in
// covariance form over a working set (Friedman, Hastie and Tibshirani,
// "Regularization Paths for Generalized Linear Models via Coordinate Descent",
// J. Stat. Software 33, 2010, section 2.2). An update costs the size of the
// working set, whatever the number of rows: it uses the products of the columns
// in the set only. What the two shapes of a table differ in is how the gradient
// of all columns is found when the set has been solved:
//
//   - n >= d rows: from the centred Gram matrix X'X, each column of which is
//     computed, in O(n d), when its coefficient first enters the working set,
//     and kept;
//   - n < d rows: from the residual, in O(n d). No d x d matrix is ever held.
//
// Now and then the signs found so far are taken as final and the linear
// equations of the optimum solved at once, which is what makes columns that are
// nearly multiples of each other affordable.
//
// The descent stops by the duality gap (Kim et al., "An Interior-Point Method
// for Large-Scale l1-Regularized Least Squares", 2007, section III).
//
// Cells are treated as in [columns.Clean]. A solver is not safe for concurrent use.
type Solver struct {
	n    int
	x    []columns.Column
	y    columns.Column
	opts Options

	deviations []float64 // of the columns, 0 for a constant one
	units      []float64 // weight of each column in the penalty
	xy         []float64 // X'y
	yy         float64   // y'y
	moments    moments

	w        []float64
	gradient []float64 // X'(y - Xw)
}

// NewSolver prepares a table: x holds columns of the length of y. It keeps
// a centred copy of the columns, and computes X'y. Errors: [columns.ErrShape] or that
// of ctx.
func NewSolver(
	ctx context.Context,
	x [][]float64,
	y []float64,
	opts Options,
) (*Solver, error) {
	if err := columns.Check(x, len(y)); err != nil {
		return nil, err
	}
	if !(opts.Tolerance > 0) {
		opts.Tolerance = 1e-10
	}
	if opts.MaxSweeps <= 0 {
		opts.MaxSweeps = 100000
	}
	d := len(x)
	n := len(y)
	s := &Solver{
		n: n, x: make([]columns.Column, d), y: columns.Clean(y), opts: opts,
		deviations: make([]float64, d), units: make([]float64, d), xy: make([]float64, d),
		w: make([]float64, d), gradient: make([]float64, d),
	}
	target := centreColumn(s.y, make([]float64, n))
	s.yy = floats.Dot(target, target)
	cells := centredColumns{
		n:        n,
		workers:  opts.Workers,
		cells:    make([]float64, n*d),
		constant: make([]bool, d),
	}
	err := cells.forEachColumn(ctx, func(j int) {
		s.x[j] = columns.Clean(x[j])
		s.units[j] = 1
		if cells.constant[j] = s.x[j].Spread == 0; cells.constant[j] {
			return
		}
		column := centreColumn(s.x[j], cells.column(j))
		s.xy[j] = floats.Dot(column, target)
		s.deviations[j] = math.Sqrt(floats.Dot(column, column) / float64(n))
		if opts.Standardize {
			s.units[j] = s.deviations[j]
		}
	})
	if n < d {
		s.moments = &residuals{
			centredColumns: cells,
			target:         target,
			residual:       make([]float64, n),
			slots:          make([]int, d),
		}
	} else {
		s.moments = &covariances{
			centredColumns: cells,
			xy:             s.xy,
			yy:             s.yy,
			gram:           make([][]float64, d),
		}
	}
	return s, err
}

// centreColumn writes the centred column to out: zeros for a constant one.
func centreColumn(c columns.Column, out []float64) []float64 {
	if c.Spread > 0 {
		for i, v := range c.Values {
			out[i] = v - c.Mean
		}
	}
	return out
}

// LambdaMax returns the smallest penalty for which every coefficient is 0.
func (s *Solver) LambdaMax() float64 {
	largest := 0.0
	for j, v := range s.xy {
		largest = max(largest, math.Abs(v)/s.units[j])
	}
	return largest / float64(max(s.n, 1))
}

// Deviations returns the standard deviations (the mean square about the mean,
// n in the denominator) of the columns and of the target, 0 for a constant one.
// With [Options.Standardize], penalty lambda*target gives the lasso of
// penalty lambda on standardised columns and a standardised target, whose
// coefficients are w_j*columns[j]/target.
func (s *Solver) Deviations() (columns []float64, target float64) {
	return append([]float64(nil), s.deviations...), math.Sqrt(s.yy / float64(max(s.n, 1)))
}

// Solve minimises the objective for lambda > 0, starting from the coefficients
// of the previous call. Errors: [ErrLambda] or that of ctx.
func (s *Solver) Solve(ctx context.Context, lambda float64) (Solution, error) {
	if !(lambda > 0) || math.IsInf(lambda, 0) {
		return Solution{}, ErrLambda
	}
	penalty := make([]float64, len(s.w))
	for j, unit := range s.units {
		penalty[j] = float64(s.n) * lambda * unit
	}
	tolerance := s.opts.Tolerance * s.yy
	sweeps := 0
	for {
		// From its definition, so that the rounding of many updates does not
		// add up.
		rr, err := s.moments.gradient(ctx, s.gradient, s.w)
		if err != nil {
			return Solution{}, err
		}
		primal, gap := dualityGap(rr, s.w, s.gradient, penalty)
		if gap <= tolerance || sweeps >= s.opts.MaxSweeps {
			return s.newSolution(primal, gap, sweeps, gap <= tolerance), ctx.Err()
		}
		set := newWorkingSet(s.w, s.gradient, penalty)
		if err := s.moments.fillGram(ctx, set); err != nil {
			return Solution{}, err
		}
		done, err := s.descendOn(
			ctx,
			set,
			rr,
			penalty,
			tolerance/2,
			s.opts.MaxSweeps-sweeps,
		)
		if err != nil {
			return Solution{}, err
		}
		sweeps += done
	}
}

func (s *Solver) newSolution(
	primal, gap float64,
	sweeps int,
	converged bool,
) Solution {
	n := float64(max(s.n, 1))
	w := append([]float64(nil), s.w...)
	return Solution{
		Coefficients: w,
		Intercept:    columns.Intercept(s.x, s.y, w),
		Objective:    primal / n,
		Gap:          gap / n,
		Sweeps:       sweeps,
		Converged:    converged,
	}
}

// sweepsBeforeJump returns after how many sweeps over a set of that size the
// signs are tried as final: a jump costs the cube of the size, a sweep the
// square.
func sweepsBeforeJump(size int) int {
	return max(8, size/4)
}

// descendOn sweeps over the coefficients of the set, all others fixed at 0, until
// the duality gap of the problem restricted to the set is at most tolerance. It
// returns the number of sweeps, at least 1.
func (s *Solver) descendOn(
	ctx context.Context,
	set []int,
	rr float64,
	penalty []float64,
	tolerance float64,
	most int,
) (int, error) {
	local := s.restrictTo(set, rr, penalty)
	sweep := 0
	for {
		if err := ctx.Err(); err != nil {
			return sweep, err
		}
		local.sweepCoordinates()
		sweep++
		_, gap := dualityGap(local.rr, local.w, local.gradient, local.penalty)
		if gap <= tolerance || sweep >= most {
			break
		}
		if sweep%sweepsBeforeJump(len(set)) == 0 {
			local.jumpToSolution()
		}
	}
	for i, j := range set {
		s.w[j] = local.w[i]
	}
	return sweep, nil
}
