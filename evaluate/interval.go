package evaluate

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// fromSums computes R² = 1 - E/T and its interval from the noisy sums of
// newSums; sigma is the noise's standard deviation in each of them.
//
// With E the residual sum of squares and T = S2 - S1^2/n the total one, both
// noisy, the interval is Fieller's: the ratios rho with
// (E - rho T)^2 <= z^2 Var(E - rho T). E's noise is exactly normal; T's is
// linearised in S1 and n, whose part in it is small because the target is
// centred. Everything here is a function of released numbers.
func fromSums(noisy []float64, clip, sigma float64) R2 {
	n := max(noisy[0]/countWeight, 1)
	mean := min(max(noisy[1]/sumWeight/n, -1), 1)
	e := noisy[3] * clip * clip
	t := noisy[2] - n*mean*mean
	varE := sq(sigma * clip * clip)
	// dT = dS2 - 2 mean dS1 + mean^2 dn.
	varT := sq(sigma) * (1 + sq(2*mean/sumWeight) + sq(mean*mean/countWeight))
	z := distuv.UnitNormal.Quantile(1 - (1-widenedLevel)/2)
	lower, upper := fieller(e, t, varE, varT, z)
	out := R2{Lower: within(1 - upper), Upper: within(1 - lower), Level: Level, Value: floor}
	if t > 0 {
		out.Value = within(1 - max(e, 0)/t)
	}
	out.Value = min(max(out.Value, out.Lower), out.Upper)
	return out
}

// fieller returns the interval of ratios e/t, within [0, inf], that lie within
// z standard deviations of the two independent normal estimates. Where t is
// not told from 0 by its noise, every ratio not below the smaller root, or
// every ratio at all, is compatible.
func fieller(e, t, varE, varT, z float64) (lower, upper float64) {
	// (t^2 - z^2 varT) rho^2 - 2 e t rho + (e^2 - z^2 varE) <= 0
	a, b, c := t*t-z*z*varT, e*t, e*e-z*z*varE
	disc := b*b - a*c
	switch {
	case t <= 0 || disc < 0:
		return 0, math.Inf(1)
	case a > 0:
		root := math.Sqrt(disc)
		return max((b-root)/a, 0), max((b+root)/a, 0)
	case c > 0 && b+math.Sqrt(disc) > 0: // a <= 0: all ratios above the positive root
		return c / (b + math.Sqrt(disc)), math.Inf(1)
	}
	return 0, math.Inf(1)
}

func within(r2 float64) float64 { return min(max(r2, floor), 1) }

func sq(x float64) float64 { return x * x }
