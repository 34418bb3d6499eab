package budget

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawTree draws a plan of scalable leaves. With pureOnly it contains no Gaussian.
func drawTree(t *rapid.T, label string, depth int, pureOnly bool) Node {
	op := OpLeaf
	if depth > 0 {
		op = rapid.SampledFrom([]Op{OpLeaf, OpSequence, OpSequence, OpParallel, OpBranches}).Draw(
			t,
			label+" op",
		)
	}
	kid := func(i int) Node {
		return drawTree(t, label+strconv.Itoa(i), depth-1, pureOnly)
	}
	switch op {
	case OpSequence:
		return Sequence(label, kid(0), kid(1))
	case OpParallel:
		return Parallel(label, kid(0), kid(1))
	case OpBranches:
		return Branches(
			label,
			LaplaceLeaf("look", 0.03, 1),
			kid(0), kid(1),
		)
	}
	low := 0
	if pureOnly {
		low = 1
	}
	kind := Kind(rapid.IntRange(low, 3).Draw(t, label+" kind"))
	return scalableLeaf(
		label,
		kind,
		rapid.Float64Range(0.05, 1).Draw(t, label+" share"),
		rapid.SampledFrom([]int{1, 1, 3, 20}).Draw(t, label+" draws"),
	)
}

func drawTarget(t *rapid.T) Target {
	return Target{
		Epsilon: math.Exp(
			rapid.Float64Range(
				math.Log(0.1),
				math.Log(8),
			).Draw(t, "log epsilon")),
		Delta:       rapid.SampledFrom([]float64{1e-9, 1e-6, 1e-3}).Draw(t, "delta"),
		Composition: Composition(rapid.IntRange(0, 1).Draw(t, "composition")),
	}
}

// lossParameter returns the parameter of a law.
func lossParameter(l Law) float64 {
	return l.Mu + l.Epsilon
}

func TestCalibrateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := drawTarget(t)
		tree := drawTree(t, "r", 2, false)
		p, err := Calibrate(tree, target)
		if err != nil {
			t.Fatal(err)
		}
		d := p.Delta(target.Epsilon)
		if d > target.Delta {
			t.Fatalf(
				"delta(%v) = %v exceeds %v",
				target.Epsilon, d, target.Delta,
			)
		}
		e := p.Epsilon(target.Delta)
		if e > target.Epsilon*(1+1e-11) {
			t.Fatalf("spent %v of %v", e, target.Epsilon)
		}
		for _, l := range p.Leaves() {
			if err := l.Law.Validate(); err != nil {
				t.Fatalf("%s: %v", l.Path, err)
			}
		}
		more := target
		more.Epsilon *= 1.1
		q, err := Calibrate(tree, more)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Calibrate(tree.Scaled(3), target)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range p.Leaves() {
			if lossParameter(q.Leaves()[i].Law) <= lossParameter(l.Law) {
				t.Fatalf(
					"%s: more budget gave more noise: %v, %v",
					l.Path,
					l.Law,
					q.Leaves()[i].Law,
				)
			}
			r := lossParameter(again.Leaves()[i].Law) /
				lossParameter(l.Law)
			if math.Abs(r-1) > 3e-6 {
				t.Fatalf(
					"%s: shares are not relative: ratio %v",
					l.Path, r,
				)
			}
		}
	})
}

