package mechanism

import (
	"errors"
	"slices"
	"testing"
)

// spendParts releases parts of draw 0 of "g", part i with weights(i), and returns the sum of the squares of their parameters.
func spendParts(t *testing.T, s *Session, parts [][]int) float64 {
	t.Helper()
	mu2 := 0.
	for part, weights := range parts {
		x := s.NewBinSums(2, float64(part+1)).Bound() // increasing, so that the event has the scale of this part
		_, err := GaussianShare(s, "g", 0, part, weights, x)
		if err != nil {
			t.Fatal(err)
		}
		ratio := x.Sensitivity() / s.Scale("g")
		mu2 += ratio * ratio
	}
	return mu2
}

// TestSharesAreDividedAnew checks that the remaining parts may take other weights with the same sum, and that all
// parts together spend the parameter of the draw.
func TestSharesAreDividedAnew(t *testing.T) {
	for _, later := range [][]int{
		{5, 4},
		{1, 2, 3, 3},
		{9},
	} {
		s := partSession(t)
		parts := [][]int{{4, 3, 6}}
		for range later {
			parts = append(parts, slices.Concat([]int{4}, later))
		}
		mu2 := spendParts(t, s, parts)
		mu := s.Mu("g")
		if !(mu2 <= mu*mu) ||
			mu2 < mu*mu*(1-1e-3) {
			t.Errorf(
				"%v: the parts spend mu² %v of %v",
				later, mu2, mu*mu,
			)
		}
		e := s.Events()[0]
		if e.Released != 1 {
			t.Errorf(
				"%v: %d draws counted after the last part",
				later, e.Released,
			)
		}
	}
}

// TestSharesKeepTheirSum checks that shares already spent cannot change, and that the sum of the shares cannot
// either.
func TestSharesKeepTheirSum(t *testing.T) {
	for _, later := range [][]int{
		{4, 10},
		{4, 3, 5},
		{3, 10}, {5, 8},
		{13},
		{4, 3, 6, 1},
		{},
	} {
		s := partSession(t)
		spendParts(t, s, [][]int{{4, 3, 6}})
		_, err := GaussianShare(
			s, "g", 0, 1, later,
			s.NewBinSums(2, 1).Bound(),
		)
		if !errors.Is(err, ErrSpent) {
			t.Errorf(
				"%v after {4, 3, 6}: %v",
				later, err,
			)
		}
	}
	s := partSession(t)
	spendParts(t, s, [][]int{{4, 9}, {4, 9}})
	_, err := GaussianShare(
		s,
		"g",
		0,
		2,
		[]int{4, 8, 1},
		s.NewBinSums(2, 1).Bound(),
	)
	if !errors.Is(
		err, ErrSpent) {
		t.Errorf("a part after the last: %v", err)
	}
}
