package budget

import (
	"math"
	"math/rand/v2"
	"testing"
)

// generatingFunction returns E z^K of the distribution with eta = 0.
func (s Selection) generatingFunction(z float64) float64 {
	return math.Log1p(-(1-s.Gamma)*z) / math.Log(s.Gamma)
}

// outputDistribution returns the distribution of the best of K independent draws of q, whose outcomes are in
// increasing order: P(best <= y) = E P(q <= y)^K.
func (s Selection) outputDistribution(q []float64) []float64 {
	out := make([]float64, len(q))
	below := 0.
	before := 0.
	for i, p := range q {
		below = math.Min(below+p, 1)
		g := s.generatingFunction(below)
		out[i] = g - before
		before = g
	}
	return out
}

func renyiOf(a float64, p, q []float64) float64 {
	sum := 0.
	for i := range p {
		sum += math.Exp(a*math.Log(p[i]) + (1-a)*math.Log(q[i]))
	}
	return math.Log(sum) / (a - 1)
}

// TestSelectionBound searches epsilon-private steps with three outcomes. The exact divergence of the selection is
// below the curve, and the worst comes close to the pure bound of 2 epsilon.
func TestSelectionBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	closest := 0.
	loss := 0.
	for _, mean := range []float64{1.5, 5, 40} {
		s, err := SelectionForMean(0, mean)
		if err != nil {
			t.Fatal(err)
		}
		for range 20_000 {
			eps := .02 + 2*rng.Float64()
			p, q := privatePair(rng, eps)
			l := &ledger{laws: []Law{{Kind: Pure, Epsilon: eps, Draws: 1}}}
			sel := newSelectionLedger(s, []*ledger{{}, l})
			a := s.outputDistribution(p)
			b := s.outputDistribution(q)
			for _, order := range []float64{1.5, 2, 8, 64} {
				d := renyiOf(order, a, b)
				bound := sel.renyiDivergence(order)
				if d > bound*(1+1e-9)+1e-12 {
					t.Fatalf(
						"mean %v, epsilon %v, order %v: divergence %v above the curve, %v",
						mean,
						eps,
						order,
						d,
						bound,
					)
				}
				closest = math.Max(closest, d/bound)
			}
			for i := range a {
				if a[i] > 1e-9 && b[i] > 1e-9 {
					loss = math.Max(
						loss,
						math.Abs(math.Log(a[i]/b[i]))/eps,
					)
				}
			}
		}
	}
	if closest < .3 {
		t.Errorf(
			"the closest divergence was %v of the curve: the search shows nothing",
			closest,
		)
	}
	if loss > 2*(1+1e-9) || loss < 1.5 {
		t.Errorf(
			"the largest loss was %v epsilon, want up to 2",
			loss,
		)
	}
}

// privatePair returns two distributions of three outcomes with losses of at most eps. No outcome is so rare that the
// differences in bruteChosen lose their digits.
func privatePair(rng *rand.Rand, eps float64) (p, q []float64) {
	for {
		p = []float64{
			math.Exp(-9 * rng.Float64()),
			math.Exp(-9 * rng.Float64()),
			0,
		}
		q = make([]float64, 3)
		p[2] = 1 - p[0] - p[1]
		q[2] = 1
		for i := range 2 {
			q[i] = p[i] * math.Exp(eps*float64(1-2*rng.IntN(2)))
			q[2] -= q[i]
		}
		if p[2] > 1e-5 &&
			q[2] > 1e-5 &&
			math.Abs(math.Log(p[2]/q[2])) <= eps {
			rng.Shuffle(3, func(i, j int) {
				p[i], p[j], q[i], q[j] = p[j], p[i], q[j], q[i]
			})
			return p, q
		}
	}
}