// TestCalibrateTight checks that one more leaf lowers the share of all others, and that the multiplier is the largest
// that fits: raising each law by a hundredth would exceed the target.
func TestCalibrateTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := drawTarget(t)
		target.Composition = Tight
		a := scalableLeaf(
			"a",
			Kind(rapid.IntRange(0, 3).Draw(t, "kind a")),
			0.6,
			rapid.IntRange(1, 30).Draw(t, "draws a"),
		)
		b := scalableLeaf(
			"b",
			Kind(rapid.IntRange(0, 3).Draw(t, "kind b")),
			0.4,
			rapid.IntRange(1, 30).Draw(t, "draws b"),
		)
		p, err := Calibrate(Sequence("s", a, b), target)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Calibrate(
			Sequence("s", a, b, GaussianLeaf("c", 0.1, 1)),
			target,
		)
		if err != nil {
			t.Fatal(err)
		}
		var grown []Law
		for i, l := range p.Leaves() {
			if lossParameter(q.Leaves()[i].Law) >= lossParameter(l.Law) {
				t.Fatalf(
					"%s: an added leaf did not lower it",
					l.Path,
				)
			}
			law := l.Law
			law.Mu *= 1.01
			law.Epsilon *= 1.01
			grown = append(grown, law)
		}
		c, err := Compose(grown...)
		if err != nil {
			t.Fatal(err)
		}
		d := c.Delta(target.Epsilon)
		if d <= target.Delta {
			t.Fatalf(
				"laws 1%% larger would still fit: delta %v of %v",
				d, target.Delta,
			)
		}
	})
}

// TestCalibratePure checks that with delta = 0 epsilons add up exactly.
func TestCalibratePure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := drawTarget(t)
		target.Delta = 0
		p, err := Calibrate(drawTree(t, "r", 2, true), target)
		if err != nil {
			t.Fatal(err)
		}
		e := p.Epsilon(0)
		if !(e <= target.Epsilon*(1+1e-15) && e >= target.Epsilon*(1-1e-12)) {
			t.Fatalf(
				"epsilon at delta 0 is %v of %v",
				e, target.Epsilon,
			)
		}
		d := p.Delta(target.Epsilon)
		if d != 0 {
			t.Fatalf("delta %v, want 0", d)
		}
	})
	p, err := Calibrate(
		Sequence(
			"s",
			LaplaceLeaf("l", 2, 4),
			ExponentialLeaf("e", 1, 3),
		),
		Target{Epsilon: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	g := p.Guarantee()
	if g.Composition != Basic ||
		g.Delta != 0 ||
		g.Spent != 1 ||
		!(g.Mu > 0 && g.Mu < 2) {
		t.Errorf("guarantee %+v", g)
	}
	l, _ := p.Law("s/l")
	checkNear(t, "laplace", l.Epsilon, 2.0/3/4, 1e-14)
	_, err = Calibrate(
		Sequence(
			"s",
			LaplaceLeaf("l", 1, 1),
			GaussianLeaf("g", 1, 1),
		),
		Target{Epsilon: 1},
	)
	var np *NotPureError
	if !errors.Is(err, ErrNotPure) ||
		!errors.As(err, &np) ||
		np.Path != "s/g" ||
		np.Kind != Gaussian {
		t.Errorf("a Gaussian with delta 0: %v", err)
	}
}

// TestCalibrateBasic checks basic composition: epsilon is divided by share, delta among the Gaussian draws.
func TestCalibrateBasic(t *testing.T) {
	target := Target{
		Epsilon:     2,
		Delta:       1e-5,
		Composition: Basic,
	}
	tree := Sequence("s",
		GaussianLeaf("g", 3, 3),
		LaplaceLeaf("l", 1, 5),
		FixedLeaf("f", Law{
			Kind:    Approximate,
			Epsilon: 0.4,
			Delta:   4e-6,
			Draws:   1,
		}),
	)
	p, err := Calibrate(tree, target)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := p.Law("s/g")
	l, _ := p.Law("s/l")
	checkNear(
		t, "gaussian", g.Mu,
		GaussianMu(1.6*0.75/3, 6e-6/3),
		1e-12,
	)
	checkNear(t, "laplace", l.Epsilon, 1.6*0.25/5, 1e-14)
	e := p.Epsilon(1e-5)
	if e >= 2 || e < 0.5 {
		t.Errorf("the accountants give %v, want well below 2", e)
	}
	// In a Parallel inside a Sequence the larger kid determines the price.
	q, err := Calibrate(
		Sequence("s", LaplaceLeaf("a", 1, 1), Parallel("p",
			LaplaceLeaf("b", 1, 1),
			LaplaceLeaf("c", 3, 1),
		)),
		target)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]float64{
		"s/a":   0.5,
		"s/p/b": 0.5,
		"s/p/c": 1.5,
	} {
		law, _ := q.Law(path)
		checkNear(t, path, law.Epsilon, want, 1e-14)
	}
	_, err = Calibrate(
		SelectBest(
			"s", Selection{0, 0.1},
			GaussianLeaf("g", 1, 1),
		),
		target,
	)
	if !errors.Is(err, ErrNotPure) {
		t.Errorf("basic selection among Gaussians: %v", err)
	}
	r, err := Calibrate(
		SelectBest(
			"s", Selection{1, 0.1},
			LaplaceLeaf("g", 1, 1),
		),
		target,
	)
	if err != nil {
		t.Fatal(err)
	}
	law, _ := r.Law("s/g")
	checkNear(
		t, "(2+eta) epsilon",
		law.Epsilon, 2.0/3, 1e-14,
	)
	_, err = Calibrate(
		Sequence("s",
			GaussianLeaf("g", 1, 1),
			FixedLeaf("f", Law{
				Kind:    Approximate,
				Epsilon: 0.1,
				Delta:   1e-5,
				Draws:   1,
			}),
		),
		target,
	)
	if !errors.Is(err, ErrOverspent) {
		t.Errorf("black box that takes all of delta: %v", err)
	}
}

