package hinge

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// Minimize returns a point at which the true gradient of J has a norm of at most
// tolerance. It ends with one, or with the error of ctx. tolerance must exceed
// 1e-15 Norm for every row; with less no point can be proved right.
func (p *Problem) Minimize(
	ctx context.Context,
	tolerance float64,
) (Point, error) {
	a := newPoint(len(p.Columns) + 1)
	g, err := p.gradientAt(ctx, a)
	if err != nil {
		return a, err
	}
	best := g.norm
	for g.atMost() > tolerance {
		step, err := p.newtonStep(ctx, g)
		if err != nil {
			return a, err
		}
		next := a.movedBy(1, step)
		after, err := p.gradientAt(ctx, next)
		if err != nil {
			return a, err
		}
		if !(after.norm <= best/2) {
			t, err := p.lineSearch(ctx, a, g, step)
			if err != nil {
				return a, err
			}
			next = a.movedBy(t, step)
			if after, err = p.gradientAt(ctx, next); err != nil {
				return a, err
			}
		}
		a = next
		g = after
		best = min(best, after.norm)
	}
	return a, nil
}

// newtonStep returns -H^-1 gradient, H the Hessian where it exists. Without a
// factorisation it returns the step of gradient descent.
func (p *Problem) newtonStep(
	ctx context.Context,
	g *gradient,
) ([]float64, error) {
	h, err := p.hessian(ctx, g.margins)
	if err != nil {
		return nil, err
	}
	d := len(g.values)
	step := mat.NewVecDense(d, nil)
	var factor mat.Cholesky
	if !factor.Factorize(h) || factor.SolveVecTo(step, mat.NewVecDense(d, g.values)) != nil ||
		!(dotProduct(step.RawVector().Data, g.values) > 0) {
		step.CopyVec(mat.NewVecDense(d, g.values))
		step.ScaleVec(1/(float64(len(p.Labels))*p.Norm*p.Norm+p.Lambda), step)
	}
	step.ScaleVec(-1, step)
	return step.RawVector().Data, nil
}

// hessian returns the sum of curvature times z z^T over the rows plus lambda I, of the
// huberised loss exactly: its curvature is 0 or 1. Rows of the logistic loss are multiplied
// by the root of their curvature and rounded, each entry by at most half a unit. That is a
// step with another matrix, as positive definite, which no proof leans on.
func (p *Problem) hessian(
	ctx context.Context,
	margins []float64,
) (*mat.SymDense, error) {
	d := len(p.Columns)
	type worker struct {
		sums   []int64
		border []int64 // sums of the entries, and the number of rows
		rows   [][]int16
	}
	workers := make([]*worker, max(1, p.chunkCount())) // one a goroutine, at most
	err := forEach(ctx, p.chunkCount(), func(n, c int) {
		if workers[n] == nil {
			workers[n] = &worker{make([]int64, gram.Len(d)), make([]int64, d+1), make([][]int16, d)}
		}
		w := workers[n]
		lo, hi := p.chunkRows(c)
		var index []int
		for i := lo; i < hi; i++ {
			if p.Labels[i] != 0 && p.Loss.curvature(margins[i]) > 0 {
				index = append(index, i)
			}
		}
		roots, ones := p.curvatureRoots(margins, index)
		for j, column := range p.Columns {
			w.rows[j] = w.rows[j][:0]
			for n, i := range index {
				x := column[i]
				if roots != nil {
					x = int16(math.RoundToEven(roots[n] * float64(x)))
				}
				w.rows[j] = append(w.rows[j], x)
				w.border[j] += int64(x) * ones[n]
			}
		}
		for _, one := range ones {
			w.border[d] += one * one
		}
		gram.Accumulate(w.sums, w.rows)
	})
	if err != nil {
		return nil, err
	}
	h := mat.NewSymDense(d+1, nil)
	k := float64(p.Constant)
	for _, w := range workers {
		if w == nil {
			continue
		}
		for i, at := 0, 0; i < d; i++ {
			for j := i; j < d; j, at = j+1, at+1 {
				h.SetSym(i, j, h.At(i, j)+float64(w.sums[at]))
			}
			h.SetSym(i, d, h.At(i, d)+k*(float64(w.border[i])/rootUnits))
		}
		h.SetSym(d, d, h.At(d, d)+k*k*(float64(w.border[d])/(rootUnits*rootUnits)))
	}
	for i := range d + 1 {
		h.SetSym(i, i, h.At(i, i)+p.Lambda)
	}
	return h, nil
}

// rootUnits is the inverse of the grid on which roots of curvatures multiply the
// constant.
const rootUnits = 1 << 14

// curvatureRoots returns the roots of the curvatures of rows, nil where all are 1, and the same
// in units of 1/rootUnits.
func (p *Problem) curvatureRoots(
	margins []float64,
	index []int,
) (roots []float64, units []int64) {
	units = make([]int64, len(index))
	if p.Loss != Logistic {
		for n := range units {
			units[n] = rootUnits
		}
		return nil, units
	}
	roots = make([]float64, len(index))
	for n, i := range index {
		roots[n] = math.Sqrt(p.Loss.curvature(margins[i]))
		units[n] = int64(math.RoundToEven(roots[n] * rootUnits))
	}
	return roots, units
}

// lineSearch returns a step length t in (0, 1] along a descent direction: 1 if J still falls there, and otherwise a step
// at which the slope of J has risen to between a tenth of its value at 0 and 0.
func (p *Problem) lineSearch(
	ctx context.Context,
	a Point,
	g *gradient,
	step []float64,
) (float64, error) {
	changes := make([]float64, len(p.Labels))
	direction := Point{step, make([]float64, len(step))}
	err := forEach(ctx, p.chunkCount(), func(_, c int) {
		lo, hi := p.chunkRows(c)
		p.dotProducts(changes[lo:hi], lo, direction)
		for i := lo; i < hi; i++ {
			changes[i] *= float64(p.Labels[i])
		}
	})
	if err != nil {
		return 0, err
	}
	along := dotProduct(a.High, step)
	length := dotProduct(step, step)
	slopeAt := func(t float64) float64 {
		parts := make([]float64, p.chunkCount())
		if err = forEach(ctx, len(parts), func(_, c int) {
			lo, hi := p.chunkRows(c)
			for i := lo; i < hi; i++ {
				parts[c] += p.Loss.slope(g.margins[i]+t*changes[i]) * changes[i]
			}
		}); err != nil {
			return math.NaN()
		}
		sum := p.Lambda * (along + t*length)
		for _, x := range parts {
			sum += x
		}
		return sum
	}
	start := dotProduct(g.values, step)
	if slopeAt(1) <= 0 {
		return 1, err
	}
	low := 0.
	high := 1.
	for range 60 {
		middle := (low + high) / 2
		if s := slopeAt(middle); err != nil {
			return 0, err
		} else if s > 0 {
			high = middle
		} else if low = middle; s >= start/10 {
			break
		}
	}
	if low == 0 {
		low = high // closer than floating point tells apart
	}
	return low, err
}
