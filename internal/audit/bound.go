package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// atLeast returns the lower end of the one-sided Clopper–Pearson interval of a probability, given that k of n
// trials had the event: the true probability is smaller than the result with probability at most alpha. (C. J.
// Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
// binomial", Biometrika 1934)
func atLeast(k, n int, alpha float64) float64 {
	if k <= 0 {
		return 0
	}
	// P(Bin(n, p) >= k) = I_p(k, n-k+1) grows with p: the largest p at which k or
	// more were still too lucky. The lower end of the bracket is returned.
	lo, _ := bracket(func(p float64) bool {
		return mathext.RegIncBeta(float64(k), float64(n-k+1), p) > alpha
	})
	return lo
}

// atMost is the upper end, one-sided too.
func atMost(k, n int, alpha float64) float64 {
	if k >= n {
		return 1
	}
	// P(Bin(n, p) <= k) = 1 - I_p(k+1, n-k) falls with p.
	_, hi := bracket(func(p float64) bool {
		return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p) < alpha
	})
	return hi
}

// bracket halves [0, 1] around the point where high turns true.
func bracket(high func(p float64) bool) (lo, hi float64) {
	lo, hi = 0, 1
	for range 80 {
		p := lo + (hi-lo)/2
		if p <= lo || p >= hi {
			break
		}
		if high(p) {
			hi = p
		} else {
			lo = p
		}
	}
	return lo, hi
}

// epsilonOf is the epsilon below which no (epsilon, delta) guarantee allows an
// event of probability at least p on one table and at most q on its neighbour.
func epsilonOf(p, q, delta float64) float64 {
	if p <= delta || q >= p {
		return 0
	}
	return max(math.Log((p-delta)/q), 0)
}

// muOf is the mu below which no Gaussian trade-off curve allows it: Phi^-1(p) <=
// Phi^-1(q) + mu. (J. Dong, A. Roth and W. J. Su, "Gaussian differential
// privacy", 2022, definition 2.6)
func muOf(p, q float64) float64 {
	if p <= 0 || q >= 1 || q >= p {
		return 0
	}
	return max(distuv.UnitNormal.Quantile(p)-distuv.UnitNormal.Quantile(q), 0)
}