// TestParallelCostsItsLargerKid checks that the kids of a Parallel cost as much as the larger of the two, at the root
// and inside a Sequence.
func TestParallelCostsItsLargerKid(t *testing.T) {
	a := FixedLeaf("a", gaussianLaw(0.2))
	b := FixedLeaf("b", pureLaw(Laplace, 0.3, 2))
	c := FixedLeaf("c", pureLaw(Exponential, 0.2, 4))
	target := Target{Epsilon: 9, Delta: 1e-6}
	must := func(n Node) *Priced {
		p, err := Calibrate(n, target)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	par := must(Parallel("p", a, Sequence("s", b, c)))
	only := must(a)
	other := must(Sequence("s", b, c))
	nested := must(Sequence("n", c, Parallel("p", a, b)))
	withA := must(Sequence("n", c, a))
	withB := must(Sequence("n", c, b))
	for eps := -0.5; eps < 3; eps += 0.25 {
		checkNear(
			t,
			"par",
			par.Delta(eps),
			math.Max(only.Delta(eps), other.Delta(eps)),
			1e-12,
		)
		got := nested.Delta(eps)
		want := math.Max(withA.Delta(eps), withB.Delta(eps))
		if got < want*(1-1e-12) ||
			got > want*(1+1e-3)+1e-11 {
			t.Errorf(
				"par in a seq: delta(%v) = %v, want %v",
				eps, got, want,
			)
		}
	}
	rho, delta, ok := nested.ZCDP()
	checkNear(
		t, "zCDP", rho,
		4*0.04/8+math.Max(0.02, 0.09),
		1e-12,
	)
	if !ok || delta != 0 {
		t.Errorf("zCDP delta %v, %v", delta, ok)
	}
}

// TestBranchesCostTheirLargest checks that a Branches node costs at least as much as any branch after its informer, at
// the root and inside a Sequence, where its leaves share the multiplier of the Sequence.
func TestBranchesCostTheirLargest(t *testing.T) {
	target := Target{Epsilon: 1, Delta: 1e-6}
	a := GaussianLeaf("a", 1, 1)
	b := ExponentialLeaf("b", 1, 10)
	p, err := Calibrate(
		Branches("o", LaplaceLeaf("n", 0.03, 1), a, b),
		target,
	)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := p.Law("o/n")
	mu, _ := p.Law("o/a")
	checkNear(t, "informer", n.Epsilon, 0.03, 1e-15)
	gain := mu.Mu / GaussianMu(0.97, 1e-6)
	if gain < 1.015 || gain > 1.03 {
		t.Errorf(
			"beside a branch with the rest of epsilon this one has %v of mu",
			gain,
		)
	}
	votes, _ := p.Law("o/b")
	alone, err := Compose(votes)
	if err != nil {
		t.Fatal(err)
	}
	for eps := 0.0; eps < 2; eps += 0.2 {
		d := p.Delta(eps)
		most := math.Max(
			gaussianDelta(mu.Mu, eps-0.03),
			alone.Delta(eps-0.03),
		)
		if eps < 1.5 && d > most*(1-.01) {
			t.Errorf(
				"delta(%v) = %v, not below the largest branch with the rest of epsilon: %v",
				eps,
				d,
				most,
			)
		}
		for _, branch := range []Law{mu, votes} {
			c, err := Compose(n, branch)
			if err != nil ||
				d < c.Delta(eps)*(1-2e-4)-3e-12 {
				t.Errorf(
					"delta(%v) = %v is below that of branch %v (%v)",
					eps, d, branch, err,
				)
			}
		}
	}
	d := p.Delta(1)
	if d > 1e-6 || d < 0.99e-6 {
		t.Errorf(
			"delta(1) = %v, want just under 1e-6",
			d,
		)
	}
	l := p.Leaves()[0]
	if !l.Informer || p.Leaves()[1].Informer {
		t.Error("informer is not marked")
	}

	q, err := Calibrate(
		Sequence("s",
			GaussianLeaf("g", 1, 1),
			Branches("o", LaplaceLeaf("n", 0.03, 1), a, b),
		),
		target)
	if err != nil {
		t.Fatal(err)
	}
	law := func(path string) Law {
		l, _ := q.Law(path)
		return l
	}
	for _, path := range []string{
		"s/o/a",
		"s/o/b",
	} {
		c, err := Compose(
			law("s/g"),
			law("s/o/n"),
			law(path),
		)
		if err != nil {
			t.Fatal(err)
		}
		for eps := 0.0; eps < 2; eps += 0.2 {
			// The two curves are on different grids.
			if q.Delta(eps) < c.Delta(eps)*(1-2e-4)-3e-12 {
				t.Errorf(
					"delta(%v) = %v is below branch %s: %v",
					eps,
					q.Delta(eps),
					path,
					c.Delta(eps),
				)
			}
		}
	}
	d = q.Delta(1)
	if d > 1e-6 || d < 0.99e-6 {
		t.Errorf(
			"delta(1) = %v, want just under 1e-6",
			d,
		)
	}
}

func TestGuarantee(t *testing.T) {
	target := Target{
		Epsilon:  1.25,
		Delta:    1e-6,
		Relation: Substitute,
	}
	p, err := Calibrate(samplePlan(), target)
	if err != nil {
		t.Fatal(err)
	}
	g := p.Guarantee()
	if g.Epsilon != 1.25 ||
		g.Delta != 1e-6 ||
		g.Relation != Substitute ||
		g.Composition != Tight ||
		p.Target() != target {
		t.Errorf("guarantee %+v", g)
	}
	if g.Spent > 1.25 ||
		g.Spent < 1.25*(1-1e-6) {
		t.Errorf("spent %v of 1.25", g.Spent)
	}
	seen := false
	for i, pt := range g.Profile {
		seen = seen || pt.Epsilon == 1.25
		if i > 0 &&
			(pt.Epsilon <= g.Profile[i-1].Epsilon || pt.Delta > g.Profile[i-1].Delta) {
			t.Errorf("profile is not monotone: %v", g.Profile)
		}
		if pt.Delta != p.Delta(pt.Epsilon) {
			t.Errorf(
				"profile at %v: %v",
				pt.Epsilon, pt.Delta,
			)
		}
	}
	if !seen {
		t.Error("the profile misses the target")
	}
	// The mu covers the profile everywhere, and a slightly smaller mu does not.
	top := p.Epsilon(MinDelta)
	covered := gaussianDelta(
		g.Mu*(1-2e-4), top,
	) >= p.Delta(top)
	for eps := 0.0; p.Delta(eps) >= MinDelta; eps += 0.002 {
		if gaussianDelta(g.Mu, eps) < p.Delta(eps) {
			t.Fatalf(
				"mu %v does not cover epsilon %v",
				g.Mu, eps,
			)
		}
		covered = covered && gaussianDelta(
			g.Mu*(1-2e-4), eps,
		) >= p.Delta(eps)
	}
	if covered {
		t.Error("mu is not the smallest")
	}

	only, err := Calibrate(
		Parallel("p",
			GaussianLeaf("a", 1, 4),
			Sequence(
				"s",
				GaussianLeaf("b", 1, 1),
				GaussianLeaf("c", 3, 2),
			),
		),
		target,
	)
	if err != nil {
		t.Fatal(err)
	}
	checkNear(
		t, "mu of Gaussians",
		only.Guarantee().Mu,
		GaussianMu(1.25, 1e-6),
		1e-12,
	)
	box, err := Calibrate(
		Sequence("s",
			FixedLeaf("f", Law{
				Kind:    Approximate,
				Epsilon: 0.3,
				Delta:   1e-7,
				Draws:   1,
			}),
			GaussianLeaf("a", 1, 1),
		),
		target,
	)
	if err != nil {
		t.Fatal(err)
	}
	m := box.Guarantee().Mu
	if !math.IsInf(m, 1) {
		t.Errorf("mu of a black box: %v", m)
	}
	sel, err := Calibrate(
		SelectBest("s",
			Selection{0, 0.07},
			GaussianLeaf("a", 1, 1),
			GaussianLeaf("b", 0.5, 1),
		),
		target)
	if err != nil {
		t.Fatal(err)
	}
	if g := sel.Guarantee(); !(g.Mu < 5) || g.Spent > 1.25 || g.Spent < 1.2499 {
		t.Errorf("selection: %+v", g)
	}
}

// TestCalibrateAgain checks that a priced tree can be used as a plan and that its old laws have no effect.
func TestCalibrateAgain(t *testing.T) {
	for _, c := range []Composition{Tight, Basic} {
		target := Target{
			Epsilon:     1,
			Delta:       1e-6,
			Composition: c,
		}
		tree := Sequence("s",
			LaplaceLeaf("a", 1, 2),
			Branches("o",
				PureLeaf("n", 0.03, 1),
				GaussianLeaf("b", 1, 1),
				LaplaceLeaf("c", 1, 1),
			),
		)
		p, err := Calibrate(tree, Target{
			Epsilon:     3,
			Delta:       1e-6,
			Composition: c,
		})
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := Calibrate(tree, target)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Calibrate(p.Tree(), target)
		if err != nil {
			t.Fatal(err)
		}
		d := cmp.Diff(fresh.Leaves(), again.Leaves())
		if d != "" {
			t.Errorf("%v: %s", c, d)
		}
	}
}

// TestEmptySeq checks that a stage without mechanisms is free.
func TestEmptySeq(t *testing.T) {
	p, err := Calibrate(
		Sequence("s", Sequence("none"), GaussianLeaf("g", 1, 1)),
		Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	l, _ := p.Law("s/g")
	checkNear(t, "mu", l.Mu, GaussianMu(1, 1e-6), 1e-12)
	p, err = Calibrate(Sequence("s"), Target{Epsilon: 1})
	if err != nil ||
		p.Delta(0) != 0 ||
		p.Epsilon(0) != 0 ||
		p.Guarantee().Mu != 0 {
		t.Errorf("an empty plan: %v", err)
	}
}

// TestExtremeTargets checks that extreme budgets yield sound and finite prices.
func TestExtremeTargets(t *testing.T) {
	for _, eps := range []float64{1e-3, 30, 3000} {
		target := Target{Epsilon: eps, Delta: 1e-8}
		p, err := Calibrate(
			Sequence("s",
				GaussianLeaf("g", 1, 1),
				ExponentialLeaf("e", 0.3, 40),
				LaplaceLeaf("l", 0.1, 3),
			),
			target,
		)
		if err != nil {
			t.Fatalf("epsilon %v: %v", eps, err)
		}
		d := p.Delta(eps)
		if d > 1e-8 || d < 0.99e-8 {
			t.Errorf("epsilon %v: delta %v", eps, d)
		}
		g := p.Guarantee()
		if math.IsInf(g.Mu, 1) ||
			math.IsNaN(g.Mu) ||
			g.Spent > eps {
			t.Errorf("epsilon %v: %+v", eps, g)
		}
	}
}
