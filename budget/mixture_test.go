package budget

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// coinPlan returns a Parallel of fixed laws with a coin.
func coinPlan(coin float64, first, second []Law) Node {
	n := Parallel(
		"fit", fixedSequence("train", first),
		fixedSequence("holdout", second),
	)
	n.Coin = coin
	return n
}

func fixedSequence(name string, laws []Law) Node {
	seq := Sequence(name)
	for i, law := range laws {
		seq.Kids = append(
			seq.Kids,
			FixedLeaf(string(rune('a'+i)), law),
		)
	}
	return seq
}

// coinMixture returns the curve of a Parallel of fixed laws with a coin.
func coinMixture(t *testing.T, coin float64, first, second []Law) *mixture {
	t.Helper()
	p, err := Calibrate(
		coinPlan(coin, first, second),
		Target{Epsilon: 60, Delta: .9},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p.root.mixture
}

// TestMixtureAgainstDPAccounting compares prices with the numbers of scripts/check-prices.py. The script splits the
// distributions into cells, so its numbers are below the curve by up to the tolerance.
func TestMixtureAgainstDPAccounting(t *testing.T) {
	for _, v := range []struct {
		name          string
		coin          float64
		first, second []Law
		want          [4]float64 // at epsilon .1, .5, 1, 2
		below         float64
	}{
		{
			"G(.25) | G(.5)",
			.1,
			[]Law{gaussianLaw(.25)},
			[]Law{gaussianLaw(.5)},
			[4]float64{0.05327490454, 0.001692583647, 8.663032882e-07, 4.270346514e-18},
			4e-3,
		},
		{
			"G(.5) | G(.8)",
			.2,
			[]Law{gaussianLaw(.5)},
			[]Law{gaussianLaw(.8)},
			[4]float64{0.1360448442, 0.03674349128, 0.003318499779, 2.677804016e-06},
			4e-3,
		},
		{
			"G(.3)+L(.4) | G(.6)",
			.1,
			[]Law{gaussianLaw(.3), pureLaw(Laplace, .4, 1)},
			[]Law{gaussianLaw(.6)},
			[4]float64{0.141916922, 0.03212930514, 0.0008929115692, 4.51741753e-10},
			6e-2,
		},
		{
			"R(.8) | R(1.6)",
			.25,
			[]Law{pureLaw(Pure, .8, 1)},
			[]Law{pureLaw(Pure, 1.6, 1)},
			[4]float64{0.3282381024, 0.2073311888, 0.009840671513, 0},
			2e-3,
		},
		{
			"nothing | G(.5)",
			.1,
			nil,
			[]Law{gaussianLaw(.5)},
			[4]float64{
				0.002364209707, 8.449708149e-07,
				1.114971057e-10, 1.616688587e-18,
			},
			3e-3,
		},
		{
			"nothing | G(1)",
			.2,
			nil,
			[]Law{gaussianLaw(1)},
			[4]float64{0.05181613056, 0.01249462928, 0.002296821967, 6.130782114e-05},
			1e-3,
		},
	} {
		m := coinMixture(t, v.coin, v.first, v.second)
		for i, eps := range []float64{.1, .5, 1, 2} {
			got := m.deltaAt(eps)
			if got < v.want[i]*(1-1e-9) ||
				got > v.want[i]*(1+v.below)+2*m.slack {
				t.Errorf(
					"%s: delta(%v) = %.10g, dp-accounting %.10g: %+.2g",
					v.name,
					eps,
					got,
					v.want[i],
					got/v.want[i]-1,
				)
			}
		}
	}
}

// TestMixtureByFewAtoms checks that the bound with few atoms is above the direction that it approximates, but so
// close that the larger of both directions is the same number.
func TestMixtureByFewAtoms(t *testing.T) {
	laws := []Law{
		gaussianLaw(.02),
		gaussianLaw(.3),
		gaussianLaw(1.4),
		pureLaw(Laplace, .4, 3),
		pureLaw(Pure, .8, 1),
		pureLaw(Exponential, .1, 50),
		{
			Kind:    Approximate,
			Epsilon: .5,
			Delta:   1e-9,
			Draws:   1,
		},
	}
	spared := 0
	for i, first := range laws {
		for j, second := range laws {
			m := coinMixture(
				t,
				[]float64{.03, .2, .5}[(i+j)%3],
				[]Law{first, gaussianLaw(.1)},
				[]Law{second},
			)
			for epsilon := -3.; epsilon < 12; epsilon += .17 {
				there := m.forwardDelta(epsilon)
				back := m.backwardDelta(epsilon, m.second)
				above := m.backwardDelta(epsilon, m.thinned)
				if above < back*(1-1e-12) ||
					above > 1.5*back+1e-9 {
					t.Errorf(
						"%v | %v at %v: %v by few atoms, %v by all",
						first,
						second,
						epsilon,
						above,
						back,
					)
				}
				got := m.largestDirection(epsilon)
				if got != math.Max(there, back) {
					t.Errorf(
						"%v | %v at %v: the larger one is %v, want %v",
						first,
						second,
						epsilon,
						got,
						math.Max(there, back),
					)
				}
				if above < there*(1-thinGuard) {
					spared++
				}
			}
		}
	}
	if spared < 1000 {
		t.Errorf("%d evaluations were spared", spared)
	}
}

// TestReusedMixtureKeepsItsBits checks that a mixture reused with another first kid has the same bits as one computed
// for that kid.
func TestReusedMixtureKeepsItsBits(t *testing.T) {
	w := newComposer()
	n := coinPlan(.1, nil, []Law{gaussianLaw(.5)})
	n.useFixedLaws()
	m := w.newMixture(&n)
	for _, first := range [][]Law{
		{gaussianLaw(.25)},
		{gaussianLaw(.26)},
		{pureLaw(Laplace, .4, 1)},
		nil,
		{gaussianLaw(3)},
		{gaussianLaw(.25), gaussianLaw(.1)},
		{gaussianLaw(.002)},
		{gaussianLaw(.7)},
	} {
		n := coinPlan(.1, first, []Law{gaussianLaw(.5)})
		n.useFixedLaws()
		m.setFirst(w.buildCurves(n.Kids[0].flattenProducts()))
		fresh := w.newMixture(&n)
		for _, epsilon := range []float64{
			-.4, 0, .1, .5, 1, 3,
			20,
		} {
			got := m.deltaAt(epsilon)
			want := fresh.deltaAt(epsilon)
			if got != want {
				t.Errorf(
					"%v: delta(%v) = %v, want %v",
					first, epsilon, got, want,
				)
			}
		}
	}
}

// TestMixtureValues reproduces how far the first kid may be raised at delta 1e-6, in multiples of the mu that each
// kid could have alone.
func TestMixtureValues(t *testing.T) {
	for _, v := range []struct{ coin, epsilon, second, first float64 }{
		{.1, .5, 2, 1.076},
		{.1, 1, 2, 1.064},
		{.1, 2, 1.8, 1.045},
		{.1, 4, 1.4, 1.026},
		{.2, 1, 1.6, 1.137},
		{.2, 2, 1.4, 1.098},
	} {
		mu := GaussianMu(v.epsilon, 1e-6)
		got, _ := bisect(1, 1.5, 1e-6, func(f float64) bool {
			n := coinPlan(
				v.coin,
				[]Law{gaussianLaw(f * mu)},
				[]Law{gaussianLaw(v.second * mu)},
			)
			n.useFixedLaws()
			return newComposer().newMixture(&n).deltaAt(v.epsilon) <= 1e-6
		})
		if math.Abs(got-v.first) > 1e-3 {
			t.Errorf(
				"coin %v, epsilon %v, second %v: the first may have %.5f, want %v",
				v.coin,
				v.epsilon,
				v.second,
				got,
				v.first,
			)
		}
	}
}

// useFixedLaws assigns the fixed laws to the leaves.
func (n *Node) useFixedLaws() {
	n.walkLeaves("", func(_ string, l *Leaf) {
		l.Law = *l.Fixed
	})
}

// TestCoinCalibration checks that with a coin both parts get more, according to the rule, and that the whole stays
// within the target. Both parts get the same as before without a coin, under substitution, with basic composition,
// for delta 0, and at the earlier price.
func TestCoinCalibration(t *testing.T) {
	tree := Parallel("fit",
		Sequence(
			"train",
			GaussianLeaf("a", 1, 1),
			GaussianLeaf("b", 3, 2),
		),
		GaussianLeaf("holdout", 1, 1),
	)
	tree.Coin = .1
	for _, v := range []struct{ epsilon, first, second float64 }{
		{.5, 1.0764, 2},
		{1, 1.0643, 2},
		{2, 1.0456, 1.7853},
		{4, 1.0268, 1.3767},
	} {
		target := Target{Epsilon: v.epsilon, Delta: 1e-6}
		p, err := Calibrate(tree, target)
		if err != nil {
			t.Fatal(err)
		}
		mu := GaussianMu(v.epsilon, 1e-6)
		a, _ := p.Law("fit/train/a")
		h, _ := p.Law("fit/holdout")
		checkNear(t, "first", 2*a.Mu/mu, v.first, 1e-3)
		checkNear(t, "second", h.Mu/mu, v.second, 1e-3)
		g := p.Guarantee()
		if g.Spent > v.epsilon ||
			g.Spent < v.epsilon*(1-1e-6) ||
			g.Mu < .98*mu ||
			g.Mu > 1.03*mu {
			t.Errorf(
				"epsilon %v: spent %v, mu %v of %v",
				v.epsilon, g.Spent, g.Mu, mu,
			)
		}
		for eps := 0.; p.Delta(eps) >= MinDelta; eps += .05 {
			if gaussianDelta(g.Mu, eps) < p.Delta(eps) {
				t.Fatalf(
					"mu %v does not cover epsilon %v",
					g.Mu, eps,
				)
			}
		}
		for name, other := range map[string]Target{
			"substitute": {
				Epsilon:  v.epsilon,
				Delta:    1e-6,
				Relation: Substitute,
			},
			"basic": {
				Epsilon:     v.epsilon,
				Delta:       1e-6,
				Composition: Basic,
			},
			"earlier": {
				Epsilon: v.epsilon,
				Delta:   1e-6,
				Earlier: true,
			},
		} {
			q, err := Calibrate(tree, other)
			if err != nil {
				t.Fatal(err)
			}
			l, _ := q.Law("fit/holdout")
			if math.Abs(l.Mu/mu-1) > 1e-9 {
				t.Errorf(
					"%s: the second part has mu %v of %v",
					name, l.Mu, mu,
				)
			}
		}
	}
	for _, bad := range []Node{
		{
			Op:   OpParallel,
			Name: "p",
			Coin: 1,
			Kids: tree.Kids,
		},
		{
			Op:   OpSequence,
			Name: "s",
			Coin: .1,
			Kids: tree.Kids,
		},
		{
			Op:   OpParallel,
			Name: "p",
			Coin: .1,
			Kids: tree.Kids[:1],
		},
	} {
		_, err := Calibrate(bad, Target{Epsilon: 1, Delta: 1e-6})
		if !errors.Is(err, ErrTree) {
			t.Errorf(
				"coin %v of a %v with %d kids: %v",
				bad.Coin, bad.Op,
				len(bad.Kids), err,
			)
		}
	}
	over := coinPlan(
		.1, []Law{gaussianLaw(.25)},
		[]Law{gaussianLaw(.9)},
	)
	_, err := Calibrate(over, Target{Epsilon: 1, Delta: 1e-6})
	if !errors.Is(err, ErrOverspent) {
		t.Errorf("laws beyond the promise: %v", err)
	}
}

// TestMixtureByBruteForce enumerates mechanisms with few outcomes, where the second depends on the outcome of the
// first, in all directions. The exact delta of the mixture is below the curve and close to it. If the coin is
// revealed, it is above.
func TestMixtureByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	nearest := 0.
	told := 0.
	for range 3000 {
		e1 := .05 + 1.2*rng.Float64()
		e2 := .05 + 2.5*rng.Float64()
		coin := .02 + .48*rng.Float64()
		m := coinMixture(
			t, coin,
			[]Law{pureLaw(Pure, e1, 1)},
			[]Law{pureLaw(Pure, e2, 1)},
		)
		with := responseTable(e1).p
		without := responseTable(e1).q
		if rng.IntN(2) == 0 {
			with, without = privatePair(rng, e1)
		}
		var p, q []float64
		for i := range with {
			a := responseTable(e2).p
			b := responseTable(e2).q
			if rng.IntN(2) == 0 {
				a, b = privatePair(rng, e2)
			} else if rng.IntN(4) == 0 {
				a, b = b, a
			}
			for j := range a {
				p = append(
					p,
					(1-coin)*with[i]*b[j]+coin*without[i]*a[j],
				)
				q = append(q, without[i]*b[j])
			}
		}
		for _, eps := range []float64{
			-.3, 0, .02, .1, .3,
			.6, 1,
		} {
			there := 0.
			back := 0.
			for i := range p {
				there += math.Max(0, p[i]-math.Exp(eps)*q[i])
				back += math.Max(0, q[i]-math.Exp(eps)*p[i])
			}
			d := math.Max(there, back)
			bound := m.deltaAt(eps)
			if d > bound {
				t.Fatalf(
					"coin %v, laws %v and %v: delta %v at epsilon %v, priced %v",
					coin,
					e1,
					e2,
					d,
					eps,
					bound,
				)
			}
			if bound > 1e-6 {
				nearest = math.Max(nearest, d/bound)
			}
			open := (1-coin)*pureDelta(e1, eps) + coin*pureDelta(e2, eps)
			if eps >= 0 && bound > 1e-6 {
				told = math.Max(told, open/bound)
			}
		}
	}
	if nearest < .99 {
		t.Errorf(
			"the exact delta came to %v of the price at best: the search shows nothing",
			nearest,
		)
	}
	if told < 1.05 {
		t.Errorf(
			"with the coin told delta would be %v of the price: the examples do not separate the two",
			told)
	}
}

