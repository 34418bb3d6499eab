package evaluate

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Share is a privately released number in [0, 1] about records drawn like the held-out ones. The interval
// covers the privacy noise and the sampling error of the held-out part.
type Share struct {
	Value float64 `json:"value"`
	Lower float64 `json:"lower"` // end of the interval, in [0, Value]
	Upper float64 `json:"upper"` // end of the interval, in [Value, 1]
	Level float64 `json:"level"` // confidence level of the interval
}

// Known reports whether anything is known: of an unknown share the interval is [0, 1].
func (s Share) Known() bool {
	return s.Lower > 0 || s.Upper < 1
}

// unknownShare returns the share without any information.
func unknownShare(level float64) Share {
	return Share{
		Value: .5,
		Lower: 0,
		Upper: 1,
		Level: level,
	}
}

// A noisy is a noisy number of records with the variance and the fourth cumulant of its noise. The latter is 0 for Gaussian
// noise and 3 times the square of the variance for Laplace noise; those of independent numbers add up.
type noisy struct{ value, variance, fourth float64 }

// laplaceCell returns a number with Laplace noise of a variance.
func laplaceCell(variance float64) noisy {
	return noisy{variance: variance, fourth: laplaceExcess * square(variance)}
}

func (a noisy) withValue(x float64) noisy {
	a.value = x
	return a
}

func (a noisy) addNoisy(b noisy) noisy {
	return noisy{a.value + b.value, a.variance + b.variance, a.fourth + b.fourth}
}

func (a noisy) toCount() Count {
	return Count{a.value, math.Sqrt(a.variance)}
}

// knownAt is the number of standard deviations of its noise that a whole must exceed for a share of it to be
// known.
const knownAt = 2.5

// deviations returns the value in standard deviations of its noise.
func (a noisy) deviations() float64 {
	return a.value / math.Sqrt(a.variance)
}

// isKnown reports whether a whole is significantly above 0.
func (a noisy) isKnown() bool {
	return a.deviations() >= knownAt
}

// normalDeviations returns the number of standard deviations within which a normal variable is with probability level.
func normalDeviations(level float64) float64 {
	return distuv.UnitNormal.Quantile(1 - (1-level)/2)
}

// shareVariance returns the variance of part/(part + rest) as an estimate of a population's share a:
//
//	((1-a)^2 Var part + a^2 Var rest)/n^2 + a (1-a)/n,
//
// the sum of the noise and the sampling error.
func shareVariance(part, rest noisy) float64 {
	n := part.value + rest.value
	a := min(max(part.value/n, 0), 1)
	return (square(1-a)*part.variance+square(a)*rest.variance)/(n*n) + a*(1-a)/n
}

// portionOf returns part/(part + rest) with the interval of all shares rho with
//
//	(part - rho n)^2 <= z^2 (Var(part - rho n) + n rho (1 - rho)),  n = part + rest.
//
// Without luck of the draw it is Fieller's interval for the ratio of two normal
// numbers, which covers at exactly its level; without noise it is Wilson's for a
// share (E. B. Wilson, "Probable inference", JASA 1927). Both take the variance at the
// ends of the interval and not at the estimate, which matters near 0 and 1. A share of
// a whole that is not known is unknown.
func portionOf(part, rest noisy, level float64) Share {
	return limitShare(unlimitedPortion(part, rest, level))
}

// unlimitedPortion implements portion without limiting its three numbers to [0, 1]. Noise may put them outside, where
// the sampling error is 0: an end outside is Fieller's.
func unlimitedPortion(part, rest noisy, level float64) Share {
	whole := part.addNoisy(rest)
	if !whole.isKnown() {
		return unknownShare(level)
	}
	lower, upper, ok := solveFieller(part, whole, level, 0)
	if !ok {
		return unknownShare(level)
	}
	inner, outer, _ := solveFieller(part, whole, level, whole.value)
	if lower >= 0 && lower <= 1 {
		lower = inner
	}
	if upper >= 0 && upper <= 1 {
		upper = outer
	}
	return Share{
		Value: part.value / whole.value,
		Lower: lower,
		Upper: upper,
		Level: level,
	}
}