// TestSelectWithOtherPartsCostsItsWorst checks a selection among candidates that train on some records and score on
// others. It costs as much as a selection among the worst parts, and as a kid of a Parallel it leaves the others their
// whole budget.
func TestSelectWithOtherPartsCostsItsWorst(t *testing.T) {
	s, err := SelectionForMean(0, 5)
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Epsilon: 10, Delta: 1e-6}
	train := FixedLeaf("train", gaussianLaw(.1))
	score := FixedLeaf("score", gaussianLaw(.07))
	p, err := Calibrate(
		Parallel("fit",
			SelectBest("s",
				s,
				Parallel("a", train, score),
				Parallel("b", score, FixedLeaf("other", gaussianLaw(.05))),
			),
			GaussianLeaf("held", 1, 1),
		),
		target)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Calibrate(SelectBest("s", s, train), target)
	if err != nil {
		t.Fatal(err)
	}
	checkNear(
		t,
		"the selection in its part",
		p.root.kids[0].epsilonAt(1e-6),
		alone.Epsilon(1e-6),
		1e-4,
	) // on separate grids
	held, _ := p.Law("fit/held")
	checkNear(
		t, "the part beside it", held.Mu,
		GaussianMu(10, 1e-6), 1e-9,
	)
	e := p.Epsilon(1e-6)
	if e < 9.99 || e > 10 {
		t.Errorf("the whole costs %v of 10", e)
	}

	law, names, ok := p.Selection("fit/s")
	if !ok ||
		law != s ||
		len(names) != 2 ||
		names[0] != "a" ||
		names[1] != "b" {
		t.Errorf(
			"the selection: %v, %v, %v",
			law, names, ok,
		)
	}
	for _, path := range []string{
		"", "fit", "fit/s/a",
		"fit/held", "fit/t", "s",
	} {
		if _, _, ok := p.Selection(path); ok {
			t.Errorf("%q is a selection", path)
		}
	}
	for path, want := range map[string]string{
		"fit/s/a/train": "fit/s/a",
		"fit/s/b/score": "fit/s/b",
		"fit/held":      "",
	} {
		l, ok := p.Leaf(path)
		if !ok || l.Candidate != want || l.Path != path {
			t.Errorf(
				"leaf %q: %+v, %v",
				path, l, ok,
			)
		}
	}
	if _, ok := p.Leaf("fit/s"); ok {
		t.Error("a node is a leaf")
	}
}

// runProbabilities returns P(K = k) of the logarithmic distribution for k = 1, ..., n, from its definition, and the
// remaining probability.
func (s Selection) runProbabilities(n int) (probability []float64, rest float64) {
	rest = 1
	for k := 1; k <= n; k++ {
		p := math.Exp(float64(k)*math.Log1p(-s.Gamma)) / (float64(k) * -math.Log(s.Gamma))
		probability = append(probability, p)
		rest -= p
	}
	return probability, max(rest, 0)
}

// bruteChosen computes chosen with the sum over K written out. The caller adds the remaining probability.
func bruteChosen(law, q []float64) []float64 {
	out := make([]float64, len(q))
	below := 0.
	for i, p := range q {
		for k, w := range law {
			out[i] += w * (math.Pow(min(below+p, 1), float64(k+1)) - math.Pow(below, float64(k+1)))
		}
		below += p
	}
	return out
}

// hockeyStick returns the delta of two distributions of outcomes at epsilon, in both directions.
func hockeyStick(p, q []float64, epsilon float64) float64 {
	there := 0.
	back := 0.
	factor := math.Exp(epsilon)
	for i := range p {
		there += max(0, p[i]-factor*q[i])
		back += max(0, q[i]-factor*p[i])
	}
	return max(there, back)
}

