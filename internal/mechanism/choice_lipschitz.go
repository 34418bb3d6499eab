package mechanism

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/noise"
)

// lipschitzClasses holds the classes of the canonical Lipschitz mechanism.
//
// # The loss
//
// For a set y of k candidates let a be the best score outside and b the worst
// score inside; LOSS(y) = (1-g) max(a, b) - g b. When a record moves every
// score by an amount in [lo, hi], then max(a, b) and b, being monotone and
// moving with a common shift of the scores, move within [lo, hi] too, and LOSS
// within [(1-g)lo - g hi, (1-g)hi - g lo]: a range of width hi - lo, for every
// g. So with w = hi - lo, the utility -(epsilon/w) LOSS moves within a range of
// width epsilon. That is Delta_f = w/2 in -(epsilon/(2 Delta_f)) LOSS, half the
// width and not the largest absolute change; at g = 1/2 LOSS does not even see
// a common shift. With Gumbel noise the range lemma (docs/proofs/kendall.md,
// "Sensitivity and proof") makes it epsilon-bounded-range. With noise whose log
// survival is 1-Lipschitz, a common shift does not change the argmax, so the
// utilities may be taken to move within +-epsilon/2, a set and its best rival
// by at most epsilon against each other, and the step is epsilon-private.
//
// # The classes
//
// Order the candidates by (score, index), best first. A set other than the best
// one contains ranks 1..h but not h+1 <= k, and its last rank is t > k: its loss
// is (1-g)x_(h+1) - g x_t. The other k-h-1 ranks are free among h+2..t-1, so
// the class (h, t) has C(t-h-2, k-h-1) sets. (The published size,
// C(t-h-1, k-h-1), lets rank h+1 in; sets then have several copies whose number
// depends on the order of the scores, and a change of the order alone costs
// log k at any epsilon. See TestPublishedClassSizes.) The noise of a class is
// the largest of its sets' noises, and the class is opened uniformly.
//
// A loss is counted from that of the best set, (1-2g)x_k, the least of all:
// (1-g)(x_(h+1) - x_k) + g(x_k - x_t), two exact integer differences. It is cut
// at lipschitzReach, which keeps the range: counted from the least, it moves
// within a range of width w that contains 0, and cutting only shrinks a change.
type lipschitzClasses struct {
	k     int
	order []int     // candidates, best first
	head  []float64 // head[h]: rate (1-g)(x_(h+1) - x_k), h < k
	tail  []float64 // tail[t-1]: rate g(x_k - x_t), t > k
	logs  []float64 // log n!
}

// newLipschitzClasses sorts the candidates. rate is epsilon over the width of the
// scores' change, in score units.
func newLipschitzClasses(
	scores Vector,
	k int,
	gamma, rate float64,
) *lipschitzClasses {
	d := len(scores)
	l := &lipschitzClasses{
		k:     k,
		order: make([]int, d),
		head:  make([]float64, k),
		tail:  make([]float64, d),
		logs:  newLogFactorials(d),
	}
	for i := range l.order {
		l.order[i] = i
	}
	slices.SortFunc(l.order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return a - b
	})
	last := scores[l.order[k-1]]
	for h := range l.head {
		l.head[h] = (1 - gamma) * scoreGap(scores[l.order[h]], last) * rate
	}
	for t := k; t < d; t++ {
		l.tail[t] = gamma * scoreGap(last, scores[l.order[t]]) * rate
	}
	return l
}

// logSize returns the logarithm of the number of sets of class (h, t), t > k.
func (l *lipschitzClasses) logSize(h, t int) float64 {
	return l.logs[t-h-2] - l.logs[t-l.k-1] - l.logs[l.k-h-1]
}

// classLoss returns the loss of class (h, t), t > k, in units of the noise, counted
// from the best set's.
func (l *lipschitzClasses) classLoss(h, t int) float64 {
	return math.Min(l.head[h]+l.tail[t-1], lipschitzReach)
}

// drawSet draws a set, increasing: a class, then uniformly one of its sets.
func (l *lipschitzClasses) drawSet(s *noise.Stream, exponential bool) []int {
	h, t := l.drawClass(s, exponential)
	return l.drawFromClass(s, h, t)
}

// drawClass draws a class; (k-1, k) is the best set alone. Every class draws its
// bits, but logarithms are computed only if they can matter: a class whose value is
// certain to stay below the best so far is skipped.
func (l *lipschitzClasses) drawClass(
	s *noise.Stream,
	exponential bool,
) (h, t int) {
	const margin = 0x1p-10 // far above any rounding error
	h = l.k - 1
	t = l.k
	best := classNoise(0, s.Gumbel().Value(), exponential)
	for j := l.k + 1; j <= len(l.order); j++ {
		for i := range l.k {
			gumbel := s.Gumbel()
			size := l.logSize(i, j)
			loss := l.classLoss(i, j)
			most := size + gumbel.UpperBound()
			if exponential {
				most = noise.MaxExponentialUpperBound(most)
			}
			if most-loss+margin < best {
				continue
			}
			if v := classNoise(size, gumbel.Value(), exponential) - loss; v > best {
				best = v
				h = i
				t = j
			}
		}
	}
	return h, t
}

// classNoise returns the largest noise of a class.
func classNoise(logSize, gumbel float64, exponential bool) float64 {
	if exponential {
		return noise.MaxExponential(logSize + gumbel)
	}
	return logSize + gumbel
}

// drawFromClass returns a uniform set of class (h, t): ranks 1..h and t, and k-h-1 of
// h+2..t-1 without replacement (Floyd's algorithm), exactly.
func (l *lipschitzClasses) drawFromClass(s *noise.Stream, h, t int) []int {
	chosen := append(make([]int, 0, l.k), l.order[:h]...)
	chosen = append(chosen, l.order[t-1])
	if need := l.k - h - 1; need > 0 {
		body := l.order[h+1 : t-1]
		taken := make(map[int]bool, need)
		for last := len(body) - need; last < len(body); last++ {
			i := int(s.Uniform(uint64(last + 1)))
			if taken[i] {
				i = last
			}
			taken[i] = true
			chosen = append(chosen, body[i])
		}
	}
	slices.Sort(chosen)
	return chosen
}

// newLogFactorials returns log n! for n = 0..most, most <= maxLipschitz.
//
// The logarithms, each below 14 with an error below 2^-49, are added with a
// running compensation (Neumaier), so that an entry errs by the errors of its
// terms, at most 2^-29, and one rounding, at most 2^-30 as it is below 2^24.
// Three entries and two subtractions make logSize err by less than
// 3*1.5*2^-29 + 2*2^-30 < 2^-26.5. Small tables err far less.
func newLogFactorials(most int) []float64 {
	out := make([]float64, most+1)
	var sum, rest float64
	for n := 2; n <= most; n++ {
		x := math.Log(float64(n))
		next := sum + x
		rest += (sum - next) + x // exact for sum >= x, which fails at n = 3 only
		sum = next
		out[n] = sum + rest
	}
	return out
}
