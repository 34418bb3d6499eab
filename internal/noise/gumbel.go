package noise

import (
	"math"
	"math/bits"
)

// Gumbel is a standard Gumbel number G = -log(-log U), kept as the random bits of U, so
// that a bound can be computed without a logarithm. The distance T of U to the nearer
// end of (0, 1) has full relative precision however small it is:
//
//	T = 2^-(zeros+2) (1 + fraction/2^52), U = 1-T if upper is set and else U = T.
type Gumbel struct {
	upper    bool
	zeros    int
	fraction uint64
}

// Gumbel draws a standard Gumbel number. One random bit chooses the end of (0, 1), the
// number of zero bits before the first one bit is the binary exponent of T, and the 52
// bits that follow are its fraction. Further bits are cut off, which is a relative
// error of at most 2^-52.
func (s *Stream) Gumbel() Gumbel {
	word := s.Uint64()
	upper := word>>63 == 1
	word <<= 1 // 63 random bits and a zero
	zeros := bits.LeadingZeros64(word | 1)
	fraction := word << (zeros + 1)
	if zeros > 10 { // fewer than 52 bits are left in word
		if zeros == 63 {
			zeros += s.countZeros()
		}
		fraction = s.Uint64()
	}
	return Gumbel{upper, zeros, fraction >> 12}
}

// countZeros returns the number of zero bits before the first one bit.
func (s *Stream) countZeros() int {
	n := 0
	for {
		z := bits.LeadingZeros64(s.Uint64())
		n += z
		if z < 64 {
			return n
		}
	}
}

// Value returns G within 2^-50 (1 + |G|), the error of cutting off T included.
//
// With a relative error r of T, -log U errs by r against at least log 2 when
// U = T, and by at most r T/(1-T) against at least T when U = 1-T, so the
// relative error of -log U is below 2r, which is the absolute error of G.
func (g Gumbel) Value() float64 {
	x := math.Float64frombits(1022<<52 | g.fraction) // T 2^(zeros+1), in [1/2, 1)
	switch {
	case !g.upper: // -log T, a sum of two terms of the same sign
		return -math.Log(float64(g.zeros+1)*math.Ln2 - math.Log(x))
	case g.zeros > 60: // -log(1-T) is T with a relative error below T
		return float64(g.zeros+1)*math.Ln2 - math.Log(x)
	}
	t := math.Float64frombits(uint64(1021-g.zeros)<<52 | g.fraction)
	return -math.Log(-math.Log1p(-t))
}

// UpperBound returns an upper bound of Value that takes no logarithm: U <= 1/2 gives
// G <= -log(log 2) < .37, and T >= 2^-(zeros+2) gives G <= -log T.
func (g Gumbel) UpperBound() float64 {
	if !g.upper {
		return .37
	}
	return float64(g.zeros+2) * math.Ln2
}

// MaxExponential converts v = log m + G, G a Gumbel number, into the largest of m
// independent Exp(1) numbers. With E = exp(-G), an Exp(1) number, U = exp(-E) is
// uniform and -log(1 - U^(1/m)) = -log(1 - exp(-exp(-v))). The derivative in v
// is r/(exp(r)-1) for r = exp(-v), in (0, 1), so errors of v do not grow; and m
// itself, which may have thousands of digits, is never formed.
func MaxExponential(v float64) float64 {
	if v > 40 { // the difference from v is below exp(-40)/2
		return v
	}
	return -math.Log(-math.Expm1(-math.Exp(-v)))
}

// MaxExponentialUpperBound returns an upper bound of MaxExponential(v) that takes no
// logarithm: with r = exp(-v), log(r/(1-exp(-r))) <= 1 - log(e-1) < .46 is the excess over
// v for r <= 1, and for r > 1 the value is below .46.
func MaxExponentialUpperBound(v float64) float64 {
	return max(v, 0) + .46
}