// TestSelectionByBruteForce sums the distribution of K term by term and checks that the exact delta of the best of K
// draws is below the delta of the priced tree at every epsilon, for pure steps of three outcomes, which are searched
// over, and for a Gaussian step split into cells whose score is its output. The probability of K beyond the sum
// counts as delta 0, which lowers the exact delta by at most that probability.
func TestSelectionByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	grid := []float64{0, .05, .2, .5, 1, 2, 4}
	nearest := map[string]float64{}
	for _, mean := range []float64{1.2, 3, 10} {
		s, err := SelectionForMean(0, mean)
		if err != nil {
			t.Fatal(err)
		}
		law, rest := s.runProbabilities(400)
		if rest > 1e-6 {
			t.Fatalf(
				"mean %v: %v of K is beyond the sum",
				mean, rest,
			)
		}
		check := func(kind string, step Law, p, q []float64) {
			priced, err := Calibrate(
				SelectBest(
					"best", s,
					FixedLeaf("a", step),
					FixedLeaf("b", step),
				),
				Target{Epsilon: 60, Delta: 1e-6},
			)
			if err != nil {
				t.Fatal(err)
			}
			a := bruteChosen(law, p)
			b := bruteChosen(law, q)
			for _, epsilon := range grid {
				d := hockeyStick(a, b, epsilon)
				bound := priced.Delta(epsilon)
				if d > bound*(1+1e-9)+1e-12 {
					t.Fatalf(
						"%s, mean %v, law %+v: delta %v at epsilon %v, priced %v",
						kind,
						mean,
						step,
						d,
						epsilon,
						bound,
					)
				}
				if bound > 1e-6 {
					nearest[kind] = math.Max(nearest[kind], d/bound)
				}
			}
		}
		for range 40 {
			eps := .02 + 1.5*rng.Float64()
			p, q := privatePair(rng, eps)
			check("pure", pureLaw(Pure, eps, 1), p, q)
		}
		for _, mu := range []float64{.1, .5, 1.5} {
			p := make([]float64, 800)
			q := make([]float64, 800)
			cell := func(x, shift float64) float64 {
				return math.Erfc(-(x-shift)/math.Sqrt2) / 2
			}
			for i := range p {
				lo := -8 + float64(i)*.02
				hi := -8 + float64(i+1)*.02
				p[i], q[i] = cell(hi, 0)-cell(lo, 0), cell(hi, mu)-cell(lo, mu)
			}
			check("gaussian", gaussianLaw(mu), p, q)
		}
	}
	for kind, x := range nearest {
		if x < .5 {
			t.Errorf(
				"%s: the exact delta came to %v of the price at best: the search shows nothing",
				kind,
				x,
			)
		}
	}
	if len(nearest) != 2 {
		t.Errorf("compared %v", nearest)
	}
}

// TestSelectionNearOne checks that every mean above 1 has a distribution, with the same mean up to rounding.
func TestSelectionNearOne(t *testing.T) {
	for _, mean := range []float64{
		math.Nextafter(1, 2),
		1 + 1e-14, 1 + 1e-9,
		1.01,
	} {
		s, err := SelectionForMean(0, mean)
		if err != nil ||
			!(math.Abs(s.Mean()-mean) <= 1e-15) {
			t.Errorf(
				"mean %v: %+v of mean %v, %v",
				mean, s, s.Mean(), err,
			)
		}
		_, err = Calibrate(
			SelectBest("best", s, GaussianLeaf("a", 1, 1)),
			Target{Epsilon: 1, Delta: 1e-6},
		)
		if err != nil {
			t.Errorf("mean %v: %v", mean, err)
		}
	}
}

// TestSelectionAgainstDPAccounting compares the price with the delta that the best of K draws of a Gaussian step
// attains, computed by scripts/check-prices.py. It is below the price and within a factor of 3 of it.
func TestSelectionAgainstDPAccounting(t *testing.T) {
	for _, v := range []struct {
		mu, mean float64
		attained [4]float64 // at epsilon .1, .2, .5, 1
	}{
		{
			.1, 5,
			[4]float64{0.01268306644, 0.002616088843, 3.419357058e-08, 3.228690067e-15},
		},
		{
			.3, 10,
			[4]float64{0.08525196785, 0.06271249916, 0.02028008858, 0.0004945310048},
		},
	} {
		s, err := SelectionForMean(0, v.mean)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Calibrate(
			SelectBest("best", s, FixedLeaf("a", gaussianLaw(v.mu))),
			Target{Epsilon: 60, Delta: 1e-6},
		)
		if err != nil {
			t.Fatal(err)
		}
		for i, eps := range []float64{.1, .2, .5, 1} {
			d := p.Delta(eps)
			if d < v.attained[i] {
				t.Errorf(
					"mu %v, mean %v: delta(%v) = %v, and %v is attained",
					v.mu,
					v.mean,
					eps,
					d,
					v.attained[i],
				)
			}
			reach := p.Epsilon(v.attained[i])
			if v.attained[i] > 1e-10 &&
				v.attained[i] < 1e-3 &&
				reach > 3*eps {
				t.Errorf(
					"mu %v, mean %v: the delta that is attained at %v is promised at %v",
					v.mu,
					v.mean,
					eps,
					reach,
				)
			}
		}
	}
}

