package noise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
)

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
		for _, fraction := range []uint64{
			0, 1<<52 - 1,
			r.Uint64() >> 12,
		} {
			for _, cut := range []uint64{0, 1} {
				x := new(big.Float).SetPrec(testkit.BigPrecision).SetUint64(1<<52 + fraction + cut)
				end := new(big.Float).SetPrec(testkit.BigPrecision).SetMantExp(
					x,
					-54-zeros,
				)
				for _, one := range []bool{false, true} {
					var e *big.Float // -log U
					switch {
					case !one:
						e = testkit.BigNeg(testkit.BigLog(end))
					case zeros > 100: // 256 bits cannot represent 1-T: -log(1-T) = T + T^2/2 ...
						e = end
					default:
						e = testkit.BigNeg(testkit.BigLog(new(big.Float).Sub(
							testkit.BigFloat(1),
							end,
						)))
					}
					draw := Gumbel{one, zeros, fraction}
					g := draw.Value()
					err := testkit.BigDistance(
						g,
						testkit.BigNeg(testkit.BigLog(e)),
					) / (1 + math.Abs(g))
					worst = math.Max(worst, err)
					if err > 0x1p-50 {
						t.Errorf(
							"end %v, 2^-%d, fraction %d: %g times 1+|G|",
							one,
							zeros,
							fraction,
							err,
						)
					}
					most := draw.UpperBound()
					if g > most+1e-9 {
						t.Errorf(
							"end %v, 2^-%d, fraction %d: %v above its bound %v",
							one,
							zeros,
							fraction,
							g,
							most,
						)
					}
				}
			}
		}
	}
	t.Logf(
		"largest error 2^%.1f (1+|G|)",
		math.Log2(worst),
	)
}

// TestMaxExponentialError compares with 256-bit arithmetic.
func TestMaxExponentialError(t *testing.T) {
	for v := -5.; v < 60; v += .37 {
		inside := new(big.Float).Sub(
			testkit.BigFloat(1),
			testkit.BigExp(testkit.BigNeg(testkit.BigExp(testkit.BigFloat(-v)))),
		)
		err := testkit.BigDistance(
			MaxExponential(v),
			testkit.BigNeg(testkit.BigLog(inside)),
		)
		if err > 0x1p-45 {
			t.Errorf("v = %v: error %g", v, err)
		}
		z := MaxExponential(v)
		if z > MaxExponentialUpperBound(v) {
			t.Errorf(
				"v = %v: %v above its bound",
				v, z,
			)
		}
	}
	for _, v := range []float64{-7, -50, -800, -1e6} {
		z := MaxExponential(v)
		if z != 0 && !(z > 0 && z < 1e-300) {
			t.Errorf("v = %v: %v", v, z)
		}
	}
}

// cellsOf counts n numbers in cells of equal probability under a distribution
// function.
func cellsOf(
	n, cells int, draw func() float64, cdf func(float64) float64,
) (counts, expected []float64) {
	counts = make([]float64, cells)
	expected = make([]float64, cells)
	for range n {
		counts[min(int(cdf(draw())*float64(cells)), cells-1)]++
	}
	for i := range expected {
		expected[i] = float64(n) / float64(cells)
	}
	return counts, expected
}

func TestGumbelDistribution(t *testing.T) {
	s := testStream(90)
	counts, expected := cellsOf(
		300000,
		200,
		func() float64 {
			return s.Gumbel().Value()
		},
		func(g float64) float64 {
			return math.Exp(-math.Exp(-g))
		},
	)
	testkit.CheckChiSquare(t, counts, expected)
	// The tails have their own cells: U and 1-U by powers of two.
	tails := make([]float64, 40)
	want := make([]float64, 40)
	const n = 2_000_000
	for range n {
		u := math.Exp(-math.Exp(-s.Gumbel().Value()))
		side := 0
		if u > .5 {
			u = -math.Expm1(math.Log(u))
			side = 20
		}
		tails[side+min(int(-math.Log2(u))-1, 19)]++
	}
	for i := range want {
		want[i] = n * math.Ldexp(1, -2-i%20)
		if i%20 == 19 {
			want[i] *= 2
		}
	}
	testkit.CheckChiSquare(t, tails, want)
}

// TestGumbelBits checks that the bits of a 64-bit word are put in the right places, and that words of zeros are
// skipped.
func TestGumbelBits(t *testing.T) {
	const random = 0xfedcba9876543210
	for _, c := range []struct {
		name     string
		words    []uint64
		one      bool
		zeros    int
		fraction uint64
	}{
		{
			"first bit",
			[]uint64{1<<63 | 1<<62 | 0x123456789abcd<<10},
			true,
			0,
			0x123456789abcd,
		},
		{"ten zeros", []uint64{1<<52 | 0x123456789abcd}, false, 10, 0x123456789abcd},
		{
			"eleven zeros",
			[]uint64{1<<51 | 5, random},
			false, 11, random >> 12,
		},
		{
			"last bit",
			[]uint64{1<<63 | 1, random},
			true, 62, random >> 12,
		},
		{
			"a word of zeros",
			[]uint64{0, 1 << 61, random},
			false, 65, random >> 12,
		},
		{
			"three words of zeros",
			[]uint64{1 << 63, 0, 0, 1, random},
			true,
			63 + 128 + 63,
			random >> 12,
		},
	} {
		s := scriptedStream(c.words...)
		got := s.Gumbel()
		want := (Gumbel{c.one, c.zeros, c.fraction})
		if got != want ||
			s.Uint64() != unused {
			t.Errorf(
				"%s: %+v, want %+v, or a word is left",
				c.name, got, want,
			)
		}
	}
}

// TestMaxExponentialDistribution checks that the largest of m exponentials has the distribution function
// (1-exp(-z))^m, for one, for three and for a very large m.
func TestMaxExponentialDistribution(t *testing.T) {
	for i, m := range []float64{1, 3, 1e6, 1e30} {
		s := testStream(byte(92 + i))
		draw := func() float64 {
			return MaxExponential(math.Log(m) + s.Gumbel().Value())
		}
		counts, expected := cellsOf(100000, 100, draw, func(z float64) float64 {
			return math.Exp(m * math.Log1p(-math.Exp(-z)))
		})
		testkit.CheckChiSquare(t, counts, expected)
	}
}
