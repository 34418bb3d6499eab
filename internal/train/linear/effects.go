package linear

import "math"

const (
	// seenNoise is by how many standard deviations of its noise the count of a
	// level must exceed 0 for the level to have an effect of its own. A level
	// without records has one with a chance of 2.3%.
	seenNoise = 2
	// unlistedNoise is the same for the values that a column does not list, where
	// training had no entry for them. That noise alone exceeds it has a chance of
	// 1e-9: such an effect changes the form of the model.
	unlistedNoise = 6
)

// effect is what a level of a category adds to the prediction beyond the mean
// record, in scaled units, and its standard error.
type effect struct{ value, deviation float64 }

// effects are those of the levels of a category column: theta less its mean m
// over the released counts,
//
//	effect_v = theta_v - m,  m = sum_u p_u theta_u,
//	Var effect_v = C_vv - 2 (C p)_v + p'Cp + sum_u (s_u (theta_u - m)/n)^2,
//
// C the covariance of the noise in theta, p the shares of the levels whose count
// can be told from 0, s_u the noise of a count and n the sum of the counts. The
// last sum is the noise of the shares; that it is correlated with that of theta
// is neglected. m goes to the intercept: predictions stay what they are.
//
// About a level whose count cannot be told from 0 nothing was learned: it takes
// the effect of the other values, or 0, that of the mean record. Its own may lie
// anywhere among the effects, so the larger of the square of that value and the
// mean square of the effects is added to its variance, and it is never called
// significant.
type effects struct {
	levels []effect
	// unlisted is the effect of a value that the column does not list. It is 0
	// where no entry stands for such values and their count cannot be told from 0.
	unlisted effect
	listed   bool      // an entry stands for them, or they have no effect
	share    []float64 // p, one a level
	shares   float64   // the variance of m from the noise of p
	seen     []bool    // levels whose count can be told from 0
}

// effectsOf reads the effects of the entries [lo, hi); the last of them stands
// for the values that the column does not list if other is set.
func effectsOf(fit Solution, d Distribution, lo, hi int, other bool) effects {
	e := effects{levels: make([]effect, hi-lo), share: make([]float64, hi-lo), seen: make([]bool, hi-lo), listed: true}
	counts := make([]measured, hi-lo)
	total := 0.
	for v := range e.share {
		if n := d.count(lo + v); n.above(seenNoise) {
			e.share[v], e.seen[v], counts[v] = n.value, true, n
			total += n.value
		}
	}
	rest := d.unlisted(lo, hi)
	if e.listed = other || !rest.above(unlistedNoise); !e.listed {
		total += rest.value
	}
	for v := range e.share {
		if total > 0 {
			e.share[v] /= total
		} else { // nothing is known of any level: the plain mean
			e.share[v] = 1 / float64(hi-lo)
		}
	}
	mean := 0.
	for v, p := range e.share {
		mean += p * fit.Theta[lo+v]
	}
	for v, n := range counts {
		if e.seen[v] {
			e.shares += square(n.noise * (fit.Theta[lo+v] - mean) / total)
		}
	}
	if !e.listed {
		e.shares += square(rest.noise * mean / total)
	}
	e.centre(fit, lo, mean)
	e.borrow(other)
	return e
}

// centre fills in the effects of all levels and of the unlisted values.
func (e *effects) centre(fit Solution, lo int, mean float64) {
	with, variance := make([]float64, len(e.share)), e.shares // C p, and p'Cp
	for v := range e.share {
		for u, p := range e.share {
			if p != 0 {
				with[v] += p * fit.Cov.At(lo+v, lo+u)
			}
		}
		variance += e.share[v] * with[v]
	}
	for v := range e.levels {
		e.levels[v] = effect{
			fit.Theta[lo+v] - mean,
			math.Sqrt(max(fit.Cov.At(lo+v, lo+v)-2*with[v]+variance, 0)),
		}
	}
	if !e.listed {
		e.unlisted = effect{-mean, math.Sqrt(max(variance, 0))}
	}
}

// borrow gives every level that was not seen the effect of the other values.
func (e *effects) borrow(other bool) {
	stand := e.unlisted
	spread := 0.
	rest := 1.
	for v, x := range e.levels {
		if e.seen[v] {
			spread += e.share[v] * x.value * x.value
			rest -= e.share[v]
		}
	}
	if last := len(e.seen) - 1; other && e.seen[last] {
		stand = e.levels[last]
	}
	if !e.listed {
		spread += max(rest, 0) * stand.value * stand.value
	}
	deviation := math.Sqrt(stand.deviation*stand.deviation + max(spread, stand.value*stand.value))
	for v := range e.levels {
		if e.seen[v] {
			continue
		}
		if deviation == 0 { // no level was seen: that of its own noise
			deviation = e.levels[v].deviation
		}
		e.levels[v] = effect{stand.value, deviation}
	}
}

// asTrained returns the effects about that of the values that the column does not
// list, as training had them: they have no entry and no effect.
func (e effects) asTrained(fit Solution, lo int) effects {
	out := effects{levels: make([]effect, len(e.levels)), share: make([]float64, len(e.share)), listed: true}
	for v, x := range e.levels {
		out.levels[v] = effect{0, x.deviation}
		if e.seen[v] {
			out.levels[v] = effect{fit.Theta[lo+v], math.Sqrt(fit.Cov.At(lo+v, lo+v))}
		}
	}
	return out
}

func square(x float64) float64 { return x * x }
