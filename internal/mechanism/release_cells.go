package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
)

// L1 bounds the sum of the absolute changes of the entries of a vector.
const L1 Norm = 1 << 4

// LaplaceCells releases a vector of counts by the Laplace mechanism: every entry plus
// round(Lap(b)) in grid units, b = ceil(sensitivity/epsilon). x carries an L1 sensitivity.
// The result is in the statistic's own measure. It spends draw 0 of a leaf priced as Pure,
// which fits any epsilon-private step. (Dwork, McSherry, Nissim and Smith 2006,
// proposition 1: the density of the noise changes by at most the factor
// exp(|x - x'|_1/b).)
func LaplaceCells(
	s *Session,
	name string,
	x Bounded[Vector],
) (Public[[]float64], error) {
	x, err := perUnit(s, name, x, L1)
	if err != nil {
		return Public[[]float64]{}, err
	}
	if len(x.value) == 0 {
		return Public[[]float64]{}, fmt.Errorf("%w: %q", ErrEmpty, s.childPath(name))
	}
	t, err := s.takeDraw(name, 0, budget.Pure, x.statistic)
	if err != nil {
		return Public[[]float64]{}, err
	}
	b, err := s.scaleUp(roundUp(x.sens / t.law.Epsilon))
	if err != nil {
		return Public[[]float64]{}, fmt.Errorf("%w: %q", err, t.path)
	}
	b = s.core.tap.laplaceScale(b, x.sens, t.law.Epsilon)
	out := make(Vector, len(x.value))
	for i, v := range x.value {
		out[i] = addSaturating(v, t.random.Laplace(b))
	}
	out = s.core.tap.watchCells(
		t,
		x.value,
		x.sens,
		s.core.tap.noisyCounts(x.value, out),
	)
	s.noteRelease(t, x.Sensitivity(), float64(b)*x.unit)
	return Public[[]float64]{toFloats(out, x.unit)}, nil
}

// LaplaceDeviation returns the standard deviation of the noise of a leaf that [LaplaceCells] has released: sqrt2 times its
// scale. It is 0 before the release.
func LaplaceDeviation(s *Session, name string) float64 {
	return math.Sqrt2 * s.Scale(name)
}

// CellBound returns the weighted counts of [Histogram.Bound] with their L1 sensitivity.
//
// Add or remove one record: in column j at most one cell moves, by its weight w_j, so the
// change is at most sum w_j: 1 for a single column of weight 1. Substitution: in each
// column at most one cell falls by w_j and one rises by w_j, so at most 2 sum w_j. Both are
// attained.
func (h *Histogram) CellBound() Bounded[Vector] {
	x := h.Bound()
	sens := 0
	for _, w := range h.weights {
		sens += w
	}
	if h.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[Vector]{x.value, L1, float64(sens) / countUnit, countUnit, StatCells}
}

// StatCells is the statistic of [Histogram.CellBound].
const StatCells budget.Statistic = "cells"