// TestMixtureOfBlackBox checks that an infinite loss in either part counts with its probability.
func TestMixtureOfBlackBox(t *testing.T) {
	box := Law{
		Kind:    Approximate,
		Epsilon: .5,
		Delta:   1e-3,
		Draws:   1,
	}
	checkNear(
		t,
		"in the first",
		coinMixture(
			t, .1, []Law{box},
			[]Law{gaussianLaw(.3)},
		).deltaAt(30),
		.9e-3,
		1e-6,
	)
	checkNear(
		t,
		"in the second",
		coinMixture(
			t, .1,
			[]Law{gaussianLaw(.3)},
			[]Law{box},
		).deltaAt(30),
		.1e-3,
		1e-6,
	)
	for _, eps := range []float64{301, 1e9, math.Inf(1)} {
		d := coinMixture(
			t, .1, []Law{box},
			[]Law{gaussianLaw(.3)},
		).deltaAt(eps)
		if d != 1 {
			t.Errorf("beyond what a float holds: %v", d)
		}
	}
}

// TestCoverCharge checks that a tree with a coin, a selection or both is charged as the Gaussian law that covers it,
// far below the black box, if the total has room for its delta.
func TestCoverCharge(t *testing.T) {
	s, err := SelectionForMean(0, 5)
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Epsilon: 1, Delta: 1e-6}
	coin := Parallel(
		"fit",
		GaussianLeaf("train", 1, 1),
		GaussianLeaf("holdout", 1, 1),
	)
	coin.Coin = .1
	search := Parallel("fit",
		SelectBest(
			"train", s,
			GaussianLeaf("a", 1, 1),
			GaussianLeaf("b", 1, 1),
		),
		GaussianLeaf("holdout", 1, 1),
	)
	both := search
	both.Coin = .1
	words := Parallel("fit",
		Sequence("train",
			GaussianLeaf("counts", .1, 1),
			FixedLeaf("words", Law{
				Kind:  Approximate,
				Delta: 1e-7,
				Draws: 1,
			}),
			GaussianLeaf("rest", .9, 1),
		),
		GaussianLeaf("holdout", 1, 1),
	)
	words.Coin = .1
	for name, v := range map[string]struct {
		tree    Node
		most    float64 // rho, relative to that of a plain run
		covered bool
	}{
		"plain": {tree: GaussianLeaf("a", 1, 1), most: 1.0001},
		"coin": {
			tree:    coin,
			most:    1.04,
			covered: true,
		},
		"search": {
			tree:    search,
			most:    9,
			covered: true,
		},
		"both": {
			tree:    both,
			most:    9,
			covered: true,
		},
		"words": {
			tree:    words,
			most:    1.04,
			covered: true,
		},
	} {
		p, err := Calibrate(v.tree, target)
		if err != nil {
			t.Fatal(err)
		}
		total := Total{
			Epsilon:  3,
			Delta:    1e-5,
			BlackBox: 5e-6,
		}
		c, mu := p.ChargeWithin(total)
		rho, delta := c.Value()
		plain := GaussianMu(1, 1e-6) * GaussianMu(1, 1e-6) / 2
		t.Logf(
			"%s: rho %.5f, %.2f of a plain run, delta %v, mu %v",
			name,
			rho,
			rho/plain,
			delta,
			mu,
		)
		if rho > v.most*plain ||
			(mu > 0) != v.covered ||
			mu > 0 &&
				(c != CoverCharge(ZCDP, mu, p.Tree().LostDelta()) ||
					delta < MinDelta+p.Tree().LostDelta() ||
					delta > 1.01*(MinDelta+p.Tree().LostDelta())) {
			t.Errorf(
				"%s: rho %v of %v, delta %v, mu %v",
				name, rho, plain, delta, mu,
			)
		}
		total.BlackBox = 0
		if c, mu := p.ChargeWithin(total); mu != 0 || c != p.Charge(ZCDP) {
			t.Errorf(
				"%s: without room %+v, mu %v",
				name, c, mu,
			)
		}
		for eps := 0.; eps < 12 && mu > 0; eps += .1 {
			lost := p.Tree().LostDelta()
			d := p.Delta(eps)
			if d > lost+(1-lost)*math.Max(gaussianDelta(mu, eps), MinDelta) {
				t.Errorf(
					"%s: delta %v at %v is above the Gaussian law",
					name, d, eps,
				)
			}
		}
	}
}
