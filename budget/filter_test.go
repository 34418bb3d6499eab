package budget

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestLimitValues(t *testing.T) {
	for _, v := range []struct {
		total     Total
		want, rel float64
	}{
		// The values are rho = .5 and .1 of the published conversions, and the mu of the Gaussian.
		{Total{Epsilon: 4.72839, Delta: 1e-5}, 0.5, 3e-6},
		{Total{Epsilon: 2.14194, Delta: 1e-6}, 0.1, 5e-6},
		{
			Total{
				Epsilon:  1,
				Delta:    1e-6,
				Currency: GDP,
			},
			0.236704380664 * 0.236704380664,
			1e-11,
		},
		{
			Total{
				Epsilon:  10,
				Delta:    1e-6,
				Currency: GDP,
			},
			1.848132205767 * 1.848132205767,
			1e-11,
		},
		// A black-box share is subtracted from delta before converting.
		{
			Total{
				Epsilon:  1,
				Delta:    3e-6,
				BlackBox: 2e-6,
				Currency: GDP,
			},
			0.236704380664 * 0.236704380664,
			1e-9,
		},
	} {
		limit, err := v.total.Limit()
		if err != nil {
			t.Fatal(err)
		}
		cost, delta := limit.Value()
		checkNear(
			t,
			fmt.Sprintf("limit of %+v", v.total),
			cost, v.want, v.rel,
		)
		if delta > v.total.BlackBox || delta < v.total.BlackBox-deltaUnit {
			t.Errorf(
				"black-box delta %v of %v",
				delta, v.total.BlackBox,
			)
		}
		e := v.total.EpsilonOf(limit)
		if e > v.total.Epsilon {
			t.Errorf(
				"%+v: the limit promises %v only",
				v.total, e,
			)
		}
		limit.Cost += int64(math.Ceil(float64(limit.Cost) * 1e-9))
		e = v.total.EpsilonOf(limit)
		if e <= v.total.Epsilon*(1-1e-9) {
			t.Errorf(
				"%+v: the limit is not the largest: %v",
				v.total, e,
			)
		}
	}
}

func TestLimitRefuses(t *testing.T) {
	for _, total := range []Total{
		{},
		{Epsilon: 1},
		{Epsilon: -1, Delta: 1e-6},
		{Epsilon: 1, Delta: 1},
		{Epsilon: math.NaN(), Delta: 1e-6},
		{
			Epsilon:  1,
			Delta:    1e-6,
			BlackBox: 1e-6,
		},
		{
			Epsilon:  1,
			Delta:    1e-6,
			BlackBox: -1,
		},
		{
			Epsilon:  1,
			Delta:    1e-6,
			BlackBox: math.NaN(),
		},
		{
			Epsilon:  1,
			Delta:    1e-10,
			BlackBox: 5e-11,
		},
		{Epsilon: 1e6, Delta: 1e-6},
		{Epsilon: 1e-9, Delta: 1e-10},
		{
			Epsilon:  1,
			Delta:    1e-6,
			Currency: 7,
		},
		{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: 9,
		},
		{Epsilon: math.Inf(1), Delta: 1e-6},
	} {
		limit, err := total.Limit()
		if !errors.Is(err, ErrTarget) {
			t.Errorf(
				"%+v: %v, %v",
				total, limit, err,
			)
		}
	}
}

