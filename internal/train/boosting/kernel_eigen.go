package boosting

import "github.com/dptrain/dptrain/internal/numeric/dense"

// leadingPasses is the number of passes of leading. Eigenvalues of smooth kernels decrease fast, so few passes
// suffice; a direction that is missed is close to the noise level.
const leadingPasses = 3

// leading returns approximately the largest eigenvalues of a positive semidefinite matrix in decreasing order,
// and their vectors as rows, at most count: by subspace iteration from the first coordinates and the
// Rayleigh-Ritz method (Halko, Martinsson and Tropp 2011, algorithm 4.4).
func leading(a dense.Matrix, count int) ([]float64, dense.Matrix) {
	n := a.Rows
	if 3*count > 2*n { // not cheaper than a full decomposition
		values, vectors := spectrum(a)
		count = min(count, n)
		return values[:count], vectors.Slice(0, count, 0, n)
	}
	basis := a.Slice(0, count, 0, n).Clone()
	for range leadingPasses - 1 {
		orthonormalize(basis)
		basis = dense.Mul(basis, a)
	}
	orthonormalize(basis)
	inner := dense.MulUpper(dense.Mul(basis, a), basis.T())
	inner.Symmetric()
	values, turn := spectrum(inner)
	return values, dense.Mul(turn, basis)
}

// spectrum returns the eigenvalues of a symmetric matrix in decreasing order and their vectors as rows. If the
// decomposition fails, which is not known to happen for a finite matrix, it returns those of a multiple of the
// identity that bounds a, so that callers remain total.
func spectrum(a dense.Matrix) ([]float64, dense.Matrix) {
	values, vectors, ok := dense.Spectrum(a)
	if ok {
		return values, vectors
	}
	bound := 0.
	for i := range a.Rows {
		bound += max(a.Entry(i, i), 0)
	}
	values, vectors = make([]float64, a.Rows), dense.New(a.Rows, a.Rows)
	for i := range values {
		values[i] = bound
		vectors.Set(i, i, 1)
	}
	return values, vectors
}

// orthonormalize makes the rows orthonormal, by two Cholesky factorisations (Yamamoto,
// Nakatsukasa, Yanagisawa and Fukaya 2015).
func orthonormalize(x dense.Matrix) {
	for range 2 {
		product := dense.MulUpper(x, x.T())
		trace := 0.
		for i := range x.Rows {
			trace += product.Entry(i, i)
		}
		dense.SolveTransposed(factored(product, 1e-14*trace), x)
	}
}

// factored returns the upper Cholesky factor of a matrix; it reads the entries on and above the diagonal. If
// the factorisation fails, it adds increasing ridges to the diagonal, starting with the given one.
func factored(a dense.Matrix, ridge float64) dense.Matrix {
	for range mostRidges {
		upper := a.Clone()
		if dense.Cholesky(upper) {
			return upper
		}
		for i := range a.Rows {
			a.Set(i, i, a.Entry(i, i)+ridge)
		}
		ridge *= 10
	}
	for i := range a.Rows { // entries that are not finite: factor of the identity
		for j := range a.Cols {
			a.Set(i, j, 0)
		}
		a.Set(i, i, 1)
	}
	return a
}

// mostRidges is the maximum number of ridges tried: the last exceeds every eigenvalue.
const mostRidges = 24
