package budget

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawLaw draws a law with a plausible privacy loss.
func drawLaw(t *rapid.T, label string) Law {
	k := Kind(rapid.IntRange(0, 4).Draw(t, label+" kind"))
	n := rapid.IntRange(1, 12).Draw(t, label+" draws")
	size := math.Exp(rapid.Float64Range(
		math.Log(0.01),
		math.Log(1.5),
	).Draw(
		t,
		label+" log size",
	))
	switch k {
	case Gaussian:
		return Law{
			Kind:  k,
			Mu:    size,
			Draws: n,
		}
	case Approximate:
		return Law{
			Kind:    k,
			Epsilon: size,
			Delta:   rapid.Float64Range(0, 1e-4).Draw(t, label+" delta"),
			Draws:   n,
		}
	}
	return Law{
		Kind:    k,
		Epsilon: size,
		Draws:   n,
	}
}

// TestCurveShape checks that every reported curve is in [0, 1] and decreasing. A PLD curve is also convex in
// e^epsilon.
func TestCurveShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var laws []Law
		for i := range rapid.IntRange(1, 3).Draw(t, "laws") {
			laws = append(laws, drawLaw(t, string(rune('a'+i))))
		}
		all, err := Compose(laws...)
		if err != nil {
			t.Fatal(err)
		}
		c := composePLD(0, laws...)
		a := rapid.Float64Range(0, 6).Draw(t, "a")
		b := a + rapid.Float64Range(1e-4, 2).Draw(t, "b-a")
		m := math.Log((math.Exp(a) + math.Exp(b)) / 2)
		da := c.deltaAt(a)
		dm := c.deltaAt(m)
		db := c.deltaAt(b)
		if !(0 <= db && db <= dm && dm <= da && da <= 1+1e-9) {
			t.Fatalf(
				"PLD curve at %v, %v, %v: %v, %v, %v",
				a, m, b, da, dm, db,
			)
		}
		if dm > (da+db)/2+1e-12 {
			t.Fatalf(
				"PLD curve is not convex between %v and %v: %v above %v",
				a,
				b,
				dm,
				(da+db)/2,
			)
		}
		x := all.Delta(a)
		y := all.Delta(b)
		if !(0 <= y &&
			y <= x*(1+1e-9) &&
			x <= 1 &&
			x <= da) {
			t.Fatalf(
				"Compose at %v, %v: %v, %v; PLD %v",
				a, b, x, y, da,
			)
		}
		e := all.Epsilon(1e-6)
		if !math.IsInf(e, 1) &&
			all.Delta(e) > 1e-6*(1+1e-9) {
			t.Fatalf(
				"Epsilon(1e-6) = %v, where delta is %v",
				e, all.Delta(e),
			)
		}
	})
}

// outcomeTable holds the output distributions of a finite mechanism on two neighbours.
type outcomeTable struct{ p, q []float64 }

// composeWith returns the composition of two independent mechanisms.
func (a outcomeTable) composeWith(b outcomeTable) outcomeTable {
	var c outcomeTable
	for i := range a.p {
		for j := range b.p {
			c.p = append(c.p, a.p[i]*b.p[j])
			c.q = append(c.q, a.q[i]*b.q[j])
		}
	}
	return c
}

// hockeyStick computes the hockey-stick divergence from its definition.
func (a outcomeTable) hockeyStick(eps float64) float64 {
	pq := 0.0
	qp := 0.0
	for i := range a.p {
		pq += math.Max(
			0,
			a.p[i]-math.Exp(eps)*a.q[i],
		)
		qp += math.Max(
			0,
			a.q[i]-math.Exp(eps)*a.p[i],
		)
	}
	return math.Max(pq, qp)
}

