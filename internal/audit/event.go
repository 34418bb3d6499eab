package audit

import (
	"cmp"
	"math"
	"slices"
)

// Number of single values whose threshold events are tried by each of two measures, of thresholds of a score, and the
// criterion for including a value in the linear score.
const (
	singles    = 16
	thresholds = 96
	// noticed is the minimum difference of the means of a value, in standard deviations, for it to be part of
	// the linear score.
	noticed = 2
)

// A score maps the outputs of a run to a number: a weighted sum of values, each clamped to its usual range
// first, or a single value.
type score struct {
	single  int // index of the value, or -1
	weights []float64
	lo, hi  []float64
}

func (s score) value(x []float64) float64 {
	if s.single >= 0 {
		return x[s.single]
	}
	sum := 0.
	for k, w := range s.weights {
		if w != 0 {
			sum += w * min(max(x[k], s.lo[k]), s.hi[k])
		}
	}
	return sum
}

// An event is that the score of a run is at least, or below, a threshold; it is
// expected to be likelier on side than on the other.
type event struct {
	score score
	at    float64
	below bool
	side  int
}

func (e event) contains(x []float64) bool {
	return (e.score.value(x) < e.at) == e.below
}

// learned holds the result of the first half of the runs: the events with the largest expected bounds.
type learned struct {
	epsilon      event
	mu           event
	epsilonGuess float64
	muGuess      float64
}

// learnEvents searches for the events that best distinguish two sides. runs[side] are the outputs of the runs on a
// side, all of equal length, without NaN.
//
// The linear score is that of linear discriminants with a diagonal covariance: weights (mean1 -
// mean0)/variance. For independent Gaussian noise it is the logarithm of the likelihood ratio, and for a choice
// among candidates (one value per candidate, 1 for the chosen one) nearly so.
func learnEvents(runs [2][][]float64, delta, z float64) learned {
	out := learned{}
	n := min(len(runs[0]), len(runs[1]))
	for _, s := range scores(runs) {
		var values [2][]float64
		for side := range values {
			values[side] = make([]float64, n)
			for i := range n {
				values[side][i] = s.value(runs[side][i])
			}
			slices.Sort(values[side])
		}
		for _, at := range cuts(values) {
			out.tryThreshold(s, at, values, delta, z)
		}
	}
	return out
}

// tryThreshold tries the two events of a threshold, each in both directions.
func (l *learned) tryThreshold(
	s score,
	at float64,
	values [2][]float64,
	delta, z float64,
) {
	n := float64(len(values[0]))
	var below [2]float64
	for side, v := range values {
		k, _ := slices.BinarySearch(v, at)
		below[side] = float64(k)
	}
	for side := range values {
		for _, under := range []bool{true, false} {
			p := below[side]
			q := below[1-side]
			if !under {
				p = n - p
				q = n - q
			}
			// Wilson's interval replaces the exact one, because it only selects the events for the second half.
			low, _ := wilson(p, n, z)
			_, high := wilson(q, n, z)
			e := event{s, at, under, side}
			if g := epsilonOf(low, high, delta); g > l.epsilonGuess {
				l.epsilon = e
				l.epsilonGuess = g
			}
			if g := muOf(low, high); g > l.muGuess {
				l.mu = e
				l.muGuess = g
			}
		}
	}
}

func wilson(k, n, z float64) (lo, hi float64) {
	p := k / n
	z2 := z * z / n
	center := (p + z2/2) / (1 + z2)
	half := z * math.Sqrt(p*(1-p)/n+z2/(4*n)) / (1 + z2)
	return max(center-half, 0), min(center+half, 1)
}

// cuts returns thresholds at quantiles of both sides, and just above the
// smallest values.
func cuts(values [2][]float64) []float64 {
	n := len(values[0])
	var out []float64
	for _, v := range values {
		for i := 1; i < thresholds; i++ {
			// The tails are cut more finely than the middle.
			u := float64(i) / thresholds
			q := u * u * (3 - 2*u)
			x := v[min(int(q*float64(n)), n-1)]
			out = append(out, x, math.Nextafter(x, math.Inf(1)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// scores returns the scores that are tried.
func scores(runs [2][][]float64) []score {
	width := len(runs[0][0])
	linear := score{
		single:  -1,
		weights: make([]float64, width),
		lo:      make([]float64, width),
		hi:      make([]float64, width),
	}
	strength := make([]float64, width)
	distance := make([]float64, width)
	column := [2][]float64{make([]float64, len(runs[0])), make([]float64, len(runs[1]))}
	for k := range width {
		var both []float64
		for side, r := range runs {
			for i, x := range r {
				column[side][i] = x[k]
			}
			both = append(both, column[side]...)
		}
		slices.Sort(both)
		distance[k] = largestGap(column)
		lo := both[len(both)/200]
		hi := both[len(both)-1-len(both)/200]
		linear.lo[k] = lo
		linear.hi[k] = hi
		m0, v0 := moments(column[0], lo, hi)
		m1, v1 := moments(column[1], lo, hi)
		if lo == hi { // nearly constant: only its own events are informative
			if both[0] != both[len(both)-1] {
				strength[k] = 1e-3
			}
			continue
		}
		v := (v0+v1)/2 + 1e-12*(hi-lo)*(hi-lo)
		if n := float64(len(column[0])); n*(m1-m0)*(m1-m0) > 2*noticed*noticed*v {
			linear.weights[k] = (m1 - m0) / v // otherwise it is noise, which adds up over many values
		}
		spread := math.Log((v0 + 1e-9*v) / (v1 + 1e-9*v))
		strength[k] = (m1-m0)*(m1-m0)/v + spread*spread/4
	}
	out := []score{linear}
	var tried []int
	for _, measure := range [][]float64{strength, distance} {
		for _, k := range largest(measure, singles) {
			if !slices.Contains(tried, k) {
				tried = append(tried, k)
				out = append(out, score{single: k})
			}
		}
	}
	return out
}

// largest returns the indices of the n largest positive values, the largest first.
func largest(values []float64, n int) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(values[b], values[a])
	})
	order = order[:min(n, len(order))]
	return slices.DeleteFunc(order, func(k int) bool {
		return !(values[k] > 0)
	})
}

// largestGap returns the largest difference of the two empirical distribution functions (Kolmogorov-Smirnov). It finds
// a threshold between two close values even where other runs have values far away.
func largestGap(column [2][]float64) float64 {
	a := slices.Sorted(slices.Values(column[0]))
	b := slices.Sorted(slices.Values(column[1]))
	gap := 0.0
	i := 0
	j := 0
	for i < len(a) && j < len(b) {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		gap = max(gap, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return gap
}

// moments are mean and variance of values moved into [lo, hi].
func moments(x []float64, lo, hi float64) (mean, variance float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += min(max(v, lo), hi) / n
	}
	for _, v := range x {
		d := min(max(v, lo), hi) - mean
		variance += d * d / n
	}
	return mean, variance
}
