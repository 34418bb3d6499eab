package greedy

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// ridgeFactor times the size of the noise, sigma sqrt(2 d) for d entries, is the ridge of a released matrix: half of
// the ridge of a fit on all columns (docs/proofs/cost-tree.md, "Settings").
const ridgeFactor = .35

// A Released is a released matrix of second moments of rows that hold features, then one or
// more targets and then the constant.
type Released struct {
	Side   int       // entries of a row
	Packed []float64 // the upper triangle by rows
	First  int       // of the targets; the features are before it
	Sigma  float64   // standard deviation of the noise on the diagonal, sqrt2 times that off it
}

// Ridge returns the ridge for noise of standard deviation sigma in d entries.
func Ridge(sigma float64, d int) float64 {
	return ridgeFactor * sigma * math.Sqrt(2*float64(d))
}

// Problem returns the problem of a released matrix: its negative eigenvalues are 0 and its
// ridge is that of the noise. Entry First is the constant. Groups, costs and the budget are
// left to the caller.
func (r Released) Problem() *Problem {
	whole := r.nonnegative()
	last := r.Side - 1
	place := func(i int) int {
		if i == r.First {
			return last
		}
		return i
	}
	p := &Problem{
		Gram:     mat.NewSymDense(r.First+1, nil),
		Constant: r.First,
		Ridge:    Ridge(r.Sigma, r.First+1),
	}
	for i := range r.First + 1 {
		for j := i; j <= r.First; j++ {
			p.Gram.SetSym(i, j, whole.At(place(i), place(j)))
		}
	}
	for t := r.First; t < last; t++ {
		cross := make([]float64, r.First+1)
		for i := range cross {
			cross[i] = whole.At(place(i), t)
		}
		p.Cross = append(p.Cross, cross)
	}
	return p
}

// Entry returns an entry of the matrix as it was released.
func (r Released) Entry(i, j int) float64 {
	return r.Packed[gram.Index(r.Side, min(i, j), max(i, j))]
}

// nonnegative returns the matrix with 0 in place of negative eigenvalues. If the
// decomposition does not converge, which no finite matrix is known to cause, it returns the
// diagonal without its negative entries.
func (r Released) nonnegative() *mat.SymDense {
	a := mat.NewSymDense(r.Side, nil)
	for i := range r.Side {
		for j := i; j < r.Side; j++ {
			a.SetSym(i, j, r.Entry(i, j))
		}
	}
	out := mat.NewSymDense(r.Side, nil)
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		for i := range r.Side {
			out.SetSym(i, i, max(a.At(i, i), 0))
		}
		return out
	}
	var vectors, full mat.Dense
	eig.VectorsTo(&vectors)
	values := eig.Values(nil)
	var scaled mat.Dense
	scaled.Apply(func(_, j int, x float64) float64 {
		return x * max(values[j], 0)
	}, &vectors)
	full.Mul(&scaled, vectors.T())
	for i := range r.Side {
		for j := i; j < r.Side; j++ {
			out.SetSym(i, j, full.At(i, j))
		}
	}
	return out
}
