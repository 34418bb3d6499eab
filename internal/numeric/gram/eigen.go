package gram

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// SmallestEigenvalue returns the lower end of an interval of the given width that contains the smallest eigenvalue of a
// positive semidefinite p x p matrix, packed as a Gram matrix. The interval is certified by Cholesky factorisations and
// exact up to their rounding and that of the conversion to float64. It does not depend on how the search starts.
func SmallestEigenvalue(p int, packed []int64, width float64) float64 {
	a := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			a.SetSym(i, j, float64(packed[Index(p, i, j)]))
		}
	}
	return pinEigenvalue(a, width, estimateEigenvalue(a))
}

// estimateEigenvalue returns the smallest eigenvalue of a in floating point, or NaN. It makes pinEigenvalue fast, whose
// result is correct for any estimate.
func estimateEigenvalue(a *mat.SymDense) float64 {
	var eig mat.EigenSym
	if !eig.Factorize(a, false) {
		return math.NaN()
	}
	return eig.Values(nil)[0]
}

// pinEigenvalue returns the result of [SmallestEigenvalue]. The first two points of the search are around the guess, and
// after a good guess no others are needed.
func pinEigenvalue(a *mat.SymDense, width, guess float64) float64 {
	low := 0.0
	high := a.At(0, 0)
	for i := range a.SymmetricDim() {
		high = min(high, a.At(i, i)) // the smallest eigenvalue is at most every diagonal entry
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
