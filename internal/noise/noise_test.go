package noise

import (
	"math"
	"math/big"
	"testing"

	googlenoise "github.com/google/differential-privacy/go/v3/noise"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/testkit"
)

func testStream(seed byte) *Stream {
	return NewStream(Key{seed}.Derive("test", "sampler", 0))
}

// histogramOf counts draws on -reach..reach, where the outermost cells include the tails, and returns the counts
// along with those expected for the distribution with this distribution function at half-integers.
func histogramOf(
	n, reach int, draw func() int64, cdf func(float64) float64,
) (counts, expected []float64) {
	counts = make([]float64, 2*reach+1)
	expected = make([]float64, 2*reach+1)
	for range n {
		v := min(max(draw(), int64(-reach)), int64(reach))
		counts[v+int64(reach)]++
	}
	for i := range expected {
		lo := cdf(float64(i-reach) - .5)
		hi := cdf(float64(i-reach) + .5)
		if i == 0 {
			lo = 0
		}
		if i == 2*reach {
			hi = 1
		}
		expected[i] = float64(n) * (hi - lo)
	}
	return counts, expected
}

func TestNormalDistribution(t *testing.T) {
	for seed, sigma := range []uint64{1, 2, 7, 40} {
		s := testStream(byte(seed))
		d := distuv.Normal{Sigma: float64(sigma)}
		counts, expected := histogramOf(
			300000,
			int(6*sigma),
			func() int64 {
				return s.Normal(sigma)
			},
			d.CDF,
		)
		testkit.CheckChiSquare(t, counts, expected)
	}
}

func TestNormalLargeScale(t *testing.T) {
	s := testStream(9)
	const sigma, n, cells = 1 << 40, 200000, 64
	counts := make([]float64, cells)
	expected := make([]float64, cells)
	for range n {
		u := distuv.UnitNormal.CDF(float64(s.Normal(sigma)) / sigma)
		counts[min(int(u*cells), cells-1)]++
	}
	for i := range expected {
		expected[i] = n / cells
	}
	testkit.CheckChiSquare(t, counts, expected)
}

func TestLaplaceDistribution(t *testing.T) {
	for seed, b := range []uint64{1, 3, 25} {
		s := testStream(byte(20 + seed))
		d := distuv.Laplace{Scale: float64(b)}
		counts, expected := histogramOf(
			300000,
			int(12*b),
			func() int64 {
				return s.Laplace(b)
			},
			d.CDF,
		)
		testkit.CheckChiSquare(t, counts, expected)
	}
}

// TestAgainstIndependentLibrary compares our normal distribution with that of google/differential-privacy, whose
// integer noise has standard deviation sigma exactly for these arguments; two-sample chi-square.
func TestAgainstIndependentLibrary(t *testing.T) {
	const n, sigma, reach = 60000, 30, 150
	s := testStream(30)
	g := googlenoise.Gaussian()
	var ours, theirs [2*reach + 1]float64
	for range n {
		ours[min(max(s.Normal(sigma), -reach), reach)+reach]++
		// One partition of magnitude sigma at (1, delta(mu=1; 1)) is noise of
		// standard deviation sigma.
		v, err := g.AddNoiseInt64(0, 1, sigma, 1.0, 0.12693673750664)
		if err != nil {
			t.Fatal(err)
		}
		theirs[min(max(v, -reach), reach)+reach]++
	}
	var stat, a, b float64
	cells := 0
	for i := range ours {
		a += ours[i]
		b += theirs[i]
		if a+b >= 40 {
			stat += (a - b) * (a - b) / (a + b)
			cells++
			a = 0
			b = 0
		}
	}
	limit := distuv.ChiSquared{K: float64(cells - 1)}.Quantile(1 - testkit.FalseAlarm)
	if cells < 50 || stat > limit {
		t.Errorf(
			"two-sample chi-square %.1f over %d cells, limit %.1f",
			stat, cells, limit,
		)
	}
}

func TestBernoulliExp(t *testing.T) {
	s := testStream(40)
	const n = 200000
	for _, c := range []struct{ a, b uint64 }{
		{0, 1}, {1, 1},
		{1, 2}, {3, 7},
		{1, 1000},
	} {
		heads := 0.0
		for range n {
			if s.bernoulliExp(c.a, c.b) {
				heads++
			}
		}
		p := math.Exp(-float64(c.a) / float64(c.b))
		if c.a == 0 && heads != n {
			t.Errorf(
				"exp(0): %v of %d",
				heads, n,
			)
		}
		// six standard deviations: two-sided false alarm 2e-9
		d := math.Abs(heads - n*p)
		if d > 6*math.Sqrt(n*p*(1-p))+1e-9 {
			t.Errorf(
				"exp(-%d/%d): %v heads of %d, expected %.0f",
				c.a, c.b, heads, n,
				n*p,
			)
		}
	}
}

// TestExponentialChoice reproduces the output distribution of the private quantile in
// the specification.
func TestExponentialChoice(t *testing.T) {
	s := testStream(50)
	// -|20 #{x < g} - n| for the values .1, .2, .3, .4, .9 and the points 0, .25, .5, .75, 1. This is the quantile
	// 1/20, for which an added record moves scores within a width of 38.
	scores := []int64{-5, -35, -75, -75, -95}
	const n, width = 300000, 38
	scale := uint64(width << ChoiceScaleBits) // epsilon = 1
	counts := make([]float64, 5)
	expected := []float64{.536285, .243518, .084992, .084992, .050212}
	for range n {
		counts[s.ExponentialChoice(scores, scale)]++
	}
	for i := range expected {
		expected[i] *= n
	}
	testkit.CheckChiSquare(t, counts, expected)
}