// TestCharge prices trees with known costs.
func TestCharge(t *testing.T) {
	gauss := func(name string, mu float64, draws int) Node {
		return FixedLeaf(name, Law{
			Kind:  Gaussian,
			Mu:    mu,
			Draws: draws,
		})
	}
	em := FixedLeaf("em", Law{Kind: Exponential, Epsilon: .4, Draws: 5})
	lap := FixedLeaf("lap", Law{Kind: Laplace, Epsilon: .1, Draws: 1})
	box := FixedLeaf("box", Law{
		Kind:    Approximate,
		Epsilon: .5,
		Delta:   1e-7,
		Draws:   2,
	})
	// muHalf is the mu of an epsilon-private step, from Phi(mu/2) = e^epsilon/(1+e^epsilon).
	const muHalf = 0.6238925920985 // epsilon .5
	for _, v := range []struct {
		name             string
		tree             Node
		zcdp, gdp, delta float64
	}{
		{"leaf", gauss("g", .5, 1), .125, .25, 0},
		{"draws", gauss("g", .5, 4), .5, 1, 0},
		{
			"seq",
			Sequence(
				"s",
				gauss("a", .5, 1),
				gauss("b", 1, 1),
			),
			.625, 1.25, 0,
		},
		{
			"par",
			Parallel(
				"p",
				gauss("a", .5, 1),
				gauss("b", 1, 1),
			),
			.5, 1, 0,
		},
		{"exponential", em, 5 * .16 / 8, -1, 0},
		{"black box", box, .25, 2 * muHalf * muHalf, 2e-7},
		{
			"one of",
			Branches(
				"o", lap,
				gauss("a", .5, 1),
				Sequence("b", gauss("c", .2, 1), em),
			),
			.005 + .125,
			-1,
			0,
		},
		{
			"delta of a par is the largest",
			Parallel(
				"p", Sequence("a", box),
				gauss("g", 1, 1),
			),
			.5,
			1,
			2e-7,
		},
	} {
		for c, want := range map[Currency]float64{ZCDP: v.zcdp, GDP: v.gdp} {
			got, err := ChargeLaws(v.tree, c)
			if err != nil {
				t.Fatal(err)
			}
			cost, delta := got.Value()
			if want >= 0 {
				checkNear(t, v.name+" "+c.String(), cost, want, 1e-8)
				if cost < want*(1-1e-12) {
					t.Errorf(
						"%s %v is not rounded up: %v",
						v.name, c, cost,
					)
				}
			}
			if delta < v.delta || delta > v.delta+2*deltaUnit {
				t.Errorf(
					"%s: delta %v, want %v",
					v.name, delta, v.delta,
				)
			}
		}
	}
}

// TestGDPMu compares the smallest mu with the curves on a fine grid. It must never be below the mu that a point
// requires, and be within 1e-4 of it at the worst point.
func TestGDPMu(t *testing.T) {
	for _, epsilon := range []float64{
		1e-3, .01, .1, .5, 1,
		2, 5, 10,
	} {
		for _, kind := range []Kind{Laplace, Exponential, Pure} {
			law := Law{
				Kind:    kind,
				Epsilon: epsilon,
				Draws:   1,
			}
			mu := law.GDPMu()
			most := 0.0
			for i := range 4000 {
				e := epsilon * float64(i) / 4000
				if gaussianDelta(mu, e) < law.DeltaAt(e) {
					t.Errorf(
						"%v %v: the Gaussian of mu %v is below the law at %v",
						kind,
						epsilon,
						mu,
						e,
					)
				}
				need, _ := gaussianMuBracket(e, law.DeltaAt(e), 1e-10)
				most = math.Max(most, need)
			}
			if kind != Pure && mu > most*(1+1e-4) { // Pure meets its Gaussian on the diagonal only
				t.Errorf(
					"%v %v: mu %v, need %v",
					kind, epsilon, mu, most,
				)
			}
			pure := (Law{Kind: Pure, Epsilon: epsilon, Draws: 1}).GDPMu()
			if mu > pure {
				t.Errorf(
					"%v %v: mu %v above that of a pure step, %v",
					kind, epsilon, mu, pure,
				)
			}
		}
	}
	mu := (Law{Kind: Pure, Epsilon: 1, Draws: 1}).GDPMu()
	if math.Abs(mu-1.2320353853449) > 1e-6 {
		t.Errorf("pure 1: mu %.9g", mu) // 2 Phi^-1(e/(1+e))
	}
}

