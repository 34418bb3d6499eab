package budget

import (
	"math"
	"testing"
)

// checkNear fails unless got is within the relative error rel of want.
func checkNear(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf(
			"%s = %.15g, want %.15g (relative %.1e)",
			what, got, want, rel,
		)
	}
}

func TestGaussianValues(t *testing.T) {
	for _, v := range []struct{ mu, eps, want, rel float64 }{
		{1, 0, 0.382924922548026, 1e-12},
		{1, 1, 0.126936737506644, 1e-12},
		{1, 2, 0.020923635821114, 1e-12},
		{0.5, 1, 0.006829594983115, 1e-12},
		{2, 0.5, 0.599185618533934, 1e-12},
		{0.8, 3, 7.016058166974e-05, 1e-12},
		{1, 5, 5.793721692e-07, 1e-9},
		// mpmath, 60 digits: ncdf(mu/2-e/mu)-exp(e)*ncdf(-mu/2-e/mu).
		{0.01, 0.05, 5.4814402007468775e-10, 1e-12},
		{0.04, 0, 0.015956627433803962, 1e-12},
		{0.3, 2, 1.5189170522989414e-12, 1e-12},
		{5, 30, 0.00013132627111337326, 1e-12},
		{20, 100, 0.99999961466855645, 1e-12},
		{1, 12, 5.2084420689504657e-32, 1e-12},
	} {
		checkNear(
			t, "gaussianDelta",
			gaussianDelta(v.mu, v.eps),
			v.want, v.rel,
		)
		// Phi-symmetry: delta(-x) = 1 - e^-x (1 - delta(x)).
		checkNear(
			t,
			"gaussianDelta(-)",
			gaussianDelta(v.mu, -v.eps),
			1-math.Exp(-v.eps)*(1-v.want),
			1e-12,
		)
	}
	for _, v := range []struct{ eps, delta, want float64 }{
		{1, 1e-6, 0.236704380664},
		{1, 1e-5, 0.268051123211},
		{math.Log(3), 1e-5, 0.291999585305},
		{0.1, 1e-6, 0.027544650244},
		{3, 1e-5, 0.719117435222},
		{8, 1e-6, 1.531545117566},
		{10, 1e-6, 1.848132205767},
	} {
		mu := GaussianMu(v.eps, v.delta)
		if math.Abs(mu-v.want) > 6e-13 {
			t.Errorf(
				"GaussianMu(%v, %v) = %.13g, want %.13g",
				v.eps, v.delta, mu, v.want,
			)
		}
		d := gaussianDelta(mu, v.eps)
		if d > v.delta {
			t.Errorf(
				"GaussianMu(%v, %v) is not rounded down: delta %v",
				v.eps, v.delta, d,
			)
		}
	}
	checkNear(
		t,
		"GaussianEpsilon(1,1e-5)",
		GaussianEpsilon(1, 1e-5),
		4.377178095681,
		2e-13,
	)
	checkNear(
		t, "GaussianEpsilon(.5,1e-6)",
		GaussianEpsilon(0.5, 1e-6),
		2.254084650, 1e-9,
	)
	e := GaussianEpsilon(0.5, 1e-6)
	if gaussianDelta(0.5, e) > 1e-6 {
		t.Error("GaussianEpsilon is not rounded up")
	}
}

