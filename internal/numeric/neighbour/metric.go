package neighbour

import (
	"context"
	"math"
	"slices"
)

// mapStep is the first step of the map's entries, over that of the vectors' coordinates and times γ.
const mapStep = .2

// minimizeMetric moves the vectors and the map A together, from A = γI. The thesis' equation (3.7) starts at
// γ²I, which would be γ⁴ in a squared distance.
func (l *loss) minimizeMetric(
	ctx context.Context,
	z Points,
	o Options,
) (Compressed, error) {
	d := l.xdim
	m := len(z.X)
	at := make([]float64, m+d*d)
	root := math.Sqrt(o.Gamma2)
	copy(at, z.X)
	for k := range d {
		at[m+k*d+k] = root
	}
	sizes := slices.Repeat([]float64{l.stepSize()}, len(at))
	for k := m; k < len(at); k++ {
		sizes[k] = mapStep * stepSize * root
	}
	err := l.movePrototypes(ctx, at, o, sizes,
		func(of *loss, at []float64) (float64, []float64, error) {
			return of.metricLoss(ctx, at[:m], at[m:])
		})
	if err != nil {
		return Compressed{}, err
	}
	value, _, err := l.metricLoss(ctx, at[:m], at[m:])
	z.X = applyMap(at[:m], at[m:], d)
	return Compressed{
		References: z,
		Metric:     at[m:],
		Gamma2:     1,
		Loss:       value,
	}, err
}

// applyMap returns A applied to every row of x.
func applyMap(x, a []float64, d int) []float64 {
	out := make([]float64, len(x))
	addProduct(out, x, transposed(a, d, d), len(x)/d, d, d)
	return out
}

// metricLoss returns L with distances ‖A(x - z)‖, and its derivatives: of z first, then of A. With
// C = Σ_i q_i xᵢᵀ and s the sums of q, ∂L/∂z_j = 2 AᵀA (C_j - s_j z_j), and ∂L/∂A = 2A (Cᵀz + zᵀC -
// zᵀdiag(s)z): the terms of x xᵀ vanish as Σ_j q_ij = 0.
func (l *loss) metricLoss(
	ctx context.Context,
	z, a []float64,
) (float64, []float64, error) {
	d := l.xdim
	of := *l
	of.u = applyMap(l.x, a, d)
	s, err := of.sumLoss(ctx, applyMap(z, a, d), 1)
	if err != nil {
		return 0, nil, err
	}
	gradient := make([]float64, len(z)+d*d)
	square := make([]float64, d*d)
	inner := make([]float64, d*d)
	addTransposed(square, a, a, d, d, d)
	rest := make([]float64, len(z)) // C - s z
	for k, v := range z {
		rest[k] = s.cross[k] - s.mass[k/d]*v
	}
	addProduct(gradient, rest, square, len(z)/d, d, d)
	addTransposed(inner, s.cross, z, len(z)/d, d, d)
	addTransposed(inner, z, rest, len(z)/d, d, d)
	addProduct(gradient[len(z):], a, inner, d, d, d)
	for k := range gradient {
		gradient[k] *= 2
	}
	return s.value, gradient, nil
}
