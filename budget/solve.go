package budget

import "math"

// bisect shrinks [lo, hi], where holds(lo) is true and holds(hi) is false, until
// hi/lo <= 1+tol or the ends are neighbouring floats, and returns both ends.
// Neither end is evaluated.
func bisect(lo, hi, tol float64, holds func(float64) bool) (float64, float64) {
	for i := 0; i < 300 && hi-lo > tol*lo; i++ {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi
}

// minimum returns the smallest value of f seen on [lo, hi] and where it was seen:
// a scan of n points and a golden-section refinement around the best one. Callers use it only where
// f is a valid bound at every point, so a missed minimum costs tightness and
// never soundness.
func minimum(lo, hi float64, n int, f func(float64) float64) (best, at float64) {
	step := (hi - lo) / float64(n-1)
	best, at = math.Inf(1), lo
	for i := range n {
		x := lo + float64(i)*step
		if y := f(x); y < best {
			best, at = y, x
		}
	}
	const golden = 0.6180339887498949
	a, b := math.Max(lo, at-step), math.Min(hi, at+step)
	c, d := b-golden*(b-a), a+golden*(b-a)
	fc, fd := f(c), f(d)
	for range 36 {
		if fc < fd {
			b, d, fd = d, c, fc
			c = b - golden*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + golden*(b-a)
			fd = f(d)
		}
	}
	if fc < best {
		best, at = fc, c
	}
	if fd < best {
		best, at = fd, d
	}
	return best, at
}
