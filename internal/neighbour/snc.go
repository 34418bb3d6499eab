package neighbour

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Options are the choices of [Compress].
type Options struct {
	// Iterations of L-BFGS at most. It ends before at a mean loss of .003, or when the loss falls by
	// less than 1e-5 of itself in five.
	Iterations int
	// Gamma2 is γ², 0 for the best of a grid on some of the records.
	Gamma2 float64
	// Metric learns a linear map A of the vectors, too: distances are ‖A(x - z)‖.
	Metric bool
}

// A Compressed is what [Compress] makes of records.
type Compressed struct {
	References Points // sorted by class; distances between them and records are Euclidean
	// Metric is A, Dim × Dim by row, nil for none. References are then A z: they are near A x, not near x.
	Metric     []float64
	Gamma2     float64 // 1 with a metric, which holds the scale
	Loss       float64 // -Σ log p over the records
	Iterations int
}

const (
	gammaRows   = 2000 // records that γ² is chosen by
	nearestRows = 1000 // records that the scale of distances is read from
	history     = 10   // steps that L-BFGS keeps
	settled     = 1e-5
	settledIn   = 5
	learned     = .003 // mean loss of a record
)

// Compress moves the rows start of p, to which they are copied, so that the other records find
// their class by them ("Stochastic Neighbor Compression"). Every class of p has a row in start. The
// error is that of ctx, or of p and start.
func Compress(ctx context.Context, p Points, start []int, o Options) (Compressed, error) {
	z := p.Subset(sortedByClass(p, start))
	count := int(slices.Max(p.Class)) + 1
	l := &loss{u: p.X, dim: p.Dim, x: p.X, xdim: p.Dim, class: p.Class, from: bounds(z.Class, count)}
	for _, c := range p.Class {
		if l.from[c] == l.from[c+1] {
			return Compressed{}, ErrClass
		}
	}
	if o.Gamma2 == 0 {
		var err error
		if o.Gamma2, err = bandwidth(ctx, p, z); err != nil {
			return Compressed{}, err
		}
	}
	if o.Metric {
		return l.minimizeMetric(ctx, z, o)
	}
	return l.minimize(ctx, z, o)
}

// ErrClass is returned for a class of the records without a reference vector.
var ErrClass = errors.New("every class needs a reference vector to start from")

// sortedByClass returns rows in the order of their classes.
func sortedByClass(p Points, rows []int) []int {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b int) int { return int(p.Class[a]) - int(p.Class[b]) })
	return out
}

// minimize runs L-BFGS from z.
func (l *loss) minimize(ctx context.Context, z Points, o Options) (Compressed, error) {
	value := func(v []float64) (float64, []float64, error) {
		s, err := l.sums(ctx, v, o.Gamma2)
		if err != nil {
			return 0, nil, err
		}
		return s.value, s.gradient(v, l.dim, o.Gamma2), nil
	}
	r, err := lbfgs(value, z.X, o.Iterations, l.enough())
	if err != nil {
		return Compressed{}, err
	}
	z.X = r.X
	return Compressed{References: z, Gamma2: o.Gamma2, Loss: r.F, Iterations: r.MajorIterations}, nil
}

// enough returns the loss at which L-BFGS stops: fewer mistakes on these records are more on others.
func (l *loss) enough() float64 { return learned * float64(len(l.class)) }

// lbfgs minimises a function that gives its value and its gradient at once, until it is below
// enough.
func lbfgs(f func(x []float64) (float64, []float64, error), start []float64, iterations int, enough float64) (*optimize.Result, error) {
	last := struct {
		at, gradient []float64
		value        float64
		err          error
	}{}
	at := func(x []float64) {
		if last.at != nil && slices.Equal(last.at, x) {
			return
		}
		last.at = append(last.at[:0], x...)
		if last.err == nil {
			last.value, last.gradient, last.err = f(x)
		}
		if last.err != nil {
			last.value, last.gradient = math.NaN(), make([]float64, len(x))
		}
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { at(x); return last.value },
		Grad: func(g, x []float64) { at(x); copy(g, last.gradient) },
		Status: func() (optimize.Status, error) {
			switch {
			case last.err != nil:
				return optimize.Failure, last.err
			case last.at != nil && last.value < enough:
				return optimize.FunctionThreshold, nil
			}
			return optimize.NotTerminated, nil
		},
	}
	r, err := optimize.Minimize(problem, start, &optimize.Settings{
		MajorIterations: iterations,
		Converger:       &optimize.FunctionConverge{Relative: settled, Iterations: settledIn},
	}, &optimize.LBFGS{Store: history})
	switch {
	case last.err != nil:
		return nil, last.err
	case r == nil:
		return nil, err
	}
	return r, nil // a line search that finds no better point has found the best one it can
}

// bandwidth returns γ²: the multiple of 1/s from 1/8 to 8 with the least loss on some records,
// evenly spread, where s is their median squared distance to the nearest vector of z.
func bandwidth(ctx context.Context, p, z Points) (float64, error) {
	sample := p.Subset(spread(p.Len(), nearestRows))
	distances := Search(z).nearest(sample)
	distances = slices.DeleteFunc(distances, func(d float64) bool { return d <= 0 })
	if len(distances) == 0 {
		return 1, nil
	}
	slices.Sort(distances)
	scale := distances[len(distances)/2]
	some := p.Subset(spread(p.Len(), gammaRows))
	l := &loss{u: some.X, dim: p.Dim, x: some.X, xdim: p.Dim, class: some.Class, from: bounds(z.Class, int(slices.Max(p.Class))+1)}
	best, least := 1/scale, math.Inf(1)
	for f := .125; f <= 8; f *= 2 {
		s, err := l.sums(ctx, z.X, f/scale)
		if err != nil {
			return 0, err
		}
		if s.value < least {
			best, least = f/scale, s.value
		}
	}
	return best, nil
}

// spread returns at most count of the numbers below n, evenly.
func spread(n, count int) []int {
	count = min(n, count)
	out := make([]int, count)
	for k := range out {
		out[k] = k * n / count
	}
	return out
}
