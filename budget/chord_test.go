package budget

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// TestChord checks that randomised response attains its chord everywhere, even if a share delta of the records is
// revealed. The curve of a Gaussian is below each of its own chords, including at 0.
func TestChord(t *testing.T) {
	for _, epsilon := range []float64{1e-4, .3, 1, 5, 40, 800} {
		for _, delta := range []float64{0, 1e-6, .2, 1} {
			for k := range 11 {
				x := epsilon * float64(k) / 10
				p := 1 / (1 + math.Exp(-epsilon)) // probability of a true answer
				want := delta + (1-delta)*math.Max(
					0,
					p-math.Exp(x-epsilon)*p,
				)
				checkNear(
					t,
					"chord",
					chord{epsilon, delta}.deltaAt(x),
					want,
					1e-12*(1+1/epsilon),
				)
			}
		}
		at := (chord{epsilon, 0}).deltaAt(epsilon * 1.001)
		if !math.IsInf(at, 1) {
			t.Errorf("%v beyond the end", at)
		}
	}
	for _, mu := range []float64{.1, 1, 4} {
		for _, end := range []float64{.1, 1, 3} {
			c := chord{end, gaussianDelta(mu, end)}
			for k := range 21 {
				x := end * float64(k) / 20
				exact := gaussianDelta(mu, x)
				if exact > c.deltaAt(x) {
					t.Errorf(
						"mu %v, from %v: %v at %v is above %v",
						mu,
						end,
						exact,
						x,
						c.deltaAt(x),
					)
				}
			}
		}
	}
}

// TestChordOfSelection checks that the price of a selection decreases, is at no epsilon larger than without the
// chord, and is smaller where the chord applies. Its mu covers it and is below that of an epsilon-private step, whose
// delta is 0.
func TestChordOfSelection(t *testing.T) {
	for _, epsilon := range []float64{.1, 1, 3} {
		s, err := SelectionForMean(0, 10)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Calibrate(
			SelectBest(
				"best", s,
				GaussianLeaf("a", 1, 1),
				GaussianLeaf("b", 1, 1),
			),
			Target{Epsilon: epsilon, Delta: 1e-6},
		)
		if err != nil {
			t.Fatal(err)
		}
		a := p.root.account
		mu := p.Guarantee().Mu
		last := 1.
		end := a.tangentChord().epsilon
		if !(end > 0 && end < epsilon) {
			t.Errorf(
				"epsilon %v: the chord ends at %v",
				epsilon, end,
			)
		}
		for k := range 41 {
			x := epsilon * float64(k) / 20
			d := p.Delta(x)
			point := a.ledger.deltaAt(x)
			if d > last ||
				d > point ||
				x < a.tangentChord().epsilon/2 && d > .9*point {
				t.Errorf(
					"epsilon %v: delta %v at %v, %v by the Rényi curve, %v before",
					epsilon,
					d,
					x,
					point,
					last,
				)
			}
			g := gaussianDelta(mu, x)
			if d > g*(1+1e-9) {
				t.Errorf(
					"epsilon %v: mu %v gives %v at %v, not %v",
					epsilon, mu, g, x, d,
				)
			}
			last = d
		}
		most := -2 * mathext.NormalQuantile(1/(1+math.Exp(epsilon)))
		if !(mu < .8*most) {
			t.Errorf(
				"epsilon %v: mu %v, not well below %v",
				epsilon, mu, most,
			)
		}
	}
}
