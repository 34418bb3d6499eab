package neighbour

import (
	"context"
	"errors"
	"math"
	"slices"
)

// Options are the choices of [Compress].
type Options struct {
	// Passes over the records; iterations of [ConjugateGradient].
	Passes int
	// Optimizer is one of [Optimizers]; empty is the first.
	Optimizer string
	// Gamma2 is γ², 0 for the best of a grid on some of the records.
	Gamma2 float64
	// Metric learns a linear map A of the vectors, too: distances are ‖A(x - z)‖.
	Metric bool
	// Seed is public: it determines the order of the records and the added perturbations.
	Seed uint64
}

// A Compressed is what [Compress] makes of records.
type Compressed struct {
	References Points // sorted by class; distances between them and records are Euclidean
	// Metric is A, Dim × Dim by row, or nil for the identity. References are then A z: they are near A x, not near x.
	Metric []float64
	Gamma2 float64 // 1 with a metric, which holds the scale
	Loss   float64 // -Σ log p over the records
}

const (
	gammaRows   = 2000 // records that γ² is chosen by
	nearestRows = 1000 // records that the scale of distances is read from
)

// Compress moves the rows start of p, to which they are copied, so that the other records find
// their class by them ("Stochastic Neighbor Compression"). Every class of p has a row in start. The coordinates
// of p are comparable, as those of a [Scaling] are. The error is that of ctx, or of p and start.
func Compress(
	ctx context.Context,
	p Points,
	start []int,
	o Options,
) (Compressed, error) {
	z := p.Subset(sortedByClass(p, start))
	count := int(slices.Max(p.Class)) + 1
	l := &loss{
		u:     p.X,
		dim:   p.Dim,
		x:     p.X,
		xdim:  p.Dim,
		class: p.Class,
		from:  classBounds(z.Class, count),
	}
	for _, c := range p.Class {
		if l.from[c] == l.from[c+1] {
			return Compressed{}, ErrClass
		}
	}
	if o.Optimizer != ConjugateGradient {
		if err := moveCenters(ctx, p, z, count); err != nil {
			return Compressed{}, err
		}
	}
	if o.Gamma2 == 0 {
		var err error
		if o.Gamma2, err = chooseBandwidth(ctx, p, z); err != nil {
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
	slices.SortStableFunc(out, func(a, b int) int {
		return int(p.Class[a]) - int(p.Class[b])
	})
	return out
}

// minimize moves the vectors z.
func (l *loss) minimize(
	ctx context.Context,
	z Points,
	o Options,
) (Compressed, error) {
	evaluate := func(of *loss, at []float64) (float64, []float64, error) {
		s, err := of.sumLoss(ctx, at, o.Gamma2)
		if err != nil {
			return 0, nil, err
		}
		return s.value, s.gradient(at, l.dim, o.Gamma2), nil
	}
	if err := l.movePrototypes(ctx, z.X, o, slices.Repeat([]float64{l.stepSize()}, len(z.X)),
		evaluate); err != nil {
		return Compressed{}, err
	}
	s, err := l.sumLoss(ctx, z.X, o.Gamma2)
	return Compressed{
		References: z,
		Gamma2:     o.Gamma2,
		Loss:       s.value,
	}, err
}

// movePrototypes moves at by the optimiser. evaluate returns the loss of some records and its gradient; sizes are the first steps of
// [Adam].
func (l *loss) movePrototypes(
	ctx context.Context,
	at []float64,
	o Options,
	sizes []float64,
	evaluate func(of *loss, at []float64) (float64, []float64, error),
) error {
	if o.Optimizer == ConjugateGradient {
		return minimizeConjugate(ctx, at, o.Passes, func(at []float64) (float64, []float64, error) {
			return evaluate(l, at)
		})
	}
	return l.newDescent(o, sizes).run(ctx, at, func(batch *loss, at []float64) ([]float64, error) {
		_, g, err := evaluate(batch, at)
		return g, err
	})
}

// newDescent returns one with steps of some sizes.
func (l *loss) newDescent(o Options, sizes []float64) *descent {
	return &descent{
		of:     l,
		passes: o.Passes,
		sizes:  sizes,
		jitter: 1 / math.Sqrt(2*o.Gamma2*float64(l.dim)),
		source: fixedSource(o.Seed),
	}
}

// stepSize is the first step of a vector's coordinates.
func (l *loss) stepSize() float64 {
	square := 0.
	for _, v := range l.x {
		square += v * v
	}
	return stepSize * math.Sqrt(square/float64(max(1, len(l.x))))
}

// chooseBandwidth returns γ²: the multiple of 1/s from 1/8 to 8 with the least loss on some records,
// evenly spread, where s is their median squared distance to the nearest vector of z.
func chooseBandwidth(ctx context.Context, p, z Points) (float64, error) {
	sample := p.Subset(evenlySpaced(p.Len(), nearestRows))
	distances := Search(z).nearestDistances(sample)
	distances = slices.DeleteFunc(distances, func(d float64) bool {
		return d <= 0
	})
	if len(distances) == 0 {
		return 1, nil
	}
	slices.Sort(distances)
	scale := distances[len(distances)/2]
	some := p.Subset(evenlySpaced(p.Len(), gammaRows))
	l := &loss{
		u:     some.X,
		dim:   p.Dim,
		x:     some.X,
		xdim:  p.Dim,
		class: some.Class,
		from:  classBounds(z.Class, int(slices.Max(p.Class))+1),
	}
	best, least := 1/scale, math.Inf(1)
	for f := .125; f <= 8; f *= 2 {
		s, err := l.sumLoss(ctx, z.X, f/scale)
		if err != nil {
			return 0, err
		}
		if s.value < least {
			best, least = f/scale, s.value
		}
	}
	return best, nil
}

// evenlySpaced returns at most count of the numbers below n, evenly.
func evenlySpaced(n, count int) []int {
	count = min(n, count)
	out := make([]int, count)
	for k := range out {
		out[k] = k * n / count
	}
	return out
}
