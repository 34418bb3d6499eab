package selection

import "math"

// MaxBuckets bounds the number of buckets, and with it the memory for them.
const MaxBuckets = 1_000_000

// buckets returns the public number m of buckets, from public facts only:
// epsilon is what one round may spend.
//
// Votes. A round of the exponential mechanism with noise scale 2/epsilon picks
// a count within (2/epsilon) ln(d/b) of the largest with probability 1-b
// (McSherry and Talwar 2007), so all k rounds do with probability .95 for b =
// .05/k. If the wanted columns get the votes of half of all buckets more than
// the others do, m = (4/epsilon) ln(20 d k) buckets are enough. More would only
// take rows from each.
//
// Rows. A lasso finds k of d columns from about 2 k ln(d-k) + k + 1 rows on and
// not below (Wainwright, "Sharp thresholds for high-dimensional and noisy
// sparsity recovery using l1-constrained quadratic programming", IEEE Trans.
// Inform. Theory 55, 2009, theorems 3 and 4, Gaussian columns). Buckets smaller
// than that vote at random, and what more of them add to the difference of the
// counts, each takes from it. So m is at most n over that.
//
// Wide tables have not the rows for even a few buckets; there m is at most
// sqrt(n), the balance of Kifer, Smith and Thakurta.
func (x SubLasso) buckets(f Facts, epsilon float64) int {
	if x.Buckets > 0 {
		return x.Buckets
	}
	slots := 0
	for _, c := range f.Columns {
		slots += slotsOf(c)
	}
	n, k, d := float64(f.AtLeast), float64(x.K), float64(len(f.Columns))
	votes := 4 / epsilon * math.Log(20*d*k)
	rows := 2*k*math.Log(max(float64(slots)-k, 1)) + k + 1
	m := math.Ceil(min(votes, max(n/rows, math.Sqrt(n))))
	if !(m >= 2) {
		return 2
	}
	return int(min(m, MaxBuckets))
}
