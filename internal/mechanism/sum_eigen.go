package mechanism

import (
	"math"

	"gonum.org/v1/gonum/mat"

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
// within e: lmin in [v - e, v + w + e] (see [pinEigenvalue]), rounded down to the grid.
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
	a := mat.NewSymDense(g.p, nil)
	for i := range g.p {
		for j := i; j < g.p; j++ {
			a.SetSym(i, j, float64(g.sums[gram.Index(g.p, i, j)]))
		}
	}
	limit := float64(g.limit)
	p := float64(g.p)
	width := eigenWidth * limit
	slack := maxRecords * 0x1p-53 * min(limit, 1/gramUnit) * p * (p + 5)
	value := int64(pinEigenvalue(a, width, estimateEigenvalue(a)))
	return Bounded[Vector]{Vector{value}, L2, roundUp(limit + width + 2*slack + 1), gramUnit, StatEigenvalue}
}

// estimateEigenvalue returns the smallest eigenvalue of a in floating point, or NaN. It makes
// pinEigenvalue fast, whose result is correct for any estimate.
func estimateEigenvalue(a *mat.SymDense) float64 {
	var eig mat.EigenSym
	if !eig.Factorize(a, false) {
		return math.NaN()
	}
	return eig.Values(nil)[0]
}

// pinEigenvalue returns the lower end of an interval of the given width that contains the
// smallest eigenvalue of a positive semidefinite matrix, up to the rounding of the
// factorisations that compare it with a point. The first two points are around the guess,
// and after a good guess no others are needed.
func pinEigenvalue(a *mat.SymDense, width, guess float64) float64 {
	low, high := 0.0, a.At(0, 0)
	for i := range a.SymmetricDim() {
		high = min(high, a.At(i, i)) // no diagonal entry is below lmin
	}
	try := func(c float64) {
		switch {
		case !(c > low && c < high):
		case isDefinite(a, c):
			low = c
		default:
			high = c
		}
	}
	try(guess - width/2)
	try(low + width*(1-0x1p-20)) // low is the point before, or 0
	for high-low > width {
		try(low + (high-low)/2)
	}
	return low
}

// isDefinite reports whether a - c I has a Cholesky factorisation.
func isDefinite(a *mat.SymDense, c float64) bool {
	p := a.SymmetricDim()
	shifted := mat.NewSymDense(p, nil)
	shifted.CopySym(a)
	for i := range p {
		shifted.SetSym(i, i, a.At(i, i)-c)
	}
	var factor mat.Cholesky
	return factor.Factorize(shifted)
}

// StatEigenvalue is the statistic of [Gram.SmallestEigenvalue].
const StatEigenvalue budget.Statistic = "eigenvalue"
