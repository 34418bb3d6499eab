package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// Uniform returns a uniform integer in [0, n), n > 0, exactly. Words that would
// favour small results are rejected (Lemire's multiply-and-reject method).
func (s *Stream) Uniform(n uint64) uint64 {
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// UniformBig returns a uniform integer in [0, n), n > 0, exactly. It draws
// integers with as many bits as n until one is below n.
func (s *Stream) UniformBig(n *big.Int) *big.Int {
	length := n.BitLen()
	buffer := make([]byte, (length+7)/8)
	v := new(big.Int)
	for {
		for i := 0; i < len(buffer); i += 8 {
			word := s.Uint64()
			for k := i; k < min(i+8, len(buffer)); k++ {
				buffer[k] = byte(word)
				word >>= 8
			}
		}
		if extra := 8*len(buffer) - length; extra > 0 {
			buffer[0] &= 0xff >> extra
		}
		if v.SetBytes(buffer).Cmp(n) < 0 {
			return v
		}
	}
}

// Bernoulli returns true with probability p in (0, 1), exactly. It compares the
// binary expansion of p, which is finite, with that of a uniform number U, 64
// digits at a time, and returns whether U < p. Every step is exact: multiplying p
// by 2^64 changes its exponent only, and neither the integer part of the product
// nor its fraction has more digits than p.
func (s *Stream) Bernoulli(p float64) bool {
	for p > 0 {
		p = math.Ldexp(p, 64)
		whole := math.Floor(p)
		if u, w := s.Uint64(), uint64(whole); u != w {
			return u < w
		}
		p -= whole
	}
	return false // all digits of p are equal to those of U, so U >= p
}

// bernoulliRatio returns true with probability num/den, 0 <= num <= den, den > 0.
func (s *Stream) bernoulliRatio(num, den uint64) bool {
	return s.Uniform(den) < num
}

// bernoulliExp returns true with probability exp(-a/b), 0 <= a <= b, b > 0
// (Canonne, Kamath, Steinke 2020, algorithm 1: the number of successes of
// Bernoulli(a/(b k)), k = 1, 2, ..., before the first failure is even with
// probability sum (-a/b)^j/j!).
func (s *Stream) bernoulliExp(a, b uint64) bool {
	k := uint64(1)
	for s.bernoulliRatio(a, b) && (k == 1 || s.Uniform(k) == 0) {
		k++
	}
	return k&1 == 1
}

// Logarithmic returns K >= 1 with the logarithmic distribution, exactly:
//
//	P(K = k) = (1-gamma)^k / (k ln(1/gamma)), k = 1, 2, ..., gamma in (0, 1)
//
// (Papernot and Steinke 2022, Definition 1 with eta = 0). The number k of coins up
// to and including the first success, each of probability gamma, has
// P(k) = gamma (1-gamma)^(k-1). It is accepted with probability 1/k, which leaves a
// distribution proportional to gamma (1-gamma)^(k-1)/k, hence to (1-gamma)^k/k. The
// expected number of coins per proposal is 1/gamma, and a proposal is accepted
// with probability 1/E K.
func (s *Stream) Logarithmic(gamma float64) int {
	for {
		k := 1
		for !s.Bernoulli(gamma) {
			k++
		}
		if s.Uniform(uint64(k)) == 0 {
			return k
		}
	}
}