// exponentialTable returns an exponential mechanism of scale 1 whose scores move within a range of width eps.
func exponentialTable(t *rapid.T, label string, eps float64) outcomeTable {
	n := rapid.IntRange(2, 5).Draw(t, label+" candidates")
	low := rapid.Float64Range(-1, 0).Draw(t, label+" low")
	var a outcomeTable
	var sp, sq float64
	for range n {
		u := rapid.Float64Range(-2, 2).Draw(t, label+" score")
		move := eps * (low + rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(
			t,
			label+" move",
		))
		a.p = append(a.p, math.Exp(u))
		a.q = append(a.q, math.Exp(u+move))
		sp += math.Exp(u)
		sq += math.Exp(u + move)
	}
	for i := range a.p {
		a.p[i] /= sp
		a.q[i] /= sq
	}
	return a
}

// binnedTable rounds the output of an additive mechanism into cells of width w. The argument cdf is the noise
// distribution, shift the change of the statistic. Rounding only reduces the privacy loss, so the divergence is a
// lower bound that gets sharper as w shrinks.
func binnedTable(cdf func(float64) float64, shift, w float64, cells int) outcomeTable {
	var a outcomeTable
	mass := func(lo, hi float64) float64 {
		if lo > 0 { // upper tail by symmetry
			lo, hi = -hi, -lo
		}
		return math.Max(0, cdf(hi)-cdf(lo))
	}
	for i := -cells; i < cells; i++ {
		lo := float64(i)*w + shift/2
		hi := lo + w
		if i == -cells {
			lo = math.Inf(-1)
		}
		if i == cells-1 {
			hi = math.Inf(1)
		}
		a.p, a.q = append(a.p, mass(lo-shift, hi-shift)), append(a.q, mass(lo, hi))
	}
	return a
}

func gaussianTable(mu, w float64, cells int) outcomeTable {
	return binnedTable(
		func(x float64) float64 {
			return math.Erfc(-x/math.Sqrt2) / 2
		},
		mu,
		w,
		cells,
	)
}

func laplaceTable(eps, w float64, cells int) outcomeTable {
	return binnedTable(
		func(x float64) float64 {
			if x < 0 {
				return math.Exp(x) / 2
			}
			return 1 - math.Exp(-x)/2
		},
		eps,
		w,
		cells,
	)
}

func responseTable(eps float64) outcomeTable {
	p := 1 / (1 + math.Exp(-eps))
	return outcomeTable{[]float64{p, 1 - p}, []float64{1 - p, p}}
}

// TestAccountantsNeverUnderstateLoss checks that real mechanisms, composed by brute force, never lose more than the
// accountants report, with or without the choice of grid.
func TestAccountantsNeverUnderstateLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := outcomeTable{[]float64{1}, []float64{1}}
		var laws []Law
		for i := range rapid.IntRange(1, 3).Draw(t, "steps") {
			label := string(rune('a' + i))
			e := math.Exp(rapid.Float64Range(-5.3, 1.5).Draw(t, label))
			switch Kind(rapid.IntRange(0, 3).Draw(t, label+" kind")) {
			case Gaussian:
				laws = append(laws, gaussianLaw(e))
				total = total.composeWith(gaussianTable(e, 0.4, 14))
			case Laplace:
				laws = append(laws, pureLaw(Laplace, e, 1))
				total = total.composeWith(laplaceTable(e, e/4, 12))
			case Exponential:
				laws = append(laws, pureLaw(Exponential, e, 1))
				total = total.composeWith(exponentialTable(t, label, e))
			case Pure:
				laws = append(laws, pureLaw(Pure, e, 1))
				total = total.composeWith(responseTable(e))
			}
		}
		c, err := Compose(laws...)
		if err != nil {
			t.Fatal(err)
		}
		step := rapid.SampledFrom([]float64{0, 1e-3, 0.03, 0.4}).Draw(t, "grid")
		coarse := composePLD(step, laws...)
		for _, eps := range []float64{
			-0.5, 0, 0.1, 0.5,
			1, 2,
		} {
			want := total.hockeyStick(eps)
			got := c.Delta(eps)
			if got < want-1e-13 {
				t.Fatalf(
					"laws %v: delta(%v) = %v, but a mechanism attains %v",
					laws,
					eps,
					got,
					want,
				)
			}
			if eps >= 0 && coarse.deltaAt(eps) < want-1e-13 {
				t.Fatalf(
					"laws %v, grid %v: delta(%v) = %v, but a mechanism attains %v",
					laws,
					step,
					eps,
					coarse.deltaAt(eps),
					want,
				)
			}
		}
	})
}

