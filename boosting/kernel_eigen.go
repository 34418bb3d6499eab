package boosting

import (
	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/linear"
)

// The passes of leading. Eigenvalues of smooth kernels fall fast, so that few are enough; a
// direction that is missed is one at the edge of the noise.
const leadingPasses = 3

// leading returns about the largest eigenvalues of a positive semidefinite matrix, in falling
// order, and their vectors, at most count: by subspace iteration from the first coordinates and the Rayleigh-Ritz
// method (Halko, Martinsson and Tropp 2011, algorithm 4.4).
func leading(a *mat.SymDense, count int) ([]float64, *mat.Dense) {
	n := a.SymmetricDim()
	full := mat.NewDense(n, n, nil)
	full.Copy(a)
	if 3*count > 2*n { // no cheaper than all of them
		s := linear.NewSpectrum(a)
		return fallen(s, min(count, n))
	}
	basis := mat.DenseCopyOf(full.Slice(0, n, 0, count))
	for range leadingPasses - 1 {
		orthonormalize(basis)
		var next mat.Dense
		next.Mul(full, basis)
		basis = &next
	}
	orthonormalize(basis)
	var image, inner mat.Dense
	image.Mul(full, basis)
	inner.Mul(basis.T(), &image)
	values, turn := fallen(linear.NewSpectrum(symmetric(&inner, 1)), count)
	var vectors mat.Dense
	vectors.Mul(basis, turn)
	return values, &vectors
}

// fallen returns the largest values of a spectrum in falling order, with their vectors.
func fallen(s linear.Spectrum, count int) ([]float64, *mat.Dense) {
	n := len(s.Values)
	values, vectors := make([]float64, count), mat.NewDense(n, count, nil)
	for i := range values {
		values[i] = s.Values[n-1-i]
		for r := range n {
			vectors.Set(r, i, s.Vectors.At(r, n-1-i))
		}
	}
	return values, vectors
}

// orthonormalize makes the columns orthonormal, by two Cholesky factorisations (Yamamoto,
// Nakatsukasa, Yanagisawa and Fukaya 2015).
func orthonormalize(x *mat.Dense) {
	_, n := x.Dims()
	for range 2 {
		var product mat.Dense
		product.Mul(x.T(), x)
		g := symmetric(&product, 1)
		trace := 0.
		for i := range n {
			trace += g.At(i, i)
		}
		var chol mat.Cholesky
		for ridge := 1e-14 * trace; !chol.Factorize(g) && ridge < trace; ridge *= 10 {
			for i := range n {
				g.SetSym(i, i, g.At(i, i)+ridge)
			}
		}
		var upper mat.TriDense
		chol.UTo(&upper)
		solveRight(&upper, x)
	}
}
