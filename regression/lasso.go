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
// covariance form (Friedman, Hastie and Tibshirani, "Regularization Paths for
// Generalized Linear Models via Coordinate Descent", J. Stat. Software 33,
// 2010, section 2.2). A column of the centred Gram matrix X'X is computed, in
// O(n d), when its coefficient first enters the working set, and kept; after
// that an update costs the size of the working set, whatever the number of
// rows. The descent stops by the duality gap (Kim et al., "An Interior-Point
// Method for Large-Scale l1-Regularized Least Squares", 2007, section III).
//
// Cells are treated as [Design] says. A solver is not safe for concurrent use.
type LassoSolver struct {
	n    int
	x    []cleanColumn
	y    cleanColumn
	opts LassoOptions

	centred [][]float64 // nil for a constant column
	units   []float64   // weight of each column in the penalty
	xy      []float64   // X'y
	yy      float64     // y'y
	gram    [][]float64 // columns of X'X, nil until needed

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
	d := len(x)
	s := &LassoSolver{
		n: len(y), x: make([]cleanColumn, d), y: clean(y), opts: opts,
		centred: make([][]float64, d), units: make([]float64, d), xy: make([]float64, d),
		gram: make([][]float64, d), w: make([]float64, d), gradient: make([]float64, d),
	}
	target := s.y.centre()
	s.yy = floats.Dot(target, target)
	err := forEach(ctx, d, workersFor(s.n*d), func(j int) {
		s.x[j] = clean(x[j])
		s.units[j] = 1
		if s.x[j].spread == 0 {
			return
		}
		s.centred[j] = s.x[j].centre()
		s.xy[j] = floats.Dot(s.centred[j], target)
		if opts.Standardize {
			s.units[j] = math.Sqrt(floats.Dot(s.centred[j], s.centred[j]) / float64(s.n))
		}
	})
	return s, err
}

// centre returns a centred copy of the column.
func (c *cleanColumn) centre() []float64 {
	out := make([]float64, len(c.values))
	for i, v := range c.values {
		out[i] = v - c.mean
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
		s.refreshGradient()
		primal, gap := dualityGap(s.yy, s.w, s.xy, s.gradient, penalty)
		if gap <= tolerance || sweeps >= s.opts.MaxSweeps {
			return s.solution(primal, gap, sweeps, gap <= tolerance), ctx.Err()
		}
		set := newWorkingSet(s.w, s.gradient, penalty)
		if err := s.fillGram(ctx, set); err != nil {
			return LassoSolution{}, err
		}
		done, err := s.descend(ctx, set, penalty, tolerance/2, s.opts.MaxSweeps-sweeps)
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

// refreshGradient computes the gradient from its definition, so that the
// rounding of many updates does not add up.
func (s *LassoSolver) refreshGradient() {
	copy(s.gradient, s.xy)
	for j, w := range s.w {
		if w != 0 {
			floats.AddScaled(s.gradient, -w, s.gram[j])
		}
	}
}

// fillGram computes the missing Gram columns of the working set.
func (s *LassoSolver) fillGram(ctx context.Context, set []int) error {
	d := len(s.x)
	for _, j := range set {
		if s.gram[j] != nil {
			continue
		}
		column := make([]float64, d)
		err := forEach(ctx, d, workersFor(s.n*d), func(k int) {
			switch {
			case s.centred[k] == nil:
			case s.gram[k] != nil:
				column[k] = s.gram[k][j]
			default:
				column[k] = floats.Dot(s.centred[j], s.centred[k])
			}
		})
		if err != nil {
			return err
		}
		s.gram[j] = column
	}
	return nil
}

// descend sweeps over the coefficients of the set, all others fixed, until the
// duality gap of the problem restricted to the set is at most tolerance. It
// returns the number of sweeps, at least 1.
func (s *LassoSolver) descend(ctx context.Context, set []int, penalty []float64, tolerance float64, most int) (int, error) {
	local := s.restrict(set, penalty)
	sweep := 0
	for {
		if err := ctx.Err(); err != nil {
			return sweep, err
		}
		local.sweep()
		sweep++
		_, gap := dualityGap(s.yy, local.w, local.xy, local.gradient, local.penalty)
		if gap <= tolerance || sweep >= most {
			break
		}
	}
	for i, j := range set {
		s.w[j] = local.w[i]
	}
	return sweep, nil
}
