package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
)

// Mu returns the Gaussian privacy parameter, for one record, of each draw of a
// planned Gaussian leaf, a public fact: the draw's noise has the standard
// deviation [Bounded.Sensitivity]/Mu, up to rounding. Where the session protects
// units of m records that is the m-th part of the law's parameter, which is the
// unit's. It is 0 for any other name.
func (s *Session) Mu(name string) float64 {
	law, ok := s.core.priced.Law(s.join(name))
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
// For every value of the releases before it the draw as a whole is therefore
// the adaptive composition of parts steps of Mu/sqrt(parts), which is
// Mu-GDP (Dong, Roth and Su 2022, theorem 3.2 and corollary 3.3): what the
// leaf was priced as. If not all parts of a draw are released, it has cost less.
func GaussianPart(s *Session, name string, draw, part, parts int, x Bounded[Vector]) (Public[[]float64], error) {
	x, err := perUnit(s, name, x, L2)
	if err != nil {
		return Public[[]float64]{}, err
	}
	if len(x.value) == 0 {
		return Public[[]float64]{}, fmt.Errorf("%w: %q", ErrEmpty, s.join(name))
	}
	t, err := s.takePart(name, draw, part, parts, x.of)
	if err != nil {
		return Public[[]float64]{}, err
	}
	sigma, err := s.scaleUp(up(x.sens * math.Sqrt(float64(parts)) / t.law.Mu))
	if err != nil {
		return Public[[]float64]{}, fmt.Errorf("%w: %q", err, t.path)
	}
	out := make(Vector, len(x.value))
	for i, v := range x.value {
		out[i] = addSaturating(v, t.noise.normal(sigma))
	}
	out = s.core.tap.vector(t, x.value, x.sens, out)
	s.notePart(t, parts, x.Sensitivity(), float64(sigma)*x.unit)
	return Public[[]float64]{floats(out, x.unit)}, nil
}

// drawID names a draw of a leaf.
type drawID struct {
	path string
	draw int
}

// progress says how far a draw in parts has come.
type progress struct{ parts, next int }

// takePart spends a part of a draw: the first takes the draw, a later one must
// be the next of as many.
func (s *Session) takePart(name string, draw, part, parts int, of budget.Statistic) (ticket, error) {
	id := drawID{s.join(name), draw}
	if part < 0 || part >= parts {
		return ticket{}, fmt.Errorf("%w: part %d of %d of %q", ErrSpent, part, parts, id.path)
	}
	law, _ := s.core.priced.Law(id.path)
	if part == 0 {
		t, err := s.take(name, draw, budget.Gaussian, of)
		if err != nil {
			return ticket{}, err
		}
		law = t.law
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	if part == 0 {
		s.core.parts[id] = progress{parts: parts}
	}
	p, begun := s.core.parts[id]
	if err := s.core.ready(id.path); err != nil {
		return ticket{}, err
	}
	if !begun || p.parts != parts || p.next != part {
		return ticket{}, fmt.Errorf("%w: part %d of %d of draw %d of %q", ErrSpent, part, parts, draw, id.path)
	}
	s.core.parts[id] = progress{parts, part + 1}
	key := derive(s.core.key, "noise part", id.path, uint64(draw)<<32|uint64(part))
	return ticket{path: id.path, draw: draw, part: part, try: s.core.try, law: law, noise: newStream(key)}, nil
}

// notePart records the description of a part; a draw counts as released with
// its last part.
func (s *Session) notePart(t ticket, parts int, sensitivity, scale float64) {
	s.note(t, sensitivity, scale)
	if t.part+1 == parts {
		return
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	e := s.core.events[t.path]
	e.Released--
	s.core.events[t.path] = e
}
