package mechanism

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const bigBits = 256

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(bigBits).SetFloat64(x) }

// bigLog returns log z: z = m 2^q with m in [1/2, 1), and
// log m = 2 atanh((m-1)/(m+1)) by its series.
func bigLog(z *big.Float) *big.Float {
	m := new(big.Float).SetPrec(bigBits)
	q := new(big.Float).SetPrec(bigBits).Set(z).MantExp(m)
	return new(big.Float).Add(atanhLog(m), new(big.Float).Mul(bigFloat(float64(-q)), atanhLog(bigFloat(.5))))
}

func atanhLog(m *big.Float) *big.Float {
	y := new(big.Float).Quo(new(big.Float).Sub(m, bigFloat(1)), new(big.Float).Add(m, bigFloat(1)))
	square, power, sum := new(big.Float).Mul(y, y), new(big.Float).Set(y), bigFloat(0)
	for i := 1; i < 170; i += 2 {
		sum.Add(sum, new(big.Float).Quo(power, bigFloat(float64(i))))
		power.Mul(power, square)
	}
	return sum.Mul(sum, bigFloat(2))
}

// bigExp returns exp x by the series at x/2^20, squared 20 times.
func bigExp(x *big.Float) *big.Float {
	small := new(big.Float).SetPrec(bigBits).SetMantExp(x, -20)
	sum, term := bigFloat(1), bigFloat(1)
	for i := 1; i < 60; i++ {
		term.Mul(term, small).Quo(term, bigFloat(float64(i)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

func minus(x *big.Float) *big.Float { return new(big.Float).Neg(x) }

// distance is |a - b|.
func distance(a float64, b *big.Float) float64 {
	d, _ := new(big.Float).Sub(bigFloat(a), b).Float64()
	return math.Abs(d)
}

// TestGumbelError compares the computed noise with 256-bit arithmetic at both
// ends of the interval of the cut fraction, for every exponent up to 80 and
// some that no stream will show.
func TestGumbelError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	exponents := []int{100, 500, 1100, 5000}
	for z := range 80 {
		exponents = append(exponents, z, z)
	}
	worst := 0.0
	for _, zeros := range exponents {
		for _, fraction := range []uint64{0, 1<<52 - 1, r.Uint64() >> 12} {
			for _, cut := range []uint64{0, 1} {
				x := new(big.Float).SetPrec(bigBits).SetUint64(1<<52 + fraction + cut)
				end := new(big.Float).SetPrec(bigBits).SetMantExp(x, -54-zeros)
				for _, one := range []bool{false, true} {
					var e *big.Float // -log U
					switch {
					case !one:
						e = minus(bigLog(end))
					case zeros > 100: // 256 bits do not hold 1-T: -log(1-T) = T + T^2/2 ...
						e = end
					default:
						e = minus(bigLog(new(big.Float).Sub(bigFloat(1), end)))
					}
					g := gumbelAt(one, zeros, fraction)
					err := distance(g, minus(bigLog(e))) / (1 + math.Abs(g))
					worst = math.Max(worst, err)
					if err > 0x1p-50 {
						t.Errorf("end %v, 2^-%d, fraction %d: %g times 1+|G|", one, zeros, fraction, err)
					}
					if most := gumbelAtMost(one, zeros); g > most+1e-9 {
						t.Errorf("end %v, 2^-%d, fraction %d: %v above its bound %v", one, zeros, fraction, g, most)
					}
				}
			}
		}
	}
	t.Logf("largest error 2^%.1f (1+|G|)", math.Log2(worst))
}

// TestMaxExponentialError compares with 256-bit arithmetic.
func TestMaxExponentialError(t *testing.T) {
	for v := -5.; v < 60; v += .37 {
		inside := new(big.Float).Sub(bigFloat(1), bigExp(minus(bigExp(bigFloat(-v)))))
		if err := distance(maxExponential(v), minus(bigLog(inside))); err > 0x1p-45 {
			t.Errorf("v = %v: error %g", v, err)
		}
		if z := maxExponential(v); z > maxExponentialAtMost(v) {
			t.Errorf("v = %v: %v above its bound", v, z)
		}
	}
	for _, v := range []float64{-7, -50, -800, -1e6} {
		if z := maxExponential(v); z != 0 && !(z > 0 && z < 1e-300) {
			t.Errorf("v = %v: %v", v, z)
		}
	}
}

// TestLogFactorialError compares log-sizes with exact binomials, also of a
// million candidates.
func TestLogFactorialError(t *testing.T) {
	const most = 1_000_000
	l := &lipschitz{logs: newLogFactorials(most)}
	for _, c := range []struct{ d, k, limit float64 }{
		{6, 3, 0x1p-50}, {100, 50, 0x1p-44}, {20_000, 200, 0x1p-33}, {most, 5, math.Pow(2, -26.5)}, {most, 1000, math.Pow(2, -26.5)},
	} {
		l.k = int(c.k)
		for _, h := range []int{0, l.k / 2, l.k - 1} {
			for _, at := range []int{l.k + 1, (l.k + int(c.d)) / 2, int(c.d)} {
				n := new(big.Int).Binomial(int64(at-h-2), int64(l.k-h-1))
				err := distance(l.logSize(h, at), bigLog(new(big.Float).SetPrec(bigBits).SetInt(n)))
				if err > c.limit {
					t.Errorf("d %v, k %v, class (%d, %d): error %g, limit %g", c.d, c.k, h, at, err, c.limit)
				}
			}
		}
	}
}

// cellsOf counts n numbers in cells of equal probability under a distribution
// function.
func cellsOf(n, cells int, draw func() float64, cdf func(float64) float64) (counts, expected []float64) {
	counts, expected = make([]float64, cells), make([]float64, cells)
	for range n {
		counts[min(int(cdf(draw())*float64(cells)), cells-1)]++
	}
	for i := range expected {
		expected[i] = float64(n) / float64(cells)
	}
	return counts, expected
}

func TestGumbelLaw(t *testing.T) {
	s := testStream(90)
	counts, expected := cellsOf(300000, 200, s.gumbel, func(g float64) float64 { return math.Exp(-math.Exp(-g)) })
	chiSquare(t, counts, expected)
	// the tails in cells of their own: U and 1-U by powers of two
	tails, want := make([]float64, 40), make([]float64, 40)
	const n = 2_000_000
	for range n {
		u := math.Exp(-math.Exp(-s.gumbel()))
		side := 0
		if u > .5 {
			u, side = -math.Expm1(math.Log(u)), 20
		}
		tails[side+min(int(-math.Log2(u))-1, 19)]++
	}
	for i := range want {
		want[i] = n * math.Ldexp(1, -2-i%20)
		if i%20 == 19 {
			want[i] *= 2
		}
	}
	chiSquare(t, tails, want)
}

// TestGumbelBits: the bits of a word go where they should, and words without a
// one are passed over.
func TestGumbelBits(t *testing.T) {
	const random = 0xfedcba9876543210
	words := func(w ...uint64) *stream {
		s := testStream(91)
		s.off = len(s.buf) - 8*len(w)
		for i, x := range w {
			for b := range 8 {
				s.buf[s.off+8*i+b] = byte(x >> (8 * b))
			}
		}
		return s
	}
	for _, c := range []struct {
		name     string
		words    []uint64
		one      bool
		zeros    int
		fraction uint64
	}{
		{"first bit", []uint64{1<<63 | 1<<62 | 0x123456789abcd<<10}, true, 0, 0x123456789abcd},
		{"ten zeros", []uint64{1<<52 | 0x123456789abcd}, false, 10, 0x123456789abcd},
		{"eleven zeros", []uint64{1<<51 | 5, random}, false, 11, random >> 12},
		{"last bit", []uint64{1<<63 | 1, random}, true, 62, random >> 12},
		{"a word of zeros", []uint64{0, 1 << 61, random}, false, 65, random >> 12},
		{"three words of zeros", []uint64{1 << 63, 0, 0, 1, random}, true, 63 + 128 + 63, random >> 12},
	} {
		s := words(c.words...)
		if got, want := s.gumbel(), gumbelAt(c.one, c.zeros, c.fraction); got != want || s.off != len(s.buf) {
			t.Errorf("%s: %v, want %v; %d bytes left", c.name, got, want, len(s.buf)-s.off)
		}
	}
}

// TestMaxExponentialLaw: the largest of m exponentials has distribution
// function (1-exp(-z))^m, for one, three and very many.
func TestMaxExponentialLaw(t *testing.T) {
	for i, m := range []float64{1, 3, 1e6, 1e30} {
		s := testStream(byte(92 + i))
		draw := func() float64 { return maxExponential(math.Log(m) + s.gumbel()) }
		counts, expected := cellsOf(100000, 100, draw, func(z float64) float64 {
			return math.Exp(m * math.Log1p(-math.Exp(-z)))
		})
		chiSquare(t, counts, expected)
	}
}
