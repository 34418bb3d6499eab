package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
)

// Gaussian releases a vector of statistics by the Gaussian mechanism: every
// entry plus round(N(0, sigma^2)) in grid units, sigma = ceil(sensitivity/mu).
// x carries an L2 sensitivity. The result is in the statistic's own measure
// (grid units times the unit), one number per entry of x. It spends draw 0 of
// the leaf name, which must be priced as Gaussian; GaussianDraw spends another.
// (Dong, Roth and Su, "Gaussian differential privacy", 2022)
func Gaussian(
	s *Session,
	name string,
	x Bounded[Vector],
) (Public[[]float64], error) {
	return GaussianDraw(s, name, 0, x)
}

// GaussianDraw is [Gaussian] for draw number draw of a leaf with several.
func GaussianDraw(
	s *Session,
	name string,
	draw int,
	x Bounded[Vector],
) (Public[[]float64], error) {
	x, err := perUnit(s, name, x, L2)
	if err != nil {
		return Public[[]float64]{}, err
	}
	t, sigma, err := s.takeGaussian(name, draw, x.statistic, x.sens, len(x.value))
	if err != nil {
		return Public[[]float64]{}, err
	}
	out := make(Vector, len(x.value))
	for i, v := range x.value {
		out[i] = addSaturating(v, t.random.Normal(sigma))
	}
	out = s.core.tap.watchVector(
		t,
		x.value,
		x.sens,
		s.core.tap.noisyCounts(x.value, out),
	)
	s.noteRelease(t, x.Sensitivity(), float64(sigma)*x.unit)
	return Public[[]float64]{toFloats(out, x.unit)}, nil
}

// SymmetricGaussian releases a symmetric matrix with isometric noise: std sigma
// on the diagonal and sigma/sqrt2 off it, so that in the coordinates svec(A) =
// (A_ii, sqrt2 A_ij), in which the Frobenius norm is the Euclidean one, the
// noise is N(0, sigma^2 I) (docs/proofs/joint-gram.md, "Sensitivity and
// proof"). The sensitivity of x is the Frobenius norm of the change of all its matrices
// together. The result is packed like x.
func SymmetricGaussian(
	s *Session,
	name string,
	x Bounded[Symmetric],
) (Public[[]float64], error) {
	return SymmetricGaussianDraw(s, name, 0, x)
}

// SymmetricGaussianDraw is [SymmetricGaussian] for draw number draw of a leaf with several.
func SymmetricGaussianDraw(
	s *Session,
	name string,
	draw int,
	x Bounded[Symmetric],
) (Public[[]float64], error) {
	x, err := perUnit(s, name, x, L2)
	if err != nil {
		return Public[[]float64]{}, err
	}
	t, sigma, err := s.takeGaussian(
		name,
		draw,
		x.statistic,
		x.sens,
		len(x.value.Packed),
	)
	if err != nil {
		return Public[[]float64]{}, err
	}
	off := uint64(math.Ceil(roundUp(float64(sigma) / math.Sqrt2)))
	out := make(Vector, len(x.value.Packed))
	for k := 0; k < len(out); {
		for i := range x.value.P {
			for j := i; j < x.value.P; j, k = j+1, k+1 {
				scale := off
				if i == j {
					scale = sigma
				}
				out[k] = addSaturating(x.value.Packed[k], t.random.Normal(scale))
			}
		}
	}
	out = s.core.tap.watchSymmetric(t, x.value, x.sens, out)
	s.noteRelease(t, x.Sensitivity(), float64(sigma)*x.unit)
	return Public[[]float64]{toFloats(out, x.unit)}, nil
}

// takeGaussian spends a draw of a Gaussian leaf for n numbers and returns its
// standard deviation. sens is an L2 sensitivity that perUnit has seen.
func (s *Session) takeGaussian(
	name string,
	draw int,
	of budget.Statistic,
	sens float64,
	n int,
) (ticket, uint64, error) {
	if n == 0 {
		return ticket{}, 0, fmt.Errorf("%w: %q", ErrEmpty, s.childPath(name))
	}
	t, err := s.takeDraw(name, draw, budget.Gaussian, of)
	if err != nil {
		return ticket{}, 0, err
	}
	// mu = sensitivity/sigma, so sigma = sensitivity/mu; rounding sigma up only
	// lowers mu.
	sigma, err := s.scaleUp(roundUp(sens / t.law.Mu))
	if err != nil {
		return ticket{}, 0, fmt.Errorf("%w: %q", err, t.path)
	}
	return t, sigma, nil
}

// addSaturating adds without wrapping: the clamped sum is a function of the
// exact sum, hence post-processing.
func addSaturating(a, b int64) int64 {
	c := a + b
	switch {
	case a > 0 && b > 0 && c < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && c >= 0:
		return math.MinInt64
	}
	return c
}

func toFloats(v Vector, unit float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x) * unit
	}
	return out
}
