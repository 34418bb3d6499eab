package regression

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// LassoOptions adjusts a lasso. The zero value asks for the defaults.
type LassoOptions struct {
	// Standardize divides each column by its standard deviation for the
	// penalty, so that units do not matter: the term of coefficient w_j becomes
	// lambda * sd_j * |w_j|. Coefficients stay in original units.
	Standardize bool
	// Tolerance ends the descent when the duality gap is at most Tolerance
	// times the sum of squares of the centred target. Default 1e-10.
	Tolerance float64
	// MaxSweeps bounds the number of passes over the working set; the solution
	// then says how far it is from the optimum. Default 100000.
	MaxSweeps int
	// Workers bounds the number of goroutines; 0 means one a processor. Callers
	// that solve many tables at once want 1. It does not change the solution.
	Workers int
}

// LassoSolution is what [LassoSolver.Solve] found.
type LassoSolution struct {
	Coefficients []float64 // one for each column, in original units
	Intercept    float64
	Objective    float64 // (1/(2n)) ||y - Xw - b||^2 + lambda |w|_1
	Gap          float64 // the objective is at most this far above the optimum
	Sweeps       int
	Converged    bool // whether the gap reached the tolerance
}

// Lasso minimises (1/(2n)) ||y - Xw - b||^2 + lambda |w|_1 without privacy, as
// scikit-learn's Lasso does; see [LassoSolver] for the method and for several
// penalties on one table. The model has terms for non-zero coefficients only.
//
// Errors: [ErrShape], [ErrLambda], a [*ModelError] for names, or that of ctx. A
// descent that stops at MaxSweeps is not an error.
func Lasso(ctx context.Context, d Design, lambda float64, opts LassoOptions) (*Linear, error) {
	if len(d.Names) != len(d.X) {
		return nil, ErrShape
	}
	s, err := NewLassoSolver(ctx, d.X, d.Y, opts)
	if err != nil {
		return nil, err
	}
	solution, err := s.Solve(ctx, lambda)
	if err != nil {
		return nil, err
	}
	return d.linear(s.x, s.y, solution.Coefficients, true)
}

// LassoSolver solves the lasso on one table by cyclic coordinate descent in
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
// Cells are treated as [Design] says. A solver is not safe for concurrent use.
type LassoSolver struct {
	n    int
	x    []cleanColumn
	y    cleanColumn
	opts LassoOptions

	deviations []float64 // of the columns, 0 for a constant one
	units      []float64 // weight of each column in the penalty
	xy         []float64 // X'y
	yy         float64   // y'y
	moments    moments

	w        []float64
	gradient []float64 // X'(y - Xw)
}

// NewLassoSolver prepares a table: x holds columns of the length of y. It keeps
// a centred copy of the columns, and computes X'y. Errors: [ErrShape] or that
// of ctx.
func NewLassoSolver(ctx context.Context, x [][]float64, y []float64, opts LassoOptions) (*LassoSolver, error) {
	if err := checkShape(x, y); err != nil {
		return nil, err
	}
	if !(opts.Tolerance > 0) {
		opts.Tolerance = 1e-10
	}
	if opts.MaxSweeps <= 0 {
		opts.MaxSweeps = 100000
	}
	d, n := len(x), len(y)
	s := &LassoSolver{
		n: n, x: make([]cleanColumn, d), y: clean(y), opts: opts,
		deviations: make([]float64, d), units: make([]float64, d), xy: make([]float64, d),
		w: make([]float64, d), gradient: make([]float64, d),
	}
	target := s.y.centre(make([]float64, n))
	s.yy = floats.Dot(target, target)
	columns := centredColumns{n: n, workers: opts.Workers, cells: make([]float64, n*d), constant: make([]bool, d)}
	err := columns.each(ctx, func(j int) {
		s.x[j] = clean(x[j])
		s.units[j] = 1
		if columns.constant[j] = s.x[j].spread == 0; columns.constant[j] {
			return
		}
		column := s.x[j].centre(columns.column(j))
		s.xy[j] = floats.Dot(column, target)
		s.deviations[j] = math.Sqrt(floats.Dot(column, column) / float64(n))
		if opts.Standardize {
			s.units[j] = s.deviations[j]
		}
	})
	if n < d {
		s.moments = &residuals{centredColumns: columns, target: target, residual: make([]float64, n), slots: make([]int, d)}
	} else {
		s.moments = &covariances{centredColumns: columns, xy: s.xy, yy: s.yy, gram: make([][]float64, d)}
	}
	return s, err
}

