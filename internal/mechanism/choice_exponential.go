package mechanism

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// Choose releases the index of a candidate by the exponential mechanism:
// candidate j with probability proportional to exp(epsilon u_j / width), where
// width = b - a bounds the range [a, b] of the change of any score when a
// record is added. The step is epsilon-bounded-range (range lemma,
// docs/proofs/kendall.md, "Sensitivity and proof"; McSherry and Talwar 2007).
// It spends draw number draw of a leaf priced as Exponential.
func Choose(
	s *Session,
	name string,
	draw int,
	scores Bounded[Vector],
) (Public[int], error) {
	scores, err := perUnit(s, name, scores, Width)
	if err != nil {
		return Public[int]{}, err
	}
	if len(scores.value) == 0 {
		return Public[int]{}, fmt.Errorf("%w: %q", ErrEmpty, s.childPath(name))
	}
	t, err := s.takeDraw(name, draw, budget.Exponential, scores.statistic)
	if err != nil {
		return Public[int]{}, err
	}
	// P(j) ~ exp(u_j/scale), scale = width/epsilon, held with ChoiceScaleBits more
	// binary digits and rounded up: a larger scale is a smaller epsilon.
	scale, err := scaleWithin(roundUp(scores.sens/t.law.Epsilon*(1<<noise.ChoiceScaleBits)),
		noise.MaxChoiceScale)
	if err != nil {
		return Public[int]{}, fmt.Errorf("%w: %q", err, t.path)
	}
	j := s.core.tap.watchChoice(
		t,
		scores.value,
		scores.sens,
		t.random.ExponentialChoice(scores.value, scale),
	)
	s.noteRelease(t, scores.Sensitivity(), 0)
	return Public[int]{j}, nil
}

// ChooseEach releases one index per list, each by the exponential mechanism: candidate j of a
// list with probability proportional to exp(epsilon u_j / width), where width bounds the sum,
// over all lists, of the widths of the changes when a record is added. It spends draw number
// draw of a leaf priced as Exponential.
//
// If the scores of list k move by amounts in [a_k, b_k], the logarithm of the probability of an
// outcome moves by a constant and, for each list, by an amount in epsilon [a_k, b_k]/width. The
// widths of these ranges add up to at most epsilon, so the release is epsilon-bounded-range like
// one choice (range lemma, docs/proofs/kendall.md, "Sensitivity and proof").
func ChooseEach(
	s *Session,
	name string,
	draw int,
	scores Bounded[Lists],
) (Public[[]int], error) {
	scores, err := perUnit(s, name, scores, Width)
	if err != nil {
		return Public[[]int]{}, err
	}
	if len(scores.value.Scores) == 0 {
		return Public[[]int]{}, fmt.Errorf("%w: %q", ErrEmpty, s.childPath(name))
	}
	t, err := s.takeDraw(name, draw, budget.Exponential, scores.statistic)
	if err != nil {
		return Public[[]int]{}, err
	}
	scale, err := scaleWithin(roundUp(scores.sens/t.law.Epsilon*(1<<noise.ChoiceScaleBits)),
		noise.MaxChoiceScale)
	if err != nil {
		return Public[[]int]{}, fmt.Errorf("%w: %q", err, t.path)
	}
	var out []int
	for list := range slices.Chunk(scores.value.Scores, scores.value.Size) {
		out = append(out, t.random.ExponentialChoice(list, scale))
	}
	out = s.core.tap.watchLists(t, scores.value, scores.sens, out)
	s.noteRelease(t, scores.Sensitivity(), 0)
	return Public[[]int]{out}, nil
}
