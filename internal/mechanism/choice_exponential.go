package mechanism

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
)

// Choose releases the index of a candidate by the exponential mechanism:
// candidate j with probability proportional to exp(epsilon u_j / width), where
// width = b - a bounds the range [a, b] of the change of any score when a
// record is added. The step is epsilon-bounded-range (range lemma,
// docs/methods/kendall.md, "Sensitivity and proof"; McSherry and Talwar 2007).
// It spends draw number draw of a leaf priced as Exponential.
func Choose(s *Session, name string, draw int, scores Bounded[Vector]) (Public[int], error) {
	scores, err := perUnit(s, name, scores, Width)
	if err != nil {
		return Public[int]{}, err
	}
	if len(scores.value) == 0 {
		return Public[int]{}, fmt.Errorf("%w: %q", ErrEmpty, s.join(name))
	}
	t, err := s.take(name, draw, budget.Exponential, scores.of)
	if err != nil {
		return Public[int]{}, err
	}
	// P(j) ~ exp(u_j/scale), scale = width/epsilon, held with scaleBits more
	// binary digits and rounded up: a larger scale is a smaller epsilon.
	scale, err := scaleWithin(up(scores.sens/t.law.Epsilon*(1<<scaleBits)), maxChoiceScale)
	if err != nil {
		return Public[int]{}, fmt.Errorf("%w: %q", err, t.path)
	}
	j := s.core.tap.choice(t, scores.value, scores.sens, t.noise.choose(scores.value, scale))
	s.note(t, scores.Sensitivity(), 0)
	return Public[int]{j}, nil
}