// centre writes the centred column to out: zeros for a constant one.
func (c *cleanColumn) centre(out []float64) []float64 {
	if c.spread > 0 {
		for i, v := range c.values {
			out[i] = v - c.mean
		}
	}
	return out
}

// LambdaMax returns the smallest penalty for which every coefficient is 0.
func (s *LassoSolver) LambdaMax() float64 {
	largest := 0.0
	for j, v := range s.xy {
		largest = max(largest, math.Abs(v)/s.units[j])
	}
	return largest / float64(max(s.n, 1))
}

// Deviations returns the standard deviations (the mean square about the mean,
// n in the denominator) of the columns and of the target, 0 for a constant one.
// With [LassoOptions.Standardize], penalty lambda*target gives the lasso of
// penalty lambda on standardised columns and a standardised target, whose
// coefficients are w_j*columns[j]/target.
func (s *LassoSolver) Deviations() (columns []float64, target float64) {
	return append([]float64(nil), s.deviations...), math.Sqrt(s.yy / float64(max(s.n, 1)))
}

// Solve minimises the objective for lambda > 0, starting from the coefficients
// of the previous call. Errors: [ErrLambda] or that of ctx.
func (s *LassoSolver) Solve(ctx context.Context, lambda float64) (LassoSolution, error) {
	if !(lambda > 0) || math.IsInf(lambda, 0) {
		return LassoSolution{}, ErrLambda
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
			return LassoSolution{}, err
		}
		primal, gap := dualityGap(rr, s.w, s.gradient, penalty)
		if gap <= tolerance || sweeps >= s.opts.MaxSweeps {
			return s.solution(primal, gap, sweeps, gap <= tolerance), ctx.Err()
		}
		set := newWorkingSet(s.w, s.gradient, penalty)
		if err := s.moments.fill(ctx, set); err != nil {
			return LassoSolution{}, err
		}
		done, err := s.descend(ctx, set, rr, penalty, tolerance/2, s.opts.MaxSweeps-sweeps)
		if err != nil {
			return LassoSolution{}, err
		}
		sweeps += done
	}
}

func (s *LassoSolver) solution(primal, gap float64, sweeps int, converged bool) LassoSolution {
	n := float64(max(s.n, 1))
	w := append([]float64(nil), s.w...)
	return LassoSolution{
		Coefficients: w, Intercept: intercept(s.x, s.y, w),
		Objective: primal / n, Gap: gap / n, Sweeps: sweeps, Converged: converged,
	}
}

// sweepsBeforeJump returns after how many sweeps over a set of that size the
// signs are tried as final: a jump costs the cube of the size, a sweep the
// square.
func sweepsBeforeJump(size int) int { return max(8, size/4) }

// descend sweeps over the coefficients of the set, all others fixed at 0, until
// the duality gap of the problem restricted to the set is at most tolerance. It
// returns the number of sweeps, at least 1.
func (s *LassoSolver) descend(ctx context.Context, set []int, rr float64, penalty []float64, tolerance float64, most int) (int, error) {
	local := s.restrict(set, rr, penalty)
	sweep := 0
	for {
		if err := ctx.Err(); err != nil {
			return sweep, err
		}
		local.sweep()
		sweep++
		_, gap := dualityGap(local.rr, local.w, local.gradient, local.penalty)
		if gap <= tolerance || sweep >= most {
			break
		}
		if sweep%sweepsBeforeJump(len(set)) == 0 {
			local.jump()
		}
	}
	for i, j := range set {
		s.w[j] = local.w[i]
	}
	return sweep, nil
}
