package budget

import "math"

// The curves of this file are hockey-stick divergences delta(epsilon) of
// dominating pairs. They accept any real epsilon, follow 1-e^epsilon below
// -law and 0 above law, where law is the mechanism's own epsilon, and return 1
// for a law that is negative or undefined.

// boundedCurve returns the value of a curve supported on [-law, law]: inside() within the support, and the
// common limits outside.
func boundedCurve(law, epsilon float64, inside func() float64) float64 {
	switch {
	case math.IsNaN(epsilon) || !(law >= 0):
		return 1
	case epsilon >= law:
		return 0
	case epsilon <= -law:
		return -math.Expm1(epsilon)
	}
	return inside()
}

// laplaceDelta is the curve of one scalar Laplace release with
// law = sensitivity/scale: 1 - exp((epsilon-law)/2). A vector with an L1 bound
// only is covered by pureDelta.
//
// The two-sided geometric (discrete Laplace) law on a grid, with a scale of s
// grid steps, exceeds this curve by at most 1/(8 s^2); see geometricDelta.
func laplaceDelta(law, epsilon float64) float64 {
	return boundedCurve(
		law,
		epsilon,
		func() float64 {
			return -math.Expm1((epsilon - law) / 2)
		},
	)
}

// exponentialDelta is the curve of one exponential mechanism, or of any other
// law-bounded-range step:
//
//	(e^(law/2) - e^(epsilon/2))^2 / (e^law - 1)
//
// For a fixed pair of neighbours the losses are in [t-law, t]; the extremal two-point law has P(loss = t) =
// (e^law - e^t)/(e^law - 1), and the curve is the maximum over t, attained at t = (law+epsilon)/2. A supremum
// of hockey-stick curves is a dominating curve (Zhu, Dong, Wang 2022).
func exponentialDelta(law, epsilon float64) float64 {
	return boundedCurve(law, epsilon, func() float64 {
		t := math.Expm1((epsilon - law) / 2)
		return t * t / -math.Expm1(-law)
	})
}

// pureDelta is the curve of randomised response, which dominates every
// law-private mechanism (Kairouz, Oh, Viswanath 2015):
// (e^law - e^epsilon)/(1 + e^law).
func pureDelta(law, epsilon float64) float64 {
	return boundedCurve(law, epsilon, func() float64 {
		return -math.Expm1(epsilon-law) / (1 + math.Exp(-law))
	})
}

// approximateDelta dominates every (law, delta)-private mechanism: randomised
// response with probability 1-delta, an unbounded loss with probability delta.
func approximateDelta(law, delta, epsilon float64) float64 {
	if !(delta >= 0 && delta <= 1) {
		return 1
	}
	return delta + (1-delta)*pureDelta(law, epsilon)
}

// logMoment returns ln E[exp(t L)] of the dominating loss L of one draw, t >= 0,
// without mass at infinity. The sums are closed forms of the laws above.
func (l Law) logMoment(t float64) float64 {
	if l.Kind == Gaussian {
		return t * (t + 1) * l.Mu * l.Mu / 2
	}
	e := l.Epsilon
	u := (t + 0.5) * e
	switch l.Kind {
	case Exponential:
		return logSinhc(u) - logSinhc(e/2)
	case Laplace:
		// e^(te)/2 + e^(-(t+1)e)/2 + e^(-e/2) sinh(u)/(2t+1), scaled by e^(-te).
		middle := math.Exp(-e/2+logSinhc(u)-t*e) * e / 2
		return t*e + math.Log(0.5+math.Exp(-(2*t+1)*e)/2+middle)
	default: // Pure, Approximate
		return logCosh(u) - logCosh(e/2)
	}
}

// logCosh returns ln cosh x, accurate near 0 and for large |x|.
func logCosh(x float64) float64 {
	x = math.Abs(x)
	if x < 1 {
		s := math.Sinh(x / 2)
		return math.Log1p(2 * s * s)
	}
	return x - math.Ln2 + math.Log1p(math.Exp(-2*x))
}

// logSinhc returns ln(sinh(x)/x) for x >= 0, accurate near 0 and for large x.
func logSinhc(x float64) float64 {
	if x < 0.3 {
		y := x * x
		return math.Log1p(y / 6 * (1 + y/20*(1+y/42*(1+y/72*(1+y/110)))))
	}
	return x - math.Ln2 + math.Log1p(-math.Exp(-2*x)) - math.Log(x)
}
