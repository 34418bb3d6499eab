package budget

import "math"

// numericGuard is the relative amount by which solved parameters are moved to
// the safe side.
const numericGuard = 1e-13

// deltaGuard is the relative margin that [gaussianDelta] adds to its result: twice the largest
// error of the formulas in a comparison with numbers of 1,200 bits.
const deltaGuard = 5e-13

// gaussianDelta returns the smallest delta for which a Gaussian mechanism with
// parameter mu (sensitivity divided by noise standard deviation) is
// (epsilon, delta)-private (Balle, Wang 2018, Theorem 8):
//
//	Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
//
// Any real epsilon is allowed. mu = 0 is a mechanism that ignores the data. The
// result is never below that number, and above it by less than 1e-12 of it, while it
// is above 1e-200. A negative or undefined mu, which describes no mechanism, gives 1.
func gaussianDelta(mu, epsilon float64) float64 {
	switch {
	case math.IsNaN(mu) || math.IsNaN(epsilon) || mu < 0 || math.IsInf(mu, 1):
		return 1
	case epsilon < 0:
		return math.Min(1, mirrorDelta(-epsilon, gaussianDelta(mu, -epsilon))*(1+0x1p-50))
	case mu == 0 || math.IsInf(epsilon, 1):
		return 0
	}
	// With a, b below, e^epsilon = phi(a)/phi(b), so the two terms are
	// phi(a) M(a) and phi(a) M(b), M being Mills' ratio.
	a := epsilon/mu - mu/2
	b := epsilon/mu + mu/2
	phi := math.Exp(-a*a/2) / math.Sqrt(2*math.Pi)
	var delta float64
	switch {
	case mu < 0.05:
		delta = phi * millsDifference(epsilon/mu, mu/2)
	case a < 0:
		delta = math.Erfc(a/math.Sqrt2)/2 - phi*millsRatio(b)
	default:
		ma, mb := millsRatioPair(a, b)
		delta = phi * (ma - mb)
	}
	return math.Min(1, delta*(1+deltaGuard))
}

// mirrorDelta returns delta(-x) of a symmetric dominating pair, given delta = delta(x).
func mirrorDelta(x, delta float64) float64 {
	return -math.Expm1(-x) + math.Exp(-x)*delta
}

// millsRatio returns Mills' ratio (1-Phi(x))/phi(x).
func millsRatio(x float64) float64 {
	if x < 4 {
		return math.Sqrt(math.Pi/2) * math.Exp(x*x/2) * math.Erfc(x/math.Sqrt2)
	}
	// Laplace's continued fraction 1/(x+1/(x+2/(x+3/...))), from the bottom; n
	// terms give full precision (measured against 4000 terms).
	t := x
	for k := millsTerms(x); k > 0; k-- {
		t = x + float64(k)/t
	}
	return 1 / t
}

// millsTerms returns the number of terms of the continued fraction that millsRatio uses for x >= 4.
func millsTerms(x float64) int {
	return 8 + int(400/(x*x))
}

// millsRatioPair returns millsRatio(x) and millsRatio(y) for x <= y. Each continued fraction is a chain of
// dependent divisions, so evaluating the two together lets the processor overlap them.
func millsRatioPair(x, y float64) (float64, float64) {
	if x < 4 {
		return millsRatio(x), millsRatio(y)
	}
	k := millsTerms(x)
	n := millsTerms(y)
	t := x
	u := y
	for ; k > n; k-- {
		t = x + float64(k)/t
	}
	for ; k > 0; k-- {
		f := float64(k)
		t = x + f/t
		u = y + f/u
	}
	return 1 / t, 1 / u
}

// millsDifference returns M(m-r)-M(m+r) for a short interval without cancellation, as the integral of -M'(x) =
// 1 - x M(x), by four-point Gauss-Legendre. Its arguments are the middle and the radius because the ends, once
// rounded, would no longer have the radius r.
func millsDifference(m, r float64) float64 {
	const (
		n1 = 0.3399810435848563
		w1 = 0.6521451548625461
		n2 = 0.8611363115940526
		w2 = 0.3478548451374538
	)
	f := func(d float64) float64 {
		x := m - d
		y := m + d
		mx, my := millsRatioPair(x, y)
		return (1 - x*mx) + (1 - y*my)
	}
	return r * (w1*f(r*n1) + w2*f(r*n2))
}

// GaussianMu returns the largest mu for which a Gaussian mechanism is
// (epsilon, delta)-private, rounded down. It is 0 when delta is not positive or
// epsilon is negative or undefined, and +Inf when delta >= 1.
func GaussianMu(epsilon, delta float64) float64 {
	lo, _ := gaussianMuBracket(epsilon, delta, 1e-15)
	return lo
}

// gaussianMuBracket returns mu just below and just above the solution of
// gaussianDelta(mu, epsilon) = delta, within the relative tolerance tol.
func gaussianMuBracket(epsilon, delta, tol float64) (float64, float64) {
	switch {
	case math.IsNaN(epsilon) || math.IsNaN(delta) || epsilon < 0 || delta <= 0:
		return 0, 0
	case delta >= 1:
		return math.Inf(1), math.Inf(1)
	}
	t := newThreshold(
		func(mu float64) float64 {
			return gaussianDelta(mu, epsilon)
		},
		delta,
		true,
	)
	hi := 1.0
	for t.holds(hi) && hi < 1e150 {
		hi *= 2
	}
	lo := hi / 2
	for !t.holds(lo) {
		lo, hi = lo/2, lo
	}
	lo, hi = t.bisect(lo, hi, tol)
	return lo * (1 - numericGuard), hi * (1 + numericGuard)
}

// GaussianEpsilon returns the smallest epsilon >= 0 at which a Gaussian mechanism with parameter mu is
// (epsilon, delta)-private, rounded up. It returns +Inf if delta <= 0 with mu > 0, and for invalid arguments.
func GaussianEpsilon(mu, delta float64) float64 {
	switch {
	case mu == 0 || delta >= 1:
		return 0
	case !(mu > 0) || !(delta > 0) || math.IsInf(mu, 1):
		return math.Inf(1)
	case gaussianDelta(mu, 0) <= delta:
		return 0
	}
	// 1-Phi(t) <= exp(-t^2/2) makes the upper end feasible.
	top := mu*mu/2 + mu*math.Sqrt(-2*math.Log(delta))
	_, hi := newThreshold(func(e float64) float64 {
		return gaussianDelta(mu, e)
	}, delta, false).bisect(0, top, 1e-15)
	return hi * (1 + numericGuard)
}