func TestPureCurveValues(t *testing.T) {
	checkNear(t, "Laplace 0", laplaceDelta(1, 0), 0.393469340287367, 2e-15)
	checkNear(
		t, "Laplace .5",
		laplaceDelta(1, 0.5), 0.221199216928595,
		2e-15,
	)
	checkNear(t, "RR 0", pureDelta(1, 0), 0.462117157260010, 2e-15)
	checkNear(
		t, "RR .5",
		pureDelta(1, 0.5), 0.287649136645,
		1e-12,
	)
	checkNear(t, "EM 0", exponentialDelta(1, 0), 0.244918662403709, 2e-15)
	checkNear(
		t, "EM .5",
		exponentialDelta(1, 0.5), 0.077404686315691,
		1e-14,
	)
	checkNear(
		t, "EM -.5",
		exponentialDelta(1, -0.5), 0.440417655743272,
		2e-15,
	)
	checkNear(
		t,
		"Geometric shift 1 = RR",
		geometricDelta(1, 1, 0.5),
		pureDelta(1, 0.5),
		1e-14,
	)
	checkNear(
		t,
		"Approximate",
		approximateDelta(1, 1e-3, 0.5),
		1e-3+0.999*pureDelta(1, 0.5),
		1e-14,
	)
}

// TestInvalidArgumentsArePessimistic checks that arguments that describe no mechanism yield the trivial guarantee.
func TestInvalidArgumentsArePessimistic(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for i, d := range []float64{
		gaussianDelta(-1, 1), gaussianDelta(nan, 1), gaussianDelta(1, nan), gaussianDelta(inf, 1),
		laplaceDelta(-1, 0), exponentialDelta(nan, 0), pureDelta(1, nan), geometricDelta(0, 1, 0),
		geometricDelta(1, -1, 0), approximateDelta(1, 2, 0), zcdpDelta(-1, 1), zcdpDelta(1, nan),
	} {
		if d != 1 {
			t.Errorf(
				"case %d: delta = %v, want 1",
				i, d,
			)
		}
	}
	for i, e := range []float64{
		GaussianEpsilon(1, 0), GaussianEpsilon(-1, 0.1), GaussianEpsilon(nan, 0.1),
		GaussianEpsilon(1, nan),
		ZCDPEpsilon(1, 0), ZCDPEpsilon(nan, 0.1), ZCDPEpsilon(-1, 0.1),
	} {
		if !math.IsInf(e, 1) {
			t.Errorf(
				"case %d: epsilon = %v, want +Inf",
				i, e,
			)
		}
	}
	for i, m := range []float64{GaussianMu(1, 0), GaussianMu(-1, 0.1), GaussianMu(nan, 0.1),
		GaussianMu(1, nan)} {
		if m != 0 {
			t.Errorf(
				"case %d: mu = %v, want 0",
				i, m,
			)
		}
	}
}

// TestGeometricDelta compares the geometric curve with a sum over its losses, and with the Laplace curve that it
// interpolates.
func TestGeometricDelta(t *testing.T) {
	brute := func(s float64, shift int, eps float64) float64 {
		q := math.Exp(-1 / s)
		sum := 0.0
		for k := 0; k <= shift; k++ {
			mass := (1 - q) * math.Pow(q, float64(k)) / (1 + q)
			if k == 0 {
				mass = 1 / (1 + q)
			} else if k == shift {
				mass = math.Pow(q, float64(k)) / (1 + q)
			}
			loss := float64(shift-2*k) / s
			sum += mass * math.Max(0, -math.Expm1(eps-loss))
		}
		return sum
	}
	for _, shift := range []int{1, 2, 3, 7, 40} {
		for _, s := range []float64{0.4, 1, 5.5, 60} {
			for x := -1.1; x < 1.1; x += 0.09 {
				eps := x * float64(shift) / s
				got := geometricDelta(s, shift, eps)
				want := brute(s, shift, eps)
				if math.Abs(got-want) > 1e-13 {
					t.Errorf(
						"shift %d scale %v eps %v: %v, want %v",
						shift, s, eps, got, want,
					)
				}
				laplace := laplaceDelta(float64(shift)/s, eps)
				if got < laplace-1e-14 ||
					s >= 5 && got > laplace+1/(8*s*s)*(1+2/s) {
					t.Errorf(
						"shift %d scale %v eps %v: %v is not within 1/(8 s^2) above Laplace %v",
						shift,
						s,
						eps,
						got,
						laplace,
					)
				}
			}
		}
	}
}

