package budget

import (
	"math"
	"testing"
)

// TestMuOfBlackBox checks that a step with a positive probability of an infinite loss has no mu, however small the
// probability is.
func TestMuOfBlackBox(t *testing.T) {
	for _, delta := range []float64{1e-10, 1.2e-10, 1e-6} {
		law := Law{
			Kind:    Approximate,
			Epsilon: 1,
			Delta:   .9 * delta,
			Draws:   1,
		}
		p, err := Calibrate(
			Sequence(
				"run", FixedLeaf("box", law),
				GaussianLeaf("rest", 1, 1),
			),
			Target{Epsilon: 3, Delta: delta},
		)
		if err != nil {
			t.Fatal(err)
		}
		mu := p.Guarantee().Mu
		if !math.IsInf(mu, 1) {
			t.Errorf("delta %v: mu %v", delta, mu)
		}
	}
}
