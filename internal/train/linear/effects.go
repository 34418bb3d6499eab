package linear

import "math"

const (
	// seenNoise is the number of standard deviations of its noise by which the count of a level must exceed 0
	// for the level to have an effect of its own. A level without records exceeds it with probability 2.3%.
	seenNoise = 2
	// unlistedNoise is the same for the values that a column does not list, if training had no entry for them.
	// It is so large that noise alone exceeds it only with probability 1e-9, because such an effect changes the form
	// of the model.
	unlistedNoise = 6
)

// effect is the contribution of a level of a category to the prediction, relative to the mean record, in scaled
// units, and its standard error.
type effect struct{ value, deviation float64 }

// effects are those of the levels of a category column: theta minus its mean m over the released counts,
//
//	effect_v = theta_v - m,  m = sum_u p_u theta_u,
//	Var effect_v = C_vv - 2 (C p)_v + p'Cp + sum_u (s_u (theta_u - m)/n)^2,
//
// with C the covariance of the noise in theta, p the shares of the levels whose count is significantly above 0,
// s_u the noise of a count and n the sum of the counts. The last sum is the noise of the shares; its
// correlation with that of theta is neglected. m is added to the intercept, so predictions are unchanged.
//
// A level whose count is not significant has no estimate: it gets the effect of the other values, or 0, that of
// the mean record. Its true effect may be anywhere among the effects, so the larger of the square of that value
// and the mean square of the effects is added to its variance, and it never counts as significant.
type effects struct {
	levels []effect
	// unlisted is the effect of a value that the column does not list. It is 0 if no entry represents such
	// values and their count is not significantly above 0.
	unlisted effect
	listed   bool      // an entry represents them, or they have no effect
	share    []float64 // p, one per level
	shares   float64   // the variance of m from the noise of p
	seen     []bool    // levels with a significant count
}

// effectsOf computes the effects of the entries [lo, hi). If other is set, the last entry represents the values
// that the column does not list.
func effectsOf(fit Solution, d Distribution, lo, hi int, other bool) effects {
	e := effects{
		levels: make([]effect, hi-lo),
		share:  make([]float64, hi-lo),
		seen:   make([]bool, hi-lo),
		listed: true,
	}
	counts := make([]noisyNumber, hi-lo)
	total := 0.
	for v := range e.share {
		if n := d.countOfEntry(lo + v); n.isAbove(seenNoise) {
			e.share[v] = n.value
			e.seen[v] = true
			counts[v] = n
			total += n.value
		}
	}
	rest := d.countUnlisted(lo, hi)
	if e.listed = other || !rest.isAbove(unlistedNoise); !e.listed {
		total += rest.value
	}
	for v := range e.share {
		if total > 0 {
			e.share[v] /= total
		} else { // no level is significant: the plain mean
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
	e.centreEffects(fit, lo, mean)
	e.borrowEffects(other)
	return e
}

// centreEffects fills in the effects of all levels and of the unlisted values.
func (e *effects) centreEffects(fit Solution, lo int, mean float64) {
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

// borrowEffects gives every level that was not seen the effect of the other values.
func (e *effects) borrowEffects(other bool) {
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
	out := effects{
		levels: make([]effect, len(e.levels)),
		share:  make([]float64, len(e.share)),
		listed: true,
	}
	for v, x := range e.levels {
		out.levels[v] = effect{0, x.deviation}
		if e.seen[v] {
			out.levels[v] = effect{fit.Theta[lo+v], math.Sqrt(fit.Cov.At(lo+v, lo+v))}
		}
	}
	return out
}

func square(x float64) float64 {
	return x * x
}