// composePLD returns the PLD curve of laws on a grid of step h alone, without the other accountants.
func composePLD(h float64, laws ...Law) curve {
	seq := Node{Op: OpSequence}
	for _, law := range laws {
		seq.Kids = append(seq.Kids, Node{Leaf: &Leaf{Law: law}})
	}
	w := newComposer()
	w.step = h
	return w.buildCurve(seq.flattenProducts()[0])
}

// pldEpsilon returns the epsilon of a curve at delta.
func pldEpsilon(c curve, delta float64) float64 {
	_, hi := bisect(0, 100, 1e-12, func(e float64) bool {
		return c.deltaAt(e) > delta
	})
	return hi
}

// zcdpEpsilon returns the epsilon of the zCDP ledger alone.
func zcdpEpsilon(delta float64, laws ...Law) float64 {
	rho := 0.0
	for _, law := range laws {
		r, _ := law.ZCDP()
		rho += r
	}
	return ZCDPEpsilon(rho, delta)
}

func gaussianLaw(mu float64) Law {
	return Law{
		Kind:  Gaussian,
		Mu:    mu,
		Draws: 1,
	}
}
func pureLaw(k Kind, e float64, n int) Law {
	return Law{
		Kind:    k,
		Epsilon: e,
		Draws:   n,
	}
}

func TestCompositionValues(t *testing.T) {
	for _, v := range []struct {
		name string
		law  Law
		want float64
	}{
		{"Laplace(.1)x10", pureLaw(Laplace, 0.1, 10), 0.99898},
		{"Laplace(.1)x100", pureLaw(Laplace, 0.1, 100), 4.6927},
		{"EM(.1)x10", pureLaw(Exponential, 0.1, 10), 0.68616},
		{"RR(.1)x100", pureLaw(Pure, 0.1, 100), 4.7746},
		{"EM(1)x10", pureLaw(Exponential, 1, 10), 8.1159},
		{"EM(.1)x100", pureLaw(Exponential, 0.1, 100), 2.6118},
		{"EM(.5)x8", pureLaw(Exponential, 0.5, 8), 3.2472},
	} {
		got := pldEpsilon(composePLD(1e-3, v.law), 1e-6)
		checkNear(t, v.name, got, v.want, 1e-4)
		fine := pldEpsilon(composePLD(0, v.law), 1e-6)
		if fine > got*(1+1e-5) ||
			fine < got*(1-1e-3) {
			t.Errorf(
				"%s: the chosen grid gives %v, the step 1e-3 gives %v",
				v.name, fine, got,
			)
		}
	}
	checkNear(
		t,
		"zCDP EM(.1)x100",
		zcdpEpsilon(1e-6, pureLaw(Exponential, 0.1, 100)),
		2.4191,
		1e-4,
	)
	checkNear(
		t,
		"zCDP EM(.5)x8",
		zcdpEpsilon(1e-6, pureLaw(Exponential, 0.5, 8)),
		3.5423,
		1e-4,
	)
	checkNear(
		t, "zCDP .5",
		ZCDPEpsilon(0.5, 1e-5),
		4.72839, 1e-5,
	)
	checkNear(
		t, "zCDP .1",
		ZCDPEpsilon(0.1, 1e-6),
		2.14194, 1e-5,
	)
	checkNear(
		t, "zCDP inverse",
		zcdpDelta(0.1, ZCDPEpsilon(0.1, 1e-6)),
		1e-6, 1e-7,
	)

	mix := composePLD(
		1e-3,
		gaussianLaw(0.5),
		pureLaw(Laplace, 0.3, 1),
		pureLaw(Exponential, 0.5, 1),
	)
	checkNear(
		t, "mixture delta(1)",
		mix.deltaAt(1), 0.0255493,
		1e-4,
	)
	checkNear(
		t, "mixture delta(2)",
		mix.deltaAt(2), 2.5440e-4,
		1e-4,
	)
	checkNear(t, "mixture eps", pldEpsilon(mix, 1e-6), 2.75620, 1e-4)
}

