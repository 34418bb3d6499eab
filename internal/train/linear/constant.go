package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A ridge penalty shrinks the constant with the other coefficients, and thereby moves the mean prediction
// towards the middle of the target's range: by a tenth of the mean and more if the declared range is far too
// wide. The remaining error of the mean is known from released moments, and one more step on the constant only
// corrects it:
//
//	theta_l += r_l / (A_ll+ + lambda),    r = v - A theta,    l the constant.
//
// It is post-processing. The penalty in the denominator keeps the step small if there are too few records to
// distinguish the mean from noise.

// LiftConstant takes the step for a solution of (A + lambda I) theta = v, for which
// r = lambda theta: the constant is multiplied by 1 + lambda/(A_ll+ + lambda), and its
// noise with it. weight is A_ll.
func (x Solution) LiftConstant(weight, lambda float64) {
	last := len(x.Theta) - 1
	factor := 1 + shrinkageOf(weight, lambda)
	x.Theta[last] *= factor
	for i := range last {
		x.Cov.SetSym(i, last, x.Cov.At(i, last)*factor)
	}
	x.Cov.SetSym(last, last, x.Cov.At(last, last)*factor*factor)
}

// shrinkageOf returns lambda/(weight+ + lambda), 0 without a penalty.
func shrinkageOf(weight, lambda float64) float64 {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return 0
	}
	return lambda / (max(weight, 0) + lambda)
}

// LiftConstant takes the step for coefficients that solve no such system: residual is r_l
// and noise the standard deviation of the noise in it that theta does not share, weight
// is A_ll.
func LiftConstant(
	theta []float64,
	cov *mat.SymDense,
	residual, noise, weight, lambda float64,
) {
	divisor := max(weight, 0) + lambda
	if !(divisor > 0) || math.IsInf(divisor, 1) {
		return
	}
	last := len(theta) - 1
	theta[last] += residual / divisor
	cov.SetSym(last, last, cov.At(last, last)+noise*noise/(divisor*divisor))
}
