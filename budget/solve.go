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

// A threshold compares a monotone function with a level, with few evaluations: it caches the largest evaluated
// point that clearly holds and the smallest that clearly fails, and answers queries beyond them without an
// evaluation. The answer equals that of an evaluation if numerical noise moves the function by less than
// thresholdNoise of its value.
type threshold struct {
	f          func(float64) float64 // positive
	level      float64
	rises      bool    // f rises, and holds means f(x) <= level; otherwise f falls, and holds means f(x) > level
	lastTrue   float64 // holds is true for every x up to here
	firstFalse float64 // holds is false for every x from here on
}

// thresholdNoise is a hundred times the relative numerical error of the curves of this package.
const thresholdNoise = 1e-10

func newThreshold(
	f func(float64) float64,
	level float64,
	rises bool,
) *threshold {
	return &threshold{
		f:          f,
		level:      level,
		rises:      rises,
		lastTrue:   math.Inf(-1),
		firstFalse: math.Inf(1),
	}
}

// holds reports whether f(x) is at most the level, if f rises, or above it, if f falls.
func (t *threshold) holds(x float64) bool {
	switch {
	case x <= t.lastTrue:
		return true
	case x >= t.firstFalse:
		return false
	}
	holds, _ := t.evaluateAt(x)
	return holds
}

// evaluateAt evaluates f at x. It returns whether the condition holds there, and the logarithm of the ratio of
// f to the level, signed so that it is positive where the condition holds.
func (t *threshold) evaluateAt(x float64) (holds bool, gap float64) {
	y := t.f(x)
	if gap = math.Log(y / t.level); t.rises {
		holds = y <= t.level
		gap = -gap
	} else {
		holds = y > t.level
	}
	switch {
	case gap >= thresholdNoise:
		t.lastTrue = math.Max(t.lastTrue, x)
	case gap <= -thresholdNoise:
		t.firstFalse = math.Min(t.firstFalse, x)
	}
	return holds, gap
}

// bisect is [bisect] of holds.
func (t *threshold) bisect(lo, hi, tol float64) (float64, float64) {
	t.encloseRoot(lo, hi, tol)
	return bisect(lo, hi, tol, t.holds)
}

// encloseRoot narrows the bracket between lastTrue and firstFalse before a bisection of [a, b] to the relative
// tolerance tol. It uses secants of the logarithms (Anderson and Björck 1973), and then evaluates a point on
// either side of the estimated root.
func (t *threshold) encloseRoot(a, b, tol float64) {
	_, ga := t.evaluateAt(a)
	_, gb := t.evaluateAt(b)
	if math.Abs(ga) < math.Abs(gb) {
		a, ga, b, gb = b, gb, a, ga
	}
	slope := 0.0
	for i := 0; i < 30 && ga*gb <= 0 && (slope == 0 || math.Abs(gb) > 1e-5); i++ {
		x := b - gb*(b-a)/(gb-ga)
		if math.Abs(gb) < 1e-8 {
			x = b + (a-b)*1e-5
		}
		if !(x > math.Min(a, b) && x < math.Max(a, b)) {
			x = a + (b-a)/2
		}
		_, g := t.evaluateAt(x)
		slope = (g - gb) / (x - b)
		if g*gb < 0 {
			a = b
			ga = gb
		} else if m := 1 - g/gb; m > 0 {
			ga *= m
		} else {
			ga /= 2
		}
		b = x
		gb = g
	}
	root := b - gb/slope
	for width := math.Max(-4*thresholdNoise/slope, tol*root/8); width < root/16; width *= 8 {
		below, _ := t.evaluateAt(root - width)
		above, _ := t.evaluateAt(root + width)
		if below && !above {
			return
		}
	}
}

// scanMinimum returns the smallest value of f found on [lo, hi] and its argument: a scan of n points and a
// golden-section refinement around the best one. Callers use it only where f is a valid bound at every point,
// so a missed minimum costs tightness and never soundness.
func scanMinimum(
	lo, hi float64,
	n int,
	f func(float64) float64,
) (best, at float64) {
	return scanUnimodal(lo, hi, n, 1, f)
}

// scanUnimodal is scanMinimum for an f that falls and then rises: the lowest point of the scan is then within
// stride of the lowest of every stride-th point.
func scanUnimodal(
	lo, hi float64,
	n, stride int,
	f func(float64) float64,
) (best, at float64) {
	step := (hi - lo) / float64(n-1)
	best = math.Inf(1)
	at = lo
	scan := func(from, to, by int) (lowest int) {
		for i := from; i < to; i += by {
			x := lo + float64(i)*step
			if y := f(x); y < best {
				best = y
				at = x
				lowest = i
			}
		}
		return lowest
	}
	if i := scan(0, n, stride); stride > 1 {
		best = math.Inf(1)
		at = lo
		scan(max(0, i-stride), min(n, i+stride+1), 1)
	}
	const golden = 0.6180339887498949
	a := math.Max(lo, at-step)
	b := math.Min(hi, at+step)
	c := b - golden*(b-a)
	d := a + golden*(b-a)
	fc := f(c)
	fd := f(d)
	for range 36 {
		if fc < fd {
			b = d
			d = c
			fd = fc
			c = b - golden*(b-a)
			fc = f(c)
		} else {
			a = c
			c = d
			fc = fd
			d = a + golden*(b-a)
			fd = f(d)
		}
	}
	if fc < best {
		best = fc
		at = c
	}
	if fd < best {
		best = fd
		at = d
	}
	return best, at
}
