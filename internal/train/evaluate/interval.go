package evaluate

import "math"

// fiellerInterval returns the interval of ratios e/t, within [0, inf], that are within z standard deviations of two
// normal estimates with the given variances and covariance (E. C. Fieller, "Some problems in interval
// estimation", JRSS B, 1954). If the sign of t is not significant, every ratio not below the smaller root, or
// every ratio, is compatible.
func fiellerInterval(e, t, varE, varT, covariance, z float64) (lower, upper float64) {
	// a rho^2 - 2 b rho + c <= 0
	a := t*t - z*z*varT
	b := e*t - z*z*covariance
	c := e*e - z*z*varE
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

func clampR2(r2 float64) float64 {
	return min(max(r2, floor), 1)
}

func square(x float64) float64 {
	return x * x
}
