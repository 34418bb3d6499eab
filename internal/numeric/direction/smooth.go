package direction

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// penalties are the weights of roughness that smoothMean chooses from.
var penalties = []float64{.01, .1, 1, 10, 100}

// smoothMean returns the mean m of each bin, smoothed with the weights w of the bins, which
// sum to their number: f = (W + lambda D'D + 1e-9 I)^-1 W m with second differences D
// (E. T. Whittaker, "On a new method of graduation", 1923). lambda has the least
// generalised cross-validation error sum w (m-f)^2 / max(1 - trace/B, .05)^2.
func smoothMean(w, m []float64) []float64 {
	var best []float64
	least := math.Inf(1)
	for _, lambda := range penalties {
		hat := hatMatrix(w, lambda)
		f := multiply(hat, m)
		trace := mat.Trace(hat)
		residual := 0.
		for i := range m {
			residual += w[i] * (m[i] - f[i]) * (m[i] - f[i])
		}
		slack := math.Max(1-trace/float64(len(w)), .05)
		if x := residual / (slack * slack); best == nil || x < least {
			best, least = f, x
		}
	}
	return best
}

// smoothMeans returns m smoothed with one penalty.
func smoothMeans(w, m []float64, lambda float64) []float64 {
	return multiply(hatMatrix(w, lambda), m)
}

// hatMatrix returns (W + lambda D'D + 1e-9 I)^-1 W.
func hatMatrix(w []float64, lambda float64) *mat.Dense {
	n := len(w)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		a.SetSym(i, i, w[i]+1e-9)
	}
	for i := 0; i+2 < n; i++ {
		for k, x := range [3]float64{1, -2, 1} {
			for l := k; l < 3; l++ {
				y := [3]float64{1, -2, 1}[l]
				a.SetSym(i+k, i+l, a.At(i+k, i+l)+lambda*x*y)
			}
		}
	}
	var chol mat.Cholesky
	out := mat.NewDense(n, n, nil)
	if !chol.Factorize(a) { // not for finite weights of at least 0
		return out
	}
	if err := chol.SolveTo(out, mat.NewDiagDense(n, w)); err != nil {
		return out // close to singular: the result stands, as a function of released counts
	}
	return out
}

func multiply(a *mat.Dense, x []float64) []float64 {
	var out mat.VecDense
	out.MulVec(a, mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}
