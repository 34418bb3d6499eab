package mechanism

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

const (
	// maxRecords bounds the records of one table: positions are int32.
	maxRecords = 1 << 31
	// eigenWidth is the width, as a share of B^2, of the interval in which the
	// smallest eigenvalue is pinned down.
	eigenWidth = 0x1p-12
)

// SmallestEigenvalue returns the smallest eigenvalue of the sum of z z^T as a
// vector of one entry with its sensitivity, about B^2 under both relations.
//
// Add one record: A' = A + z z^T with z z^T positive semidefinite of norm |z|^2
// <= B^2, so by Weyl's inequality 0 <= lmin(A') - lmin(A) <= B^2, attained when
// z is the only row with a part along the last eigenvector. Substitution:
// without the replaced record the eigenvalue is some l, and with either version
// of it is in [l, l + B^2]; so B^2 again. (docs/proofs/adassp.md,
// "Sensitivity and proof")
//
// That is the exact eigenvalue. What is returned is the lower end v of an
// interval of width w = 2^-12 B^2, certified by Cholesky factorisations to
// within e: lmin in [v - e, v + w + e] (see [gram.SmallestEigenvalue]), rounded down to the grid.
// Two neighbours therefore differ by at most B^2 + w + 2e and one grid unit.
//
// With u = 2^-53, m = min(B^2, 1) and n <= 2^31 records, e = u n m p(p+5):
// every diagonal entry is at most n m, the trace and with it the Frobenius
// norm at most n m p, so converting the integers and subtracting c from the
// diagonal cost 2 u n m p; a factorisation of M that completes proves
// lmin(M) >= -g tr(M), one that breaks down lmin(M) <= p g max_i M_ii,
// g = (p+1)u/(1-2(p+1)u) (N. Higham, "Accuracy and stability of numerical
// algorithms", 2nd ed., theorems 10.3 and 10.7), each at most u n m p(p+1) up
// to a factor that the spare 2 u n m p covers for p <= 2^15.
func (g *Gram) SmallestEigenvalue() Bounded[Vector] {
	limit := float64(g.limit)
	p := float64(g.p)
	width := eigenWidth * limit
	slack := maxRecords * 0x1p-53 * min(limit, 1/gramUnit) * p * (p + 5)
	value := int64(gram.SmallestEigenvalue(g.p, g.sums, width))
	return Bounded[Vector]{Vector{value}, L2, roundUp(limit + width + 2*slack + 1), gramUnit,
		StatEigenvalue}
}

// StatEigenvalue is the statistic of [Gram.SmallestEigenvalue].
const StatEigenvalue budget.Statistic = "eigenvalue"
