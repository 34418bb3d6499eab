package adassp

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// packed is a symmetric p x p matrix, the upper triangle by rows.
type packed struct {
	p      int
	values []float64
}

func (g packed) at(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	return g.values[i*g.p-i*(i-1)/2+j-i]
}

// solution is a linear fit in scaled units with the covariance of the noise in
// it. Entry i of theta belongs to slot i; the last one belongs to the constant.
type solution struct {
	theta []float64
	cov   *mat.SymDense
}

// solve fits the target, entry p-2 of the rows, by the other entries from the
// noisy matrix of second moments: with A the block of the others and v its
// column against the target, theta = (A+ + lambda I)^-1 v, where A+ has the
// negative eigenvalues replaced by 0 and lambda = RidgeFactor sigma sqrt(2(k+1)).
// It is total: any finite matrix gives a finite solution.
//
// The noise law is known: with E the noise of A (std sigma on the diagonal,
// sigma/sqrt2 off it) and e that of v, the error of theta is to first order
// S (e - E theta), S = (A+ + lambda I)^-1. Entries of E theta have covariance
// sigma^2/2 (|theta|^2 I + theta theta^T) and those of e sigma^2/2 I, so the
// covariance is S M S with M = sigma^2/2 ((1+|theta|^2) I + theta theta^T).
func solve(g packed, sigma float64) solution {
	p := g.p
	target, k := p-2, p-1
	index := make([]int, 0, k)
	for i := range p {
		if i != target {
			index = append(index, i)
		}
	}
	a := mat.NewSymDense(k, nil)
	v := mat.NewVecDense(k, nil)
	for r, i := range index {
		for c := r; c < k; c++ {
			a.SetSym(r, c, g.at(i, index[c]))
		}
		v.SetVec(r, g.at(i, target))
	}
	inverse := ridgeInverse(a, RidgeFactor*sigma*math.Sqrt(2*float64(k)))
	theta := mat.NewVecDense(k, nil)
	theta.MulVec(inverse, v)

	// S M S = sigma^2/2 ((1+|theta|^2) S S + (S theta)(S theta)^T).
	var st mat.VecDense
	st.MulVec(inverse, theta)
	var square mat.Dense
	square.Mul(inverse, inverse)
	scale := sigma * sigma / 2
	norm := 1 + mat.Dot(theta, theta)
	cov := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			cov.SetSym(i, j, scale*(norm*square.At(i, j)+st.AtVec(i)*st.AtVec(j)))
		}
	}
	return solution{theta.RawVector().Data, cov}
}

// ridgeInverse returns (A+ + lambda I)^-1. If the eigenvalues do not converge,
// which no finite symmetric matrix is known to cause, it returns I/trace: the
// result stays total.
func ridgeInverse(a *mat.SymDense, lambda float64) *mat.SymDense {
	k := a.SymmetricDim()
	lambda = max(lambda, math.SmallestNonzeroFloat64)
	out := mat.NewSymDense(k, nil)
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		bound := lambda
		for i := range k {
			bound += math.Abs(a.At(i, i))
		}
		for i := range k {
			out.SetSym(i, i, 1/bound)
		}
		return out
	}
	var u, scaled mat.Dense
	eig.VectorsTo(&u)
	values := eig.Values(nil)
	for i, e := range values {
		values[i] = 1 / (max(e, 0) + lambda)
	}
	scaled.Apply(func(_, j int, x float64) float64 { return x * values[j] }, &u)
	var full mat.Dense
	full.Mul(&scaled, u.T())
	for i := range k {
		for j := i; j < k; j++ {
			out.SetSym(i, j, full.At(i, j))
		}
	}
	return out
}