// TestAccountantBoundsAreTight checks that the bounds are close to the true curves.
func TestAccountantBoundsAreTight(t *testing.T) {
	binomial := func(e float64, n int, x float64) float64 {
		sum := 0.0
		p := 1 / (1 + math.Exp(-e))
		for k := range n + 1 {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			c, _ := math.Lgamma(float64(n - k + 1))
			mass := math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
			sum += mass * math.Max(
				0,
				-math.Expm1(x-float64(2*k-n)*e),
			)
		}
		return sum
	}
	for _, e := range []float64{0.0123, 0.1, 0.777} {
		for _, n := range []int{2, 20, 300} {
			c := composePLD(0, pureLaw(Pure, e, n))
			for _, x := range []float64{0, 0.3, 1.1} {
				got := c.deltaAt(x)
				want := binomial(e, n, x)
				if got < want*(1-1e-10) ||
					got > want*(1+2e-3)+2e-12 {
					t.Errorf(
						"RR(%v)x%d at %v: %v, exact %v",
						e, n, x, got, want,
					)
				}
			}
		}
	}
	// With the exact atoms on the grid, the only error is that of the transform, which is less than the slack.
	const steps, h = 100, 1e-3
	atoms := lossMass{
		h:    h,
		lo:   -steps,
		mass: make([]float64, 2*steps+1),
	}
	r := responseTable(steps * h)
	atoms.mass[2*steps] = r.p[0]
	atoms.mass[0] = r.p[1]
	for _, n := range []int{10, 100, 400} {
		slack := fftSlack + drawSlack*float64(n) + tailMass
		c := newPLDCurve(
			newComposer().convolveFactors(
				[]factor{{atoms, n}},
				h,
				40/math.Sqrt(float64(n)),
			))
		for _, x := range []float64{0, 0.35, 1.2, 3} {
			err := c.deltaAt(x) - binomial(steps*h, n, x) - slack
			if math.Abs(err) > slack/2 {
				t.Errorf(
					"RR(.1)x%d at %v: the transform errs by %v, slack %v",
					n,
					x,
					err,
					slack,
				)
			}
		}
	}
	two := gaussianTable(0.5, 0.01, 900)
	lap := laplaceTable(0.3, 0.02, 500)
	got := composePLD(
		0, gaussianLaw(0.5),
		pureLaw(Laplace, 0.3, 1),
	).deltaAt(0.7)
	want := two.composeWith(lap).hockeyStick(0.7)
	if got < want || got > want*(1+1e-3) {
		t.Errorf(
			"Gaussian and Laplace: %v, brute force %v",
			got, want,
		)
	}
}