// TestSelectionInsideSeq checks that a selection composes like any factor. With a step of negligible loss it costs as
// much as alone, and with a Gaussian more than either and less than the sum of the epsilons.
func TestSelectionInsideSeq(t *testing.T) {
	s, err := SelectionForMean(0, 5)
	if err != nil {
		t.Fatal(err)
	}
	best := SelectBest("best",
		s,
		FixedLeaf("a", gaussianLaw(.2)),
		FixedLeaf("b", pureLaw(Laplace, .1, 2)),
	)
	target := Target{Epsilon: 20, Delta: 1e-6}
	cost := func(kids ...Node) float64 {
		p, err := Calibrate(Sequence("run", kids...), target)
		if err != nil {
			t.Fatal(err)
		}
		return p.Epsilon(1e-6)
	}
	alone := cost(best)
	gaussian := GaussianEpsilon(.3, 1e-6)
	checkNear(
		t,
		"beside nothing",
		cost(best, FixedLeaf("nothing", gaussianLaw(1e-6))),
		alone,
		2e-3,
	)
	both := cost(
		best,
		FixedLeaf("more", gaussianLaw(.3)),
	)
	if both < 1.05*math.Max(alone, gaussian) ||
		both > .95*(alone+gaussian) {
		t.Errorf(
			"both cost %v, alone %v and %v",
			both, alone, gaussian,
		)
	}
}

// worstOrder returns the distributions of the best of K tries of a Gaussian step of parameter mu, for a score in a
// nearly worst order of its outputs: the best outputs are those with the lowest likelihood ratio, up to the
// probability s0 under the second table, followed by those with the highest, and then the rest. K follows the
// logarithmic distribution with gamma.
func worstOrder(mu, gamma, s0 float64) (p, q []float64) {
	const cells, low = 10_000, -9.
	high := 10 + mu
	edge := func(i int) float64 {
		return low + (high-low)*float64(i)/cells
	}
	above := func(x, shift float64) float64 {
		return math.Erfc((x-shift)/math.Sqrt2) / 2
	}
	phi := func(x float64) float64 {
		return math.Log1p(-(1-gamma)*min(x, 1)) / math.Log(gamma)
	}
	cut := 0
	for 1-above(edge(cut), 0) < s0 {
		cut++
	}
	// The order is from the worst output to the best one.
	order := make([]int, 0, cells)
	for i := cut; i < cells; i++ {
		order = append(order, i)
	}
	for i := cut - 1; i >= 0; i-- {
		order = append(order, i)
	}
	tries := func(shift float64) []float64 {
		out := make([]float64, 0, cells)
		below := 0.
		for _, i := range order {
			mass := above(edge(i), shift) - above(edge(i+1), shift)
			out = append(out, phi(below+mass)-phi(below))
			below += mass
		}
		return out
	}
	return tries(mu), tries(0)
}

// TestSelectionIsNearlyAttained checks that in a nearly worst order of the outputs the best of K Gaussian tries
// attains at least 94% of the epsilon that is charged, and never more than all of it.
func TestSelectionIsNearlyAttained(t *testing.T) {
	const delta = 1e-6
	for _, x := range []struct{ mu, mean float64 }{
		{.1, 3},
		{.3, 5},
		{.378, 5},
		{1, 5},
		{.3, 10},
	} {
		s, err := SelectionForMean(0, x.mean)
		if err != nil {
			t.Fatal(err)
		}
		priced, err := Calibrate(
			SelectBest("best", s, FixedLeaf("a", gaussianLaw(x.mu))),
			Target{Epsilon: 60, Delta: delta},
		)
		if err != nil {
			t.Fatal(err)
		}
		attained := 0.
		for k := range 25 {
			s0 := s.Gamma / 10 * math.Pow(50, float64(k)/24)
			p, q := worstOrder(x.mu, s.Gamma, s0)
			above := func(e float64) bool {
				return hockeyStick(p, q, e) > delta
			}
			if above(attained) {
				_, attained = bisect(attained, 60, 1e-6, above)
			}
		}
		charged := priced.Epsilon(delta)
		t.Logf(
			"mu %v, %v tries: epsilon %.4f is attained, %.4f charged",
			x.mu,
			x.mean,
			attained,
			charged,
		)
		if attained > charged*(1+1e-6) || attained < .94*charged {
			t.Errorf(
				"mu %v, %v tries: epsilon %v is attained, and %v is charged",
				x.mu,
				x.mean,
				attained,
				charged,
			)
		}
	}
}
