package boosting

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/train/linear"
)

// solver converts gradients to steps: theta += nu (A+ + lambda I)^-1 gradient, with A+ the released matrix with
// negative eigenvalues replaced by 0, lambda = sigma sqrt(2d), the size of the noise in it, and nu the
// shrinkage. It sees public values only.
type solver struct {
	spectrum  linear.Spectrum
	inverse   *mat.SymDense
	lambda    float64
	sigma     float64
	shrinkage float64
	theta     []float64
	solutions []*mat.VecDense // one per round: unshrunk steps
}

func newSolver(matrix *mat.SymDense, sigma, shrinkage float64) *solver {
	d := matrix.SymmetricDim()
	s := &solver{
		spectrum:  linear.NewSpectrum(matrix),
		sigma:     sigma,
		shrinkage: shrinkage,
		lambda:    max(sigma*math.Sqrt(2*float64(d)), math.SmallestNonzeroFloat64),
		theta:     make([]float64, d),
	}
	s.inverse = s.spectrum.Apply(func(e float64) float64 {
		return 1 / (max(e, 0) + s.lambda)
	})
	return s
}

// remaining returns the eigenvalue of H = I - nu (A+ + lambda I)^-1 A+ in the direction in which A has the
// eigenvalue e: the part of the error in that direction that remains after a round without noise.
func (s *solver) remaining(e float64) float64 {
	e = max(e, 0)
	return (s.lambda + (1-s.shrinkage)*e) / (s.lambda + e)
}

func (s *solver) step(gradient []float64) {
	solution := mat.NewVecDense(len(gradient), nil)
	solution.MulVec(s.inverse, mat.NewVecDense(len(gradient), gradient))
	next := make([]float64, len(s.theta)) // passes may still use the old slice
	for k, v := range s.theta {
		next[k] = v + float64(s.shrinkage*solution.AtVec(k)) // the conversion forbids fusing
	}
	s.theta = next
	s.solutions = append(s.solutions, solution)
}

// covariance returns the covariance of the noise in theta to first order, assuming that no residual is clamped.
// sigma is the standard deviation of the noise e_r of the gradients; E is the noise of the matrix A.
//
// With S = (A+ + lambda I)^-1, nu the shrinkage and H = I - nu S A, the error of theta after round r is H times
// the error before plus nu S (e_r - E a_r), with a_r the solution S g_r of the round. After T rounds it is
// sum_r K_r (e_r - E a_r), K_r = nu H^(T-1-r) S. In the eigenbasis, with A+ for A, the K_r are diagonal. E a
// and E b have covariance sigma_E^2/2 (a.b I + b a^T). With M = sum_r k_r a_r^T, k_r the diagonal of K_r, the
// total is
//
//	diag_i(sigma^2 sum_r k_ri^2 + sigma_E^2/2 sum_j M_ij^2) + sigma_E^2/2 M_ij M_ji.
func (s *solver) covariance(sigma float64) *mat.SymDense {
	d := len(s.theta)
	u := s.spectrum.Vectors
	diagonal := make([]float64, d)
	m := mat.NewDense(d, d, nil)
	k := make([]float64, d)
	for i, e := range s.spectrum.Values {
		k[i] = s.shrinkage / (max(e, 0) + s.lambda)
	}
	for r := len(s.solutions) - 1; r >= 0; r-- {
		var a mat.VecDense
		a.MulVec(u.T(), s.solutions[r])
		m.RankOne(m, 1, mat.NewVecDense(d, k), &a)
		for i, e := range s.spectrum.Values {
			diagonal[i] += sigma * sigma * k[i] * k[i]
			k[i] *= s.remaining(e)
		}
	}
	half := s.sigma * s.sigma / 2
	rotated := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			rotated.Set(i, j, half*m.At(i, j)*m.At(j, i))
			diagonal[i] += half * m.At(i, j) * m.At(i, j)
		}
		rotated.Set(i, i, rotated.At(i, i)+diagonal[i])
	}
	var left, full mat.Dense
	left.Mul(u, rotated)
	full.Mul(&left, u.T())
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			cov.SetSym(i, j, full.At(i, j))
		}
		cov.SetSym(i, i, max(cov.At(i, i), 0))
	}
	return cov
}