// TestOneOfCoversAdaptiveChoice covers a branch that is chosen by the output of an earlier step. The exact loss of
// that choice exceeds the larger of the two plans, and the accountant must cover it.
func TestOneOfCoversAdaptiveChoice(t *testing.T) {
	first := pureLaw(Pure, 1, 1)
	a := pureLaw(Pure, 0.9, 1)
	b := gaussianLaw(0.6)
	informer := pureLaw(Pure, 1e-9, 1)
	tree := Sequence("run",
		FixedLeaf("first", first),
		Branches("choice",
			FixedLeaf("look", informer),
			FixedLeaf("a", a),
			FixedLeaf("b", b),
		),
	)
	p, err := Calibrate(tree, Target{Epsilon: 20, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	coin := 1 / (1 + math.Exp(-1))
	exceeded := false
	for eps := 0.0; eps < 3; eps += 0.1 {
		up := eps - 1
		down := eps + 1 // remaining epsilon after a loss of +1, -1
		chosen := coin*math.Max(a.DeltaAt(up), b.DeltaAt(up)) +
			(1-coin)*math.Max(a.DeltaAt(down), b.DeltaAt(down))
		fixed := math.Max(
			coin*a.DeltaAt(up)+(1-coin)*a.DeltaAt(down),
			coin*b.DeltaAt(up)+(1-coin)*b.DeltaAt(down),
		)
		exceeded = exceeded || chosen > fixed*1.001
		if got := p.Delta(eps); got < chosen {
			t.Errorf(
				"delta(%v) = %v, an adaptive choice attains %v",
				eps, got, chosen,
			)
		}
	}
	if !exceeded {
		t.Error("the example does not separate adaptive from fixed choices")
	}
}

// TestWindowKeepsAllMass covers bounded laws whose epsilons are not on the grid and that have no mass outside the
// window. The composed mass must be complete.
func TestWindowKeepsAllMass(t *testing.T) {
	for _, laws := range [][]Law{
		{pureLaw(Exponential, 1.5, 1), pureLaw(Laplace, 1.0001220703125, 1)},
		{pureLaw(Exponential, 1.5, 1), pureLaw(Laplace, 1.001, 1)},
		{pureLaw(Pure, 3.3333, 2), pureLaw(Exponential, 1e-5, 3)},
		{pureLaw(Pure, 1e-5, 1), pureLaw(Laplace, 12.34567, 1)},
		{pureLaw(Exponential, 7.7, 1), gaussianLaw(1e-4)},
		{pureLaw(Exponential, 0.01, 400), gaussianLaw(3)},
		{pureLaw(Laplace, 20, 30)},
	} {
		p := product{}
		for _, l := range laws {
			p = crossProducts(
				[]product{p},
				(&Node{Leaf: &Leaf{Law: l}}).flattenProducts(),
			)[0]
		}
		m := newComposer().composeLosses(p, p.gridStep())
		sum := m.inf
		for _, x := range m.mass {
			sum += x
		}
		if sum < 1-1e-12 || sum > 1+1e-6 {
			t.Errorf("%v: total mass %.15g", laws, sum)
		}
	}
}

func TestRenyiCurves(t *testing.T) {
	// The order-a divergence of the dominating pairs, by integration over dots.
	for _, law := range []Law{
		pureLaw(Laplace, 0.7, 1),
		pureLaw(Exponential, 0.7, 1),
		pureLaw(Pure, 0.7, 1),
		pureLaw(Laplace, 0.02, 1),
	} {
		h := law.Epsilon / 7e3
		m := connectDots(law.sampleCurve(h), h)
		for _, a := range []float64{1.5, 2, 8, 40} {
			checkNear(
				t, law.Kind.String(),
				law.logMoment(a-1),
				m.logMoment(a-1), 1e-5,
			)
			r := law.renyiDivergence(a)
			if r > law.Epsilon || r > a*law.Epsilon*law.Epsilon/2 {
				t.Errorf(
					"%v: renyi(%v) = %v is above the pure bounds",
					law, a, r,
				)
			}
		}
	}
	checkNear(
		t, "logSinhc joins",
		logSinhc(0.3-1e-12),
		logSinhc(0.3+1e-12),
		1e-10,
	)
	checkNear(
		t, "logCosh joins",
		logCosh(1-1e-12),
		logCosh(1+1e-12), 1e-10,
	)
	checkNear(
		t, "logSinhc large", logSinhc(800),
		800-math.Log(1600), 1e-14,
	)
}

// TestSelectionOfPure checks that a selection among pure candidates costs no more than (2+eta) epsilon.
func TestSelectionOfPure(t *testing.T) {
	p, err := Calibrate(
		SelectBest("s",
			Selection{0, 0.07},
			FixedLeaf("a", pureLaw(Laplace, 0.4, 1)),
			FixedLeaf("b", pureLaw(Pure, 0.2, 1)),
		),
		Target{Epsilon: 5, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	e := p.Epsilon(0)
	if e != 0.8 {
		t.Errorf("pure epsilon %v, want 0.8", e)
	}
	if _, _, ok := p.ZCDP(); ok {
		t.Error("a selection has no zCDP cost")
	}
}