// TestExponentialChoiceGap checks the coin of the exponential mechanism where the gap is
// far above and far below the scale.
func TestExponentialChoiceGap(t *testing.T) {
	s := testStream(51)
	if s.bernoulliExpScaled(1<<62, 1) {
		t.Error("a gap of 2^82 scales showed heads")
	}
	if !s.bernoulliExpScaled(0, 1<<40) {
		t.Error("no gap showed tails")
	}
	j := s.ExponentialChoice(
		[]int64{math.MinInt64 / 2, math.MaxInt64 / 2, 0},
		1<<ChoiceScaleBits,
	)
	if j != 1 {
		t.Errorf("chose %d", j)
	}
}

// TestRoundScaledExact compares the lazy rounding with big-number arithmetic,
// also where the first digit leaves it undecided.
func TestRoundScaledExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Uint64Range(1, MaxScale).Draw(t, "sigma")
		x := lazyUniform{
			first: rapid.Uint64().Draw(t, "first"),
			more:  rapid.SliceOfN(rapid.Uint64(), 4, 4).Draw(t, "more"),
		}
		if rapid.Bool().Draw(t, "tight") {
			// Choose digits so that sigma*x comes close to a half-integer from below: x = (h + 1/2)/sigma, rounded
			// down to 128 or 192 bits.
			h := rapid.Uint64Range(0, sigma-1).Draw(t, "half")
			num := new(big.Int).Lsh(
				new(big.Int).SetUint64(2*(h>>1)+1),
				319,
			)
			q := num.Div(num, new(big.Int).SetUint64(sigma))
			mask := new(big.Int).SetUint64(math.MaxUint64)
			for i := 4; i >= 0; i-- {
				d := new(big.Int).And(q, mask).Uint64()
				if i == 0 {
					x.first = d
				} else {
					x.more[i-1] = d
				}
				q.Rsh(q, 64)
			}
			x.more[3] += rapid.Uint64Range(0, 2).Draw(t, "nudge")
		}
		full := new(big.Int).SetUint64(x.first)
		for _, d := range x.more {
			full.Lsh(full, 64).Or(full, new(big.Int).SetUint64(d))
		}
		// floor(sigma*x + 1/2) with x = full/2^320; digits beyond the fifth are
		// drawn from the stream and cannot change it unless sigma*x falls
		// within sigma/2^320 below a half-integer.
		scaled := new(big.Int).Mul(full, new(big.Int).SetUint64(sigma))
		low := new(big.Int).Add(
			scaled,
			new(big.Int).Lsh(big.NewInt(1), 319),
		)
		high := new(big.Int).Add(low, new(big.Int).SetUint64(sigma))
		a := low.Rsh(low, 320).Uint64()
		b := high.Rsh(high, 320).Uint64()
		got := testStream(60).roundScaled(sigma, &x)
		if got != a && got != b {
			t.Fatalf(
				"sigma %d: got %d, want %d or %d",
				sigma, got, a, b,
			)
		}
	})
}

// TestLessUsesLaterDigits checks that numbers with equal first digits are ordered by later digits.
func TestLessUsesLaterDigits(t *testing.T) {
	s := testStream(61)
	a := lazyUniform{first: 5, more: []uint64{1, 9}}
	b := lazyUniform{first: 5, more: []uint64{2, 3}}
	if !s.isLess(&a, &b) || s.isLess(&b, &a) {
		t.Error("later digits are not compared")
	}
}

func TestBelowIsUniform(t *testing.T) {
	s := testStream(70)
	for _, n := range []uint64{2, 3, 10, 1<<63 + 1} {
		const draws, cells = 120000, 8
		counts := make([]float64, min(n, cells))
		expected := make([]float64, len(counts))
		for range draws {
			v := s.Uniform(n)
			if v >= n {
				t.Fatalf("%d is not below %d", v, n)
			}
			counts[int(float64(v)/float64(n)*float64(len(counts)))%len(counts)]++
		}
		for v := range min(n, 1000) {
			expected[int(float64(v)/float64(min(n, 1000))*float64(len(counts)))%
				len(counts)] += draws / float64(min(n, 1000))
		}
		testkit.CheckChiSquare(t, counts, expected)
	}
}

// TestPrecisionAttack checks that the low bits of a release of integers reveal no value (Haney et al. 2022): the
// trailing bits of the noisy 0 and the noisy 1 have the same distribution.
func TestPrecisionAttack(t *testing.T) {
	const n, sigma = 200000, 1 << 30
	s := testStream(80)
	var counts [2][16]float64
	for v := range counts {
		for range n {
			counts[v][uint64(int64(v)+s.Normal(sigma))&15]++
		}
	}
	expected := make([]float64, 16)
	for i := range expected {
		expected[i] = n / 16
	}
	testkit.CheckChiSquare(t, counts[0][:], expected)
	testkit.CheckChiSquare(t, counts[1][:], expected)
}

func BenchmarkNormal(b *testing.B) {
	s := testStream(1)
	for b.Loop() {
		s.Normal(1 << 32)
	}
}

func BenchmarkLaplace(b *testing.B) {
	s := testStream(1)
	for b.Loop() {
		s.Laplace(1 << 32)
	}
}

func BenchmarkExponentialChoice256(b *testing.B) {
	s := testStream(1)
	scores := make([]int64, 256)
	for i := range scores {
		scores[i] = int64(-i * 100)
	}
	for b.Loop() {
		s.ExponentialChoice(scores, 1000<<ChoiceScaleBits)
	}
}
