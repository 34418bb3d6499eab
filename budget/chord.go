package budget

import "math"

// chord is a bound on delta between -epsilon and epsilon that follows from the one,
// delta, at epsilon.
//
// Delta as a function of t = e^epsilon is a largest mean of (1 - t e^-loss)+, hence convex, and neighbours are
// a symmetric relation, so that a bound at t is one at 1/t too ([mirrorDelta]). Between the two points the
// bound is below their chord,
//
//	delta + (1-delta) (e^epsilon - t)/(1 + e^epsilon)
//
// (the same as the region of Kairouz, Oh and Viswanath 2017, for one mechanism).
type chord struct{ epsilon, delta float64 }

// deltaAt returns the bound at x >= 0, +Inf beyond the end of the chord.
func (c chord) deltaAt(x float64) float64 {
	if !(x <= c.epsilon) {
		return math.Inf(1)
	}
	// (e^epsilon - e^x)/(1 + e^epsilon), without an overflow
	slope := -math.Expm1(x-c.epsilon) / (1 + math.Exp(-c.epsilon))
	return (c.delta + (1-c.delta)*slope) * (1 + numericGuard)
}

// tangentChord returns the chord of the account that is lowest at 0. It matters where only Rényi bounds are
// available: far below the epsilon that their orders are chosen for, they are poor.
func (a *account) tangentChord() chord {
	a.once.Do(func() {
		_, u := scanMinimum(-9, 6, 60, func(u float64) float64 {
			e := math.Exp(u)
			return chord{e, a.pointwiseDelta(e)}.deltaAt(0)
		})
		e := math.Exp(u)
		a.tangent = chord{e, a.pointwiseDelta(e)}
	})
	return a.tangent
}
