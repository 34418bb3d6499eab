package budget

import (
	"math"
	"testing"
)

// informedChoice is the plan of a run that first asks a question and then pays for one of two branches. All steps are
// Gaussian; the second branch also has a probability of an infinite loss.
func informedChoice(ask, first, second, lost float64) Node {
	gaussian := func(name string, mu float64) Node {
		return FixedLeaf(name, Law{
			Kind:  Gaussian,
			Mu:    mu,
			Draws: 1,
		})
	}
	return Sequence("run", gaussian("ask", ask), Branches("choice",
		Sequence("nothing"),
		Sequence("first", gaussian("model", first)),
		Sequence("second",
			FixedLeaf("words", Law{Kind: Approximate, Delta: lost, Draws: 1}),
			gaussian("model", second),
		),
	))
}

// TestChoiceCoversWhatIsChosen checks that an adversary who sees the answer and then takes the more harmful branch
// attains no more than the price. The answer y is N(ask, 1) for one neighbour and N(0, 1) for the other. For a rule
// that takes the second branch on one side of a threshold t, the curve is the mean over y of the branch's curve at
// epsilon less the loss of y. It is summed over a fine grid.
func TestChoiceCoversWhatIsChosen(t *testing.T) {
	for _, c := range []struct{ ask, first, second, lost float64 }{
		{.2, .9, .8, 1e-3},
		{.5, .5, .9, 1e-2},
		{1, 1, 1, 1e-6},
		{.1, 2, .3, .05},
		{.02, .24, .23, 1e-11},
	} {
		priced, err := Calibrate(
			informedChoice(c.ask, c.first, c.second, c.lost),
			Target{Epsilon: 60, Delta: .9},
		)
		if err != nil {
			t.Fatal(err)
		}
		const h = 1. / 256
		for _, epsilon := range []float64{0, .3, 1, 2, 4} {
			price := priced.Delta(epsilon)
			for _, above := range []bool{false, true} {
				for _, at := range []float64{
					-20, -1.5, -.5, 0,
					.4, 1.1, 2.5, 20,
				} {
					sum := 0.
					for y := -10.; y < 12; y += h {
						x := y + h/2
						p := math.Exp(-(x-c.ask)*(x-c.ask)/2) / math.Sqrt(2*math.Pi) * h
						rest := epsilon - (c.ask*x - c.ask*c.ask/2)
						way := gaussianDelta(c.first, rest)
						if (x > at) == above {
							way = c.lost + (1-c.lost)*gaussianDelta(c.second, rest)
						}
						sum += p * way
					}
					if sum > price*(1+1e-6)+1e-12 {
						t.Errorf(
							"%+v: a rule at %v attains %v at epsilon %v, and the price is %v",
							c,
							at,
							sum,
							epsilon,
							price,
						)
					}
				}
			}
			// The price is no more than the composition with the more expensive branch alone.
			worst := c.lost +
				(1-c.lost)*
					gaussianDelta(
						math.Hypot(c.ask, max(c.first, c.second)),
						epsilon,
					)
			if price > worst*
				(1+1e-9)+1e-13 {
				t.Errorf(
					"%+v: the price at %v is %v, and all of it at once costs %v",
					c,
					epsilon,
					price,
					worst,
				)
			}
		}
	}
}

// TestMuCoversNegligibleLoss checks that a run with a negligible probability of an infinite loss has a mu whose curve
// covers it wherever delta matters, and that a run with a larger probability has no mu.
func TestMuCoversNegligibleLoss(t *testing.T) {
	price := func(lost float64) Guarantee {
		priced, err := Calibrate(
			informedChoice(.02, .235, .23, lost),
			Target{Epsilon: 60, Delta: .9},
		)
		if err != nil {
			t.Fatal(err)
		}
		g := priced.Guarantee()
		if math.IsInf(g.Mu, 1) {
			return g
		}
		for e := 0.; e < 3; e += .01 {
			d := priced.Delta(e)
			if d >= MinDelta && d > gaussianDelta(g.Mu, e) {
				t.Errorf(
					"lost %v: delta at %v is %v, and that of mu %v",
					lost,
					e,
					d,
					gaussianDelta(g.Mu, e),
				)
			}
		}
		return g
	}
	without := math.Hypot(.02, .235)
	g := price(MinDelta / 10)
	if !(g.Mu >= without && g.Mu < without*1.004) {
		t.Errorf(
			"mu is %v, and without the loss %v",
			g.Mu, without,
		)
	}
	g = price(MinDelta / 5)
	if !math.IsInf(g.Mu, 1) {
		t.Errorf("mu is %v", g.Mu)
	}
}

// TestChargeWithNegligibleLossUsesMu checks that a run with a negligible probability of an infinite loss is charged by
// its mu and not by the sum of its steps, where the held-out part would be the most expensive.
func TestChargeWithNegligibleLossUsesMu(t *testing.T) {
	train := Sequence("train",
		GaussianLeaf("ask", .005, 1),
		Branches("choice",
			Sequence("nothing"),
			Sequence("first", GaussianLeaf("model", .995, 1)),
			Sequence("second",
				FixedLeaf("words", Law{
					Kind:  Approximate,
					Delta: MinDelta / 10,
					Draws: 1,
				}),
				GaussianLeaf("model", .995, 1),
			),
		),
	)
	root := Parallel(
		"fit", train,
		Sequence("holdout", GaussianLeaf("metric", 1, 1)),
	)
	root.Coin = .1
	priced, err := Calibrate(root, Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	price, mu := priced.ChargeWithin(Total{
		Epsilon:  2,
		Delta:    1e-5,
		Currency: ZCDP,
		BlackBox: 5e-6,
	})
	g := priced.Guarantee()
	if mu != g.Mu ||
		price != CoverCharge(ZCDP, g.Mu, MinDelta/10) ||
		price.Cost >= priced.Charge(ZCDP).Cost {
		t.Errorf(
			"price %+v, mu %v; the guarantee has mu %v",
			price, mu, g.Mu,
		)
	}
}
