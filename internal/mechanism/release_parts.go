package mechanism

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// Mu returns the Gaussian privacy parameter per record of each draw of a planned Gaussian leaf, which is public: the noise
// of the draw has the standard deviation [Bounded.Sensitivity]/Mu, up to rounding. If the session protects units of m
// records, it is 1/m of the parameter of the unit. It is 0 for any other name.
func (s *Session) Mu(name string) float64 {
	law, ok := s.core.priced.Law(s.childPath(name))
	if !ok || law.Kind != budget.Gaussian {
		return 0
	}
	return law.Mu / float64(s.unitRecords())
}

// GaussianPart is [GaussianDraw] for a draw that is spent in several equal
// parts: part number part of parts >= 1, in order from 0. Each has the
// parameter Mu/sqrt(parts), and later parts may depend on what earlier ones
// released. The number of parts is fixed by the first one; it may depend on
// anything released before.
//
// For every value of the earlier releases the whole draw is therefore the adaptive
// composition of parts steps of Mu/sqrt(parts), which is Mu-GDP (Dong, Roth and Su
// 2022, theorem 3.2 and corollary 3.3), the price of the leaf. A draw with unreleased
// parts has cost less.
func GaussianPart(
	s *Session,
	name string,
	draw, part, parts int,
	x Bounded[Vector],
) (Public[[]float64], error) {
	return GaussianShare(s, name, draw, part, slices.Repeat([]int{1}, max(parts, 0)), x)
}

// GaussianShare is [GaussianPart] for unequal parts. Part number part, in order from 0, has the
// parameter Mu sqrt(w/W), where w is its weight and W the sum of all weights. Weights are in
// [1, 2^30] and may depend on earlier releases. Their sum is fixed by the first part and the weight
// of a part by that part; the weights of later parts may change, and so may their number.
//
// The squares of the parameters sum to Mu^2 exactly, because weights are whole numbers, so the
// argument of [GaussianPart] holds: given the releases before the draw, it is the adaptive
// composition of fixed steps and Mu-GDP. If weights change after weights of sum V are spent, the
// spent parts are sqrt(V/W) Mu-GDP. Given their outputs, the remaining parts are a composition of
// fixed steps and therefore sqrt((W-V)/W) Mu-GDP for any new weights. The two compose to Mu
// (corollary 3.3 again).
func GaussianShare(
	s *Session,
	name string,
	draw, part int,
	weights []int,
	x Bounded[Vector],
) (Public[[]float64], error) {
	x, err := perUnit(s, name, x, L2)
	if err != nil {
		return Public[[]float64]{}, err
	}
	if len(x.value) == 0 {
		return Public[[]float64]{}, fmt.Errorf("%w: %q", ErrEmpty, s.childPath(name))
	}
	t, err := s.takePart(name, draw, part, weights, x.statistic)
	if err != nil {
		return Public[[]float64]{}, err
	}
	sigma, err := s.scaleUp(roundUp(x.sens * math.Sqrt(inverseShare(weights, part)) / t.law.Mu))
	if err != nil {
		return Public[[]float64]{}, fmt.Errorf("%w: %q", err, t.path)
	}
	out := make(Vector, len(x.value))
	for i, v := range x.value {
		out[i] = addSaturating(v, t.random.Normal(sigma))
	}
	out = s.core.tap.watchVector(t, x.value, x.sens, out)
	s.notePart(t, len(weights), x.Sensitivity(), float64(sigma)*x.unit)
	return Public[[]float64]{toFloats(out, x.unit)}, nil
}

// inverseShare returns the sum of the weights divided by the weight of one part.
func inverseShare(weights []int, part int) float64 {
	return float64(sumOf(weights)) / float64(weights[part])
}

func sumOf(weights []int) int64 {
	sum := int64(0)
	for _, w := range weights {
		sum += int64(w)
	}
	return sum
}

// drawID names a draw of a leaf.
type drawID struct {
	path string
	draw int
}

// partProgress is the state of a draw that is spent in parts.
type partProgress struct {
	weights []int // of all parts
	next    int   // index of the next part
}

// takePart spends a part of a draw. The first part takes the draw. A later part must be
// the next one, the weights of the parts before it must be unchanged, and so must the
// sum of all weights.
func (s *Session) takePart(
	name string,
	draw, part int,
	weights []int,
	of budget.Statistic,
) (ticket, error) {
	id := drawID{s.childPath(name), draw}
	if part < 0 || part >= len(weights) || slices.Min(weights) < 1 || slices.Max(weights) > 1<<30 {
		return ticket{},
			fmt.Errorf("%w: part %d of %d of %q", ErrSpent, part, len(weights), id.path)
	}
	law, _ := s.core.priced.Law(id.path)
	if part == 0 {
		t, err := s.takeDraw(name, draw, budget.Gaussian, of)
		if err != nil {
			return ticket{}, err
		}
		law = t.law
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	if part == 0 {
		s.core.parts[id] = partProgress{weights: slices.Clone(weights)}
	}
	p := s.core.parts[id]
	if err := s.core.checkReady(id.path); err != nil {
		return ticket{}, err
	}
	if p.next != part || !slices.Equal(p.weights[:part], weights[:part]) ||
		sumOf(p.weights) != sumOf(weights) {
		return ticket{},
			fmt.Errorf("%w: part %d of %d of draw %d of %q", ErrSpent, part, len(weights), draw,
				id.path)
	}
	s.core.parts[id] = partProgress{slices.Clone(weights), part + 1}
	key := s.core.key.Derive("noise part", id.path, uint64(draw)<<32|uint64(part))
	return ticket{
		path:   id.path,
		draw:   draw,
		part:   part,
		try:    s.core.try,
		law:    law,
		random: noise.NewStream(key),
	}, nil
}

// notePart records the description of a part. A draw counts as released after its last part.
func (s *Session) notePart(t ticket, parts int, sensitivity, scale float64) {
	s.noteRelease(t, sensitivity, scale)
	if t.part+1 == parts {
		return
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	e := s.core.events[t.path]
	e.Released--
	s.core.events[t.path] = e
}