// TestChargeIsAnUpperBound checks that the bound that a filter derives from the charge of a tree is never below the
// one that the accountants prove for the tree itself.
func TestChargeIsAnUpperBound(t *testing.T) {
	tree := Parallel("fit",
		Sequence("train",
			ExponentialLeaf("q", .1, 12),
			LaplaceLeaf("c", .05, 1),
			GaussianLeaf("gram", .85, 1),
		),
		GaussianLeaf("holdout", 1, 1),
	)
	for _, epsilon := range []float64{.1, 1, 4} {
		p, err := Calibrate(tree, Target{Epsilon: epsilon, Delta: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Currency{ZCDP, GDP} {
			charge := p.Charge(c)
			total := Total{
				Epsilon:  epsilon,
				Delta:    1e-6,
				Currency: c,
			}
			e := total.EpsilonOf(charge)
			if e < p.Epsilon(1e-6)*(1-1e-4) ||
				e > 1.35*epsilon {
				t.Errorf(
					"epsilon %v, %v: the charge promises %v, the accountants prove %v",
					epsilon,
					c,
					e,
					p.Epsilon(1e-6),
				)
			}
			again, err := ChargeLaws(fixedTree(p.Tree()), c)
			if err != nil || again != charge {
				t.Errorf(
					"priced %v, from its laws %v, %v",
					charge, again, err,
				)
			}
		}
	}
}

// fixedTree replaces every law of a calibrated tree by a fixed one.
func fixedTree(n Node) Node {
	n.walkLeaves(n.Name, func(_ string, l *Leaf) {
		law := l.Law
		l.Fixed = &law
	})
	return n
}

func TestSelectIsABlackBox(t *testing.T) {
	runs, err := SelectionForMean(0, 5)
	if err != nil {
		t.Fatal(err)
	}
	tree := SelectBest("tune", runs, GaussianLeaf("try", 1, 1))
	p, err := Calibrate(tree, Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	cost, delta := p.Charge(ZCDP).Value()
	checkNear(t, "rho of a select", cost, .5, 1e-11)
	if delta < 1e-6 || delta > 1e-6+2*deltaUnit {
		t.Errorf("delta %v", delta)
	}
	if _, err := ChargeLaws(fixedTree(p.Tree()), ZCDP); !errors.Is(err, ErrTree) {
		t.Errorf("%v", err)
	}
	if _, err := ChargeLaws(GaussianLeaf("g", 1, 1), ZCDP); !errors.Is(err, ErrTree) {
		t.Errorf("a leaf without a law: %v", err)
	}
}

// TestChargeSaturates checks that no sum or price can overflow into the admissible range.
func TestChargeSaturates(t *testing.T) {
	huge := BlackBoxCharge(ZCDP, 1e200, .999)
	if huge.Cost != maxUnits ||
		!huge.Valid() ||
		!huge.Plus(huge).Valid() ||
		huge.Plus(huge).Cost != maxUnits {
		t.Errorf("%+v", huge)
	}
	c := BlackBoxCharge(GDP, 1e4, 0)
	if c.Cost < 1<<41 {
		t.Errorf("a pure step of epsilon 1e4 costs %+v", c)
	}
	limit, err := Total{Epsilon: 5000, Delta: 1e-6}.Limit()
	if err != nil || huge.FitsIn(limit) {
		t.Errorf("%v, %v", limit, err)
	}
}

// TestFilterOnFiftyMixedRuns draws runs with every law until fifty are admitted or refused. The filter's epsilon must
// be below the sum of theirs, and the total must not be exceeded.
func TestFilterOnFiftyMixedRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []Currency{ZCDP, GDP} {
		total := Total{
			Epsilon:  6,
			Delta:    1e-5,
			BlackBox: 5e-6,
			Currency: c,
		}
		limit, err := total.Limit()
		if err != nil {
			t.Fatal(err)
		}
		spent := Charge{}
		sum := 0.0
		admitted := 0
		for range 50 {
			epsilon := .1 + random.Float64()
			tree := [...]Node{
				Parallel("fit",
					Sequence("train",
						ExponentialLeaf("q", .2, 8),
						GaussianLeaf("g", .8, 1),
					),
					GaussianLeaf("h", 1, 1),
				),
				Branches("fit",
					LaplaceLeaf("n", .03, 1),
					GaussianLeaf("g", 1, 1),
					ExponentialLeaf("v", 1, 5),
				),
				Sequence("fit",
					FixedLeaf(
						"box",
						Law{
							Kind:    Approximate,
							Epsilon: epsilon / 3,
							Delta:   2e-7,
							Draws:   1,
						},
					),
					GaussianLeaf("g", 1, 1),
				),
				Sequence("fit", LaplaceLeaf("a", 1, 3)),
			}[random.IntN(4)]
			p, err := Calibrate(tree, Target{Epsilon: epsilon, Delta: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			next := spent.Plus(p.Charge(c))
			if !next.FitsIn(limit) {
				continue
			}
			spent = next
			sum += epsilon
			admitted++
		}
		e := total.EpsilonOf(spent)
		if e >= sum || e > total.Epsilon || admitted < 10 {
			t.Errorf(
				"%v: %d runs of epsilon %v in all cost %v of %v",
				c,
				admitted,
				sum,
				e,
				total.Epsilon,
			)
		}
		t.Logf(
			"%v: %d of 50 runs, sum of their epsilons %.3f, filter %.3f",
			c,
			admitted,
			sum,
			total.EpsilonOf(spent),
		)
	}
}
