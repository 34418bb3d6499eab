// Package published implements further private methods as published, for experiments on public data: Boosted AdaSSP,
// SubLasso and DPFSDR as in their papers or scripts, and the two forms of the check of the Tukey mechanism.
//
// They do not satisfy the privacy guarantees that are claimed for them (docs/lab/published-pipelines.md, "What each
// published method claims"). The product does not import this package, and no recipe can name its methods. Package
// internal/bench/published has the other variants.
package published

import (
	"math"
	"slices"
)

// A Source returns random bits, 64 at a time. It may be seeded, since this package provides no privacy.
type Source interface{ Uint64() uint64 }

// uniform returns a number in the open interval (0, 1).
func uniform(src Source) float64 {
	return (float64(src.Uint64()>>11) + .5) * 0x1p-53
}

// normal returns a standard normal variate.
func normal(src Source) float64 {
	return math.Sqrt2 * math.Erfinv(2*uniform(src)-1)
}

// laplace returns a variate with density exp(-|x|/scale)/(2 scale).
func laplace(src Source, scale float64) float64 {
	size := -scale * math.Log(uniform(src))
	if src.Uint64()&1 == 0 {
		return -size
	}
	return size
}

// gumbel returns a standard Gumbel variate.
func gumbel(src Source) float64 {
	return -math.Log(-math.Log(uniform(src)))
}

// permutation returns 0..n-1 in random order.
func permutation(src Source, n int) []int {
	out := make([]int, n)
	for i := range out {
		j := int(uniform(src) * float64(i+1))
		out[i] = out[j]
		out[j] = i
	}
	return out
}

// LowerBound returns a noisy lower bound of n that exceeds it with probability 1e-4.
func LowerBound(src Source, n int, epsilon float64) int {
	return int(max(1, float64(n)+laplace(src, 1/epsilon)-math.Log(1/(2*1e-4))/epsilon))
}

// byScore returns the positions of a list by decreasing value. Among equal values the first comes first.
func byScore(values []float64) []int {
	order := make([]int, len(values))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] > values[b]:
			return -1
		case values[a] < values[b]:
			return 1
		}
		return 0
	})
	return order
}