// TestGaussianThroughPLD sends Gaussians through the PLD one by one instead of merging them.
func TestGaussianThroughPLD(t *testing.T) {
	const h = 1e-3
	m := connectDots(gaussianLaw(0.25).sampleCurve(h), h)
	d := newPLDCurve(newComposer().convolveFactors(
		[]factor{{m, 16}}, h,
		20,
	)).deltaAt(1)
	if d < 0.1269367 || d > 0.1269375 {
		t.Errorf(
			"delta(1) = %.9f, want within [0.1269367, 0.1269375]",
			d,
		)
	}
}

// TestScalingLedgers checks the numbers of section 11 of the design: bounds-free scaling and one noisy Gram matrix.
func TestScalingLedgers(t *testing.T) {
	for _, v := range []struct {
		d                int
		muH, epsQ, muG   float64
		wantPLD, wantRho float64
	}{
		{5, 0.07, 0.04, 0.21, 0.99297, 1.05466},
		{10, 0.07, 0.03, 0.21, 0.99533, 1.05623},
	} {
		laws := []Law{
			gaussianLaw(v.muH),
			gaussianLaw(v.muG),
			pureLaw(Exponential, v.epsQ, 2*(v.d+1)),
		}
		checkNear(
			t, "PLD",
			pldEpsilon(composePLD(1e-3, laws...), 1e-6),
			v.wantPLD, 1e-5,
		)
		checkNear(
			t, "zCDP",
			zcdpEpsilon(1e-6, laws...),
			v.wantRho, 1e-5,
		)
		c, err := Compose(laws...)
		if err != nil {
			t.Fatal(err)
		}
		e := c.Epsilon(1e-6)
		if e > v.wantPLD+1e-5 || e < v.wantPLD-1e-3 {
			t.Errorf(
				"Compose: epsilon %v, want just under %v",
				e, v.wantPLD,
			)
		}
	}
}

