package noise

import "math/bits"

// lazyUniform is a uniform real number in (0, 1). Its binary digits are drawn when they
// are needed, 64 at a time.
type lazyUniform struct {
	first uint64
	more  []uint64
}

func (s *Stream) lazyUniform() lazyUniform {
	return lazyUniform{first: s.Uint64()}
}

// digitAt returns the i-th 64-bit digit of u, and draws it if necessary.
func (s *Stream) digitAt(u *lazyUniform, i int) uint64 {
	if i == 0 {
		return u.first
	}
	for len(u.more) < i {
		u.more = append(u.more, s.Uint64())
	}
	return u.more[i-1]
}

// isLess reports whether a < b, exactly (ties have probability zero).
func (s *Stream) isLess(a, b *lazyUniform) bool {
	if a.first != b.first {
		return a.first < b.first
	}
	for i := 1; ; i++ {
		if x, y := s.digitAt(a, i), s.digitAt(b, i); x != y {
			return x < y
		}
	}
}

// expHalf returns true with probability exp(-1/2).
func (s *Stream) expHalf() bool {
	return s.bernoulliExp(1, 2)
}

// halfNormal draws the absolute value of a standard normal as an integer k
// plus a fraction (Karney 2016, algorithm N without the sign).
func (s *Stream) halfNormal() (k uint64, x lazyUniform) {
	for {
		for k = 0; s.expHalf(); k++ { // N1: P(k) ~ exp(-k/2)
		}
		ok := true
		for i := uint64(0); ok && k > 1 && i < k*(k-1); i++ { // N2: exp(-k(k-1)/2)
			ok = s.expHalf()
		}
		if !ok {
			continue
		}
		x = s.lazyUniform() // N3
		for i := uint64(0); ok && i <= k; i++ {
			ok = s.fractionTrial(k, &x) // N4: exp(-x(2k+x)/2) in k+1 trials
		}
		if ok {
			return k, x
		}
	}
}

// fractionTrial returns true with probability exp(-x(2k+x)/(2k+2)): Karney's
// algorithm B, a decreasing run of uniforms below x, each step also passing a
// coin of probability (2k+x)/(2k+2); the run's length is even with that
// probability.
func (s *Stream) fractionTrial(k uint64, x *lazyUniform) bool {
	y := *x
	for n := 0; ; n++ {
		z := s.lazyUniform()
		below := s.isLess(&z, &y)
		if n == 0 {
			*x = y // keep the digits of x that the comparison drew
		}
		if !below {
			return n&1 == 0
		}
		switch f := s.Uniform(2*k + 2); {
		case f == 2*k+1:
			return n&1 == 0
		case f == 2*k:
			if r := s.lazyUniform(); !s.isLess(&r, x) {
				return n&1 == 0
			}
		}
		y = z
	}
}

// MaxScale is the largest scale of [Stream.Normal] and [Stream.Laplace]. It keeps draws far
// from the ends of int64 (k beyond 100 has probability below exp(-5000)).
const MaxScale = 1 << 55

// Normal returns round(N(0, sigma^2)) for an integer sigma in [1, MaxScale],
// exactly: the digits of the fraction are drawn until the rounding is decided.
func (s *Stream) Normal(sigma uint64) int64 {
	k, x := s.halfNormal()
	v := int64(k*sigma + s.roundScaled(sigma, &x))
	if s.Bit() {
		return -v
	}
	return v
}

// roundScaled returns floor(sigma*x + 1/2) exactly.
func (s *Stream) roundScaled(sigma uint64, x *lazyUniform) uint64 {
	hi, lo := bits.Mul64(sigma, x.first)
	const half = 1 << 63
	if lo >= half { // the rest adds less than 1/2: the rounding is decided
		return hi + 1
	}
	// sigma*x = hi + (lo + sigma*rest)/2^64, rest in (0,1): up if and only if
	// sigma*rest >= gap.
	for gap, i := half-lo, 1; gap <= sigma; i++ {
		h, l := bits.Mul64(sigma, s.digitAt(x, i))
		if h >= gap {
			return hi + 1
		}
		if gap-h > 1 || l == 0 {
			return hi // the remaining digits add less than 1 to h
		}
		gap = -l // 2^64 - l
	}
	return hi
}
