package evaluate

import "math"

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
