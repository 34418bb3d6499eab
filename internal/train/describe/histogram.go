package describe

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// The histogram of a numeric column is a tree of two levels: 8 nodes of 8 leaves each, all measured with the
// same noise. For the cumulative sums of leaves, from which quantiles are computed, such a tree is more
// accurate in the middle than leaves alone or a binary tree.

const fanOut = mechanism.TreeLeaves / mechanism.TreeNodes

// fitTree returns the least-squares estimates of the nodes and leaves: each node is the mean of its own
// measurement, of variance 2, and of the sum of its leaves, of variance 16, weighted by 1/variance; the
// resulting change of the sum of its leaves is divided among them.
func fitTree(nodes, leaves []float64) (fitted, leavesFitted []float64) {
	leavesFitted = make([]float64, len(leaves))
	for p, node := range nodes {
		sum := 0.
		for _, x := range leaves[p*fanOut : (p+1)*fanOut] {
			sum += x
		}
		best := (sum/16 + node/2) / (9. / 16)
		fitted = append(fitted, best)
		for i := p * fanOut; i < (p+1)*fanOut; i++ {
			leavesFitted[i] = leaves[i] + (best-sum)/fanOut
		}
	}
	return fitted, leavesFitted
}

// prefixVariance returns the variance of the sum of the first k consistent leaves, for noise of variance 1 in a count of weight 1.
func prefixVariance(k int) float64 {
	a, b := float64(k/fanOut), float64(k%fanOut)
	return 16*a/9 + 2*b*(1-b/fanOut) + 16./9*(b/fanOut)*(b/fanOut)
}

// leafVariance is the variance of a consistent leaf.
const leafVariance = 16. / 9

// binEdge returns edge k of equal intervals of a range, k from 0 to TreeLeaves.
func binEdge(lower, upper float64, k int) float64 {
	at := float64(k) / mechanism.TreeLeaves
	return lower*(1-at) + upper*at
}

// A quantileScan holds what quantiles of a column are read from: consistent leaves with the noise of a count of weight 1, the number
// of values below the range and the number of all values.
type quantileScan struct {
	leaves []float64
	noise  float64
	below  noisyNumber
	count  noisyNumber
}

// interval returns the positions of the edges between which the q-quantile of the column is, with confidence
// 95%, and the position of the quantile itself, in units of a leaf. An end is -1 if it is open.
//
// S_k is the number of values below edge k minus q times the number of values. The lower end is the last edge,
// scanning upwards, before S_k is no longer certainly below 0. It exceeds the quantile only if S_k is certainly
// below 0 at one fixed edge, the first one above the quantile, which has probability 2.5%. So no union bound is
// needed; the same applies to the upper end.
func (x quantileScan) interval(q float64) (lower, upper int, at float64) {
	const edges = mechanism.TreeLeaves + 1
	var s, sd [edges]float64
	total := x.below.value
	for k := range edges {
		if k > 0 {
			total += x.leaves[k-1]
		}
		s[k] = total - q*x.count.value
		sd[k] = math.Sqrt(prefixVariance(k)*x.noise*x.noise + x.below.noise*x.below.noise +
			q*q*x.count.noise*x.count.noise)
	}
	lower = -1
	upper = -1
	for k := 0; k < edges && s[k] < -z95*sd[k]; k++ {
		lower = k
	}
	for k := edges - 1; k >= 0 && s[k] > z95*sd[k]; k-- {
		upper = k
	}
	return lower, upper, zeroCrossing(s[:])
}

// zeroCrossing returns the position where the running maximum of s reaches 0, by linear interpolation;
// otherwise 0 or the last position.
func zeroCrossing(s []float64) float64 {
	most := s[0]
	if most >= 0 {
		return 0
	}
	for k := 1; k < len(s); k++ {
		if s[k] >= 0 {
			return float64(k-1) + -most/(s[k]-most)
		}
		most = math.Max(most, s[k])
	}
	return float64(len(s) - 1)
}

// cutLimits returns the .03 and .97 quantiles of a column, each read from its own end, or the range itself if they nearly coincide or the
// number of values may be 0. A quantile beyond the range becomes the end of the range.
//
// Sums of counts from an end are used, negative counts included: with these left out, the noise of many empty leaves would add
// up to more than the share of a tail.
func cutLimits(
	lower, upper float64,
	leaves []float64,
	below, above, values noisyNumber,
) (from, to float64) {
	const outer = .03
	if !(values.value > 0 && values.value >= minSignal*values.noise) {
		return lower, upper
	}
	last := len(leaves)
	left := make([]float64, last+1)
	right := make([]float64, last+1)
	left[0] = below.value - outer*values.value
	right[0] = above.value - outer*values.value
	for k := range last {
		left[k+1], right[k+1] = left[k]+leaves[k], right[k]+leaves[last-1-k]
	}
	at := func(position float64) float64 {
		part := position / mechanism.TreeLeaves
		return lower*(1-part) + upper*part
	}
	from = at(zeroCrossing(left))
	to = at(float64(last) - zeroCrossing(right))
	if !(to/2-from/2 >= 1e-3*(upper/2-lower/2)) {
		return lower, upper
	}
	return from, to
}

// Bars returns the counts of a histogram in bars of equally many leaves, each within one node, with intervals of 95%.
func Bars(b *Bins, bars int) []Estimate {
	each := len(b.Counts) / bars
	noise := b.Scale / math.Sqrt(leafVariance) * math.Sqrt(prefixVariance(each))
	out := make([]Estimate, 0, bars)
	for k := range bars {
		sum := 0.
		for _, n := range b.Counts[k*each : (k+1)*each] {
			sum += n
		}
		out = append(out, countEstimate(noisyNumber{sum, noise}))
	}
	return out
}
