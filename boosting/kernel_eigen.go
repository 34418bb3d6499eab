package boosting

import "github.com/dptrain/dptrain/internal/numeric/dense"

// The passes of leading. Eigenvalues of smooth kernels fall fast, so that few are enough; a
// direction that is missed is one at the edge of the noise.
const leadingPasses = 3

// leading returns about the largest eigenvalues of a positive semidefinite matrix, in falling
// order, and their vectors as rows, at most count: by subspace iteration from the first coordinates and the
// Rayleigh-Ritz method (Halko, Martinsson and Tropp 2011, algorithm 4.4).
func leading(a dense.Matrix, count int) ([]float64, dense.Matrix) {
	n := a.Rows
	if 3*count > 2*n { // no cheaper than all of them
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

// spectrum returns the eigenvalues of a symmetric matrix in falling order and their vectors as rows. If
// they are not found, which no finite matrix is known to cause, it returns those of a multiple of the identity that
// bounds a, so that what is made of them stays total.
func spectrum(a dense.Matrix) ([]float64, dense.Matrix) {
	values, vectors, ok := dense.Spectrum(a)
	if ok {
		return values, vectors
	}
	bound := 0.
	for i := range a.Rows {
		bound += max(a.At(i, i), 0)
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
			trace += product.At(i, i)
		}
		dense.SolveTransposed(factored(product, 1e-14*trace), x)
	}
}

// factored returns the upper Cholesky factor of a matrix, of which it reads the entries on and above the
// diagonal. If there is none, ridges are added to the diagonal, the first one and larger ones.
func factored(a dense.Matrix, ridge float64) dense.Matrix {
	for range mostRidges {
		upper := a.Clone()
		if dense.Cholesky(upper) {
			return upper
		}
		for i := range a.Rows {
			a.Set(i, i, a.At(i, i)+ridge)
		}
		ridge *= 10
	}
	for i := range a.Rows { // numbers that are not finite: the factor of the identity
		for j := range a.Cols {
			a.Set(i, j, 0)
		}
		a.Set(i, i, 1)
	}
	return a
}

// mostRidges is how many ridges are tried: the last exceeds every eigenvalue.
const mostRidges = 24