// solveFieller returns the ends of that interval, with the sampling error rho (1 - rho) in place of n rho (1 - rho),
// and reports whether it has two ends.
func solveFieller(
	part, whole noisy,
	level, luck float64,
) (lower, upper float64, ok bool) {
	n := whole.value
	z2 := square(portionDeviations(part, whole, level, luck))
	a := n*n - z2*(whole.variance-luck)
	b := part.value*n - z2*(part.variance-luck/2)
	c := square(part.value) - z2*part.variance
	root := math.Sqrt(max(b*b-a*c, 0))
	return (b - root) / a, (b + root) / a, a > 0
}

// portionDeviations returns the number of standard deviations of part - rho n, for rho = part/n, within which it is with
// probability level. Its noise is (1 - rho) part - rho rest, and that of the sampling error is normal.
func portionDeviations(part, whole noisy, level, luck float64) float64 {
	if whole.fourth == 0 {
		return normalDeviations(level)
	}
	rho := min(max(part.value/whole.value, 0), 1)
	restVariance := whole.variance - part.variance
	variance := square(1-rho)*part.variance + square(rho)*restVariance + luck*rho*(1-rho)
	fourth := square(square(1-rho))*part.fourth + square(square(rho))*(whole.fourth-part.fourth)
	return deviationsWithin(level, fourth/square(variance))
}

// limitShare limits a share and the ends of its interval to [0, 1], which contains the true share.
func limitShare(s Share) Share {
	s.Lower = min(max(s.Lower, 0), 1)
	s.Upper = min(max(s.Upper, 0), 1)
	s.Value = min(max(s.Value, s.Lower), s.Upper)
	return s
}

// How recalls treats classes whose number of records is near its noise.
const (
	// A class is plain if its number of records is plainStart standard deviations of
	// its noise, and plainGrowth times the root of the number of classes: the mean of
	// noisy ratios is biased by the square of the noise over their wholes, which
	// more classes do not average out.
	plainStart  = 4
	plainGrowth = 2.5
	// plainBeside is the required number of deviations, as a multiple, relative to a class that is not plain:
	// other such classes may be included only because of noise, and then their recalls are too low.
	plainBeside = 2
	// plainLevel is the level of the recalls of plain classes. What is left above [Level] covers
	// the approximation by which their distances are added up.
	plainLevel = .97
	// doubtfulLevel is the joint level of the recalls of all other classes.
	doubtfulLevel = .99
)

// classRecalls returns the share of every class that is classified correctly, and their mean.
//
// The distances of the plain classes' recalls from their own limits are added in squares, which preserves their
// asymmetry (G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general
// approach", Statistics in Medicine 2008), at [plainLevel]; this is an approximation. The recalls of the others
// may all deviate from their estimates in the same direction, and an unknown one may have any value: each has
// an interval at a level at which they all hold jointly with at least [doubtfulLevel] (the union bound), and
// these distances are added linearly.
func classRecalls(hits, misses []noisy) (each []Share, mean Share) {
	mean.Level = Level
	n := float64(len(hits))
	least := plainFrom(hits, misses)
	below := 0.
	above := 0.
	under := 0.
	over := 0.
	for k := range hits {
		each = append(each, portionOf(hits[k], misses[k], Level))
		if hits[k].addNoisy(misses[k]).deviations() >= least {
			s := unlimitedPortion(hits[k], misses[k], plainLevel)
			mean.Value += s.Value / n
			below += square(max(s.Value-s.Lower, 0))
			above += square(max(s.Upper-s.Value, 0))
			continue
		}
		s := portionOf(hits[k], misses[k], 1-(1-doubtfulLevel)/n)
		mean.Value += s.Value / n
		under += (s.Value - s.Lower) / n
		over += (s.Upper - s.Value) / n
	}
	mean.Lower = mean.Value - under - math.Sqrt(below)/n
	mean.Upper = mean.Value + over + math.Sqrt(above)/n
	return each, limitShare(mean)
}

// plainFrom returns the number of standard deviations of its noise that a plain class must have.
func plainFrom(hits, misses []noisy) float64 {
	least := max(plainStart, plainGrowth*math.Sqrt(float64(len(hits))))
	for k := range hits {
		if hits[k].addNoisy(misses[k]).deviations() < least {
			return plainBeside * least
		}
	}
	return least
}