// calibratedLaw returns the law of the only leaf of a calibrated tree.
func calibratedLaw(t *testing.T, leaf Node, eps, delta float64, c Composition) Law {
	t.Helper()
	p, err := Calibrate(leaf, Target{
		Epsilon:     eps,
		Delta:       delta,
		Composition: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	law, ok := p.Law(leaf.Name)
	if !ok {
		t.Fatalf("no law at %q", leaf.Name)
	}
	return law
}

func TestCalibratedValues(t *testing.T) {
	// Section 1: Kendall rounds.
	checkNear(
		t,
		"k=10",
		calibratedLaw(
			t, ExponentialLeaf("k", 1, 10),
			0.5, 1e-6, Tight,
		).Epsilon,
		0.0741,
		1e-3,
	)
	checkNear(
		t,
		"k=5",
		calibratedLaw(
			t, ExponentialLeaf("k", 1, 5),
			0.5, 1e-6, Tight,
		).Epsilon,
		0.117,
		5e-3,
	)
	checkNear(
		t,
		"k=10 basic",
		calibratedLaw(
			t, ExponentialLeaf("k", 1, 10),
			0.5, 1e-6, Basic,
		).Epsilon,
		0.05,
		1e-15,
	)
	// Section 8: BRC, T=25 at (1, 1e-6), noise in units of sensitivity.
	basic := calibratedLaw(
		t, LaplaceLeaf("T", 1, 25),
		1, 1e-6, Basic,
	).Epsilon
	checkNear(t, "basic Laplace std", math.Sqrt2/basic, 35.4, 2e-3)
	tight := calibratedLaw(
		t, LaplaceLeaf("T", 1, 25),
		1, 1e-6, Tight,
	).Epsilon
	checkNear(t, "composed Laplace epsilon", tight, 0.050779, 1e-4)
	checkNear(t, "composed Laplace std", math.Sqrt2/tight, 27.9, 2e-3)
	gaussian := calibratedLaw(
		t, GaussianLeaf("T", 1, 25),
		1, 1e-6, Tight,
	).Mu
	checkNear(t, "Gaussian std", 1/gaussian, 21.1, 2e-3)
	checkNear(t, "Gaussian exact", gaussian, GaussianMu(1, 1e-6)/5, 1e-12)
}

// TestSelectionValues checks the numbers of section 7.4: private selection.
func TestSelectionValues(t *testing.T) {
	for _, v := range []struct{ eta, mean, mu, want, sharper float64 }{
		{0, 5, 0.1, 0.690, .536},
		{1, 5, 0.1, 0.813, .560},
		{0, 3, 0.1, 0.644, .496},
		{0, 10, .1, .743, .585},
		{0, 10, 0.3, 2.293, 1.849},
		{0, 5, 1, 7.346, 6.208},
	} {
		s, err := SelectionForMean(v.eta, v.mean)
		if err != nil {
			t.Fatal(err)
		}
		checkNear(t, "mean", s.Mean(), v.mean, 1e-12)
		tree := SelectBest("s", s, FixedLeaf("q", gaussianLaw(v.mu)))
		for earlier, want := range map[bool]float64{true: v.want, false: v.sharper} {
			p, err := Calibrate(tree, Target{
				Epsilon: 10,
				Delta:   1e-6,
				Earlier: earlier,
			})
			if err != nil {
				t.Fatal(err)
			}
			checkNear(t, "selection epsilon", p.Epsilon(1e-6), want, 8e-4)
		}
	}
	s, _ := SelectionForMean(0, 5)
	checkNear(t, "gamma", s.Gamma, 0.06992, 1e-4)
	checkNear(
		t, "5 runs",
		GaussianEpsilon(0.1*math.Sqrt(5), 1e-6),
		0.941, 1e-3,
	)
	checkNear(
		t, "3 runs",
		GaussianEpsilon(0.1*math.Sqrt(3), 1e-6),
		0.715, 1e-3,
	)
	checkNear(
		t, "10 runs",
		GaussianEpsilon(0.3*math.Sqrt(10), 1e-6),
		4.603, 1e-3,
	)
	checkNear(
		t, "geometric",
		Selection{Eta: 1, Gamma: 0.2}.Mean(),
		5, 1e-14,
	)
	// The distribution itself is P(K=k) = (1-gamma)^k/(k ln(1/gamma)) for eta = 0.
	mean := 0.0
	mass := 0.0
	for k := 1.0; k < 3000; k++ {
		pk := math.Pow(1-s.Gamma, k) / (k * -math.Log(s.Gamma))
		mean += k * pk
		mass += pk
	}
	checkNear(t, "sum of P(K=k)", mass, 1, 1e-12)
	checkNear(t, "sum of k P(K=k)", mean, 5, 1e-12)
}

// geometricDelta returns the curve of two-sided geometric noise, P(k) proportional to exp(-|k|/scale), on a statistic
// that moves by the integer shift. Its losses are (shift-2k)/scale, k = 0..shift. At these losses the curve equals
// laplaceDelta(shift/scale, .) exactly; in between it is linear in e^epsilon. Shift 1 is randomised response. It
// returns 1 for a scale that is not positive or a negative shift.
func geometricDelta(scale float64, shift int, epsilon float64) float64 {
	if !(scale > 0) || shift < 0 {
		return 1
	}
	law := float64(shift) / scale
	return boundedCurve(law, epsilon, func() float64 {
		k := math.Floor((law - epsilon) * scale / 2)
		low := (float64(shift) - 2*(k+1)) / scale
		t := math.Expm1(epsilon-low) / math.Expm1(2/scale)
		t = math.Min(1, math.Max(0, t))
		q := math.Exp(-1 / scale)
		return -math.Expm1(-(k+1)/scale) - t*math.Pow(q, k)*-math.Expm1(-1/scale)
	})
}
