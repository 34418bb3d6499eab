package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/dense"
)

// Packed is a symmetric P x P matrix, the upper triangle by rows.
type Packed struct {
	P      int
	Values []float64
}

// Entry returns the entry of row i and column j.
func (g Packed) Entry(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	return g.Values[i*g.P-i*(i-1)/2+j-i]
}

// Solution is a linear fit in scaled units with the covariance of the noise in
// it. Entry i of Theta belongs to slot i; the last one belongs to the constant.
type Solution struct {
	Theta []float64
	Cov   *mat.SymDense
}

// SolveAll fits several targets, entries first to P-2 of the rows, by the others from the noisy matrix of
// second moments: with A the block of the others, whose spectrum is a, and v its column against the target,
// theta = (A+ + lambda I)^-1 v, where A+ has the negative eigenvalues replaced by 0 and lambda = RidgeFactor
// sigma sqrt(2(k+1)). It is total: any finite matrix gives a finite solution.
//
// The distribution of the noise is known: with E the noise of A (standard deviation sigma on the diagonal,
// sigma/sqrt2 off it) and e that of v, the error of theta is to first order S (e - E theta), S = (A+ + lambda
// I)^-1. Entries of E theta have covariance sigma^2/2 (|theta|^2 I + theta theta^T) and those of e sigma^2/2 I,
// so the covariance is S M S with M = sigma^2/2 ((1+|theta|^2) I + theta theta^T).
func (g Packed) SolveAll(first int, sigma float64, a Spectrum) []Solution {
	k := len(a.Values)
	inverse := a.RidgeInverse(Penalty(sigma, k))
	fits := make([]Solution, g.P-1-first)
	for t := range fits {
		theta := mat.NewVecDense(k, nil)
		theta.MulVec(inverse, g.Against(first, first+t))
		scale := sigma * sigma / 2
		fits[t] = Solution{
			Theta: theta.RawVector().Data,
			Cov:   Sandwich(inverse, theta, scale*(1+mat.Dot(theta, theta)), scale),
		}
	}
	return fits
}

// Penalty is the lambda of SolveAll for noise of standard deviation sigma in k dimensions.
func Penalty(sigma float64, k int) float64 {
	return RidgeFactor * sigma * math.Sqrt(2*float64(k))
}

// Features returns the block of the features, which come before entry first of
// the rows, and, last, the constant.
func (g Packed) Features(first int) *mat.SymDense {
	a := mat.NewSymDense(first+1, nil)
	for i := range first {
		for j := i; j < first; j++ {
			a.SetSym(i, j, g.Entry(i, j))
		}
		a.SetSym(i, first, g.Entry(i, g.P-1))
	}
	a.SetSym(first, first, g.Entry(g.P-1, g.P-1))
	return a
}

// Against returns the products of target, an entry of the rows, with what
// Features has.
func (g Packed) Against(first, target int) *mat.VecDense {
	v := mat.NewVecDense(first+1, nil)
	for i := range first {
		v.SetVec(i, g.Entry(i, target))
	}
	v.SetVec(first, g.Entry(g.P-1, target))
	return v
}

// Sandwich returns S M S for M = alike I + along theta theta^T:
// alike S S + along (S theta)(S theta)^T.
func Sandwich(
	s *mat.SymDense,
	theta *mat.VecDense,
	alike, along float64,
) *mat.SymDense {
	k := s.SymmetricDim()
	var st mat.VecDense
	st.MulVec(s, theta)
	square := Square(s)
	cov := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			cov.SetSym(i, j, alike*square.At(i, j)+along*st.AtVec(i)*st.AtVec(j))
		}
	}
	return cov
}

// Square returns S S. It uses gonum's product S S^T of a dense copy; gonum's product of two symmetric matrices
// works entry by entry and takes twenty times as long.
func Square(s *mat.SymDense) *mat.SymDense {
	var square mat.SymDense
	square.SymOuterK(1, mat.DenseCopyOf(s))
	return &square
}

// Covariance corrects the rounding of a product that is a covariance: the result is symmetric, with no
// variance below 0.
func Covariance(m *mat.Dense) *mat.SymDense {
	k, _ := m.Dims()
	out := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			out.SetSym(i, j, m.At(i, j)/2+m.At(j, i)/2)
		}
		out.SetSym(i, i, max(out.At(i, i), 0))
	}
	return out
}

// RidgeInverse returns (A+ + lambda I)^-1.
func (s Spectrum) RidgeInverse(lambda float64) *mat.SymDense {
	lambda = max(lambda, math.SmallestNonzeroFloat64)
	return s.Apply(func(e float64) float64 {
		return 1 / (max(e, 0) + lambda)
	})
}

// Symmetric returns the whole matrix.
func (g Packed) Symmetric() *mat.SymDense {
	a := mat.NewSymDense(g.P, nil)
	for i, k := 0, 0; i < g.P; i++ {
		for j := i; j < g.P; j, k = j+1, k+1 {
			a.SetSym(i, j, g.Values[k])
		}
	}
	return a
}

// A Spectrum is the eigendecomposition of a symmetric matrix: the columns of
// Vectors are orthonormal, Values in increasing order.
type Spectrum struct {
	Values  []float64
	Vectors *mat.Dense
}

// NewSpectrum returns the eigendecomposition of a. If it does not converge, which no finite symmetric matrix is
// known to cause, it returns that of a multiple of the identity that bounds a, so that callers remain total.
func NewSpectrum(a *mat.SymDense) Spectrum {
	k := a.SymmetricDim()
	s := Spectrum{
		Values:  make([]float64, k),
		Vectors: mat.NewDense(k, k, nil),
	}
	full := dense.New(k, k)
	for i := range k {
		for j := range k {
			full.Set(i, j, a.At(i, j))
		}
	}
	if values, vectors, ok := dense.Spectrum(full); ok {
		for j := range k {
			falling := k - 1 - j
			s.Values[j] = values[falling]
			s.Vectors.SetCol(j, vectors.Row(falling))
		}
		return s
	}
	bound := 0.0
	for i := range k {
		bound += math.Abs(a.At(i, i))
	}
	for i := range k {
		s.Values[i] = bound
		s.Vectors.Set(i, i, 1)
	}
	return s
}

// Apply returns the matrix with the same eigenvectors and the eigenvalues f(e).
func (s Spectrum) Apply(f func(e float64) float64) *mat.SymDense {
	values := make([]float64, len(s.Values))
	for i, e := range s.Values {
		values[i] = f(e)
	}
	var scaled mat.Dense
	scaled.Apply(func(_, j int, x float64) float64 {
		return x * values[j]
	}, s.Vectors)
	full := dense.MulUpper(dense.ViewOf(&scaled), dense.ViewOf(s.Vectors).T())
	out := mat.NewSymDense(len(values), nil)
	for i := range values {
		for j := i; j < len(values); j++ {
			out.SetSym(i, j, full.Entry(i, j))
		}
	}
	return out
}
