package selection

import "math"

// MaxBuckets bounds the number of buckets, and with it the memory for them.
const MaxBuckets = 1_000_000

// numBuckets returns the public number m of buckets, from public facts only. epsilon is the
// budget of one round.
//
// Votes. A round of the exponential mechanism with noise scale 2/epsilon picks
// a count within (2/epsilon) ln(d/b) of the largest with probability 1-b
// (McSherry and Talwar 2007), so all k rounds do with probability .95 for b =
// .05/k. If the number of votes for the wanted columns exceeds that for the others by half
// the number of buckets, m = (4/epsilon) ln(20 d k) buckets are enough. More buckets would
// only have fewer rows each.
//
// Rows. A lasso finds k of d columns from about 2 k ln(d-k) + k + 1 rows on and
// not below (Wainwright, "Sharp thresholds for high-dimensional and noisy
// sparsity recovery using l1-constrained quadratic programming", IEEE Trans.
// Inform. Theory 55, 2009, theorems 3 and 4, Gaussian columns). Smaller buckets
// vote at random, so more buckets do not increase the difference of the counts. So m is at
// most n divided by this number of rows.
//
// Wide tables do not have enough rows for even a few buckets; for them m is at most sqrt(n),
// the balance of Kifer, Smith and Thakurta.
func (x SubLasso) numBuckets(f Facts, epsilon float64) int {
	if x.Buckets > 0 {
		return x.Buckets
	}
	slots := 0
	for _, c := range f.Columns {
		slots += slotsOf(c)
	}
	n := float64(f.AtLeast)
	k := float64(x.K)
	d := float64(len(f.Columns))
	votes := 4 / epsilon * math.Log(20*d*k)
	rows := 2*k*math.Log(max(float64(slots)-k, 1)) + k + 1
	m := math.Ceil(min(votes, max(n/rows, math.Sqrt(n))))
	if !(m >= 2) {
		return 2
	}
	return int(min(m, MaxBuckets))
}
