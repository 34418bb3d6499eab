package published

import (
	"math"
	"math/bits"
)

// Source gives random bits, 64 at a time. The sources of math/rand/v2 are
// examples. It need not be safe for concurrent use.
type Source interface{ Uint64() uint64 }

// dice draws from a source in floating point, like the scripts.
type dice struct{ Source }

// uniform returns a number in the open interval (0, 1).
func (d dice) uniform() float64 {
	return (float64(d.Uint64()>>11) + .5) * 0x1p-53
}

// uniformBelow returns a uniform number in [0, n), n >= 1, without bias (Lemire, "Fast
// Random Integer Generation in an Interval", 2019).
func (d dice) uniformBelow(n int) int {
	size := uint64(n)
	high, low := bits.Mul64(d.Uint64(), size)
	for threshold := -size % size; low < threshold; {
		high, low = bits.Mul64(d.Uint64(), size)
	}
	return int(high)
}

// gumbel has distribution exp(-exp(-x/scale)).
func (d dice) gumbel(scale float64) float64 {
	return -scale * math.Log(-math.Log(d.uniform()))
}

// laplace has density exp(-|x|/scale)/(2 scale).
func (d dice) laplace(scale float64) float64 {
	size := -scale * math.Log(d.uniform())
	if d.Uint64()&1 == 0 {
		return -size
	}
	return size
}

// uniformBetween is uniform between two numbers in any order.
func (d dice) uniformBetween(a, b float64) float64 {
	return a + (b-a)*d.uniform()
}

// permutation returns 0..n-1 in random order.
func (d dice) permutation(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := d.uniformBelow(i + 1)
		order[i] = order[j]
		order[j] = i
	}
	return order
}

// subset returns k different numbers from lo..hi-1, every set equally likely
// (Floyd's method).
func (d dice) subset(k, lo, hi int) []int {
	taken := make(map[int]bool, k)
	var out []int
	for last := hi - k; last < hi; last++ {
		j := lo + d.uniformBelow(last-lo+1)
		if taken[j] {
			j = last
		}
		taken[j] = true
		out = append(out, j)
	}
	return out
}

// drawWeighted returns i with probability proportional to exp(logs[i]); 0 if all
// are impossible.
func (d dice) drawWeighted(logs []float64) int {
	best := 0
	top := math.Inf(-1)
	for i, l := range logs {
		if v := l + d.gumbel(1); v > top {
			best = i
			top = v
		}
	}
	return best
}
