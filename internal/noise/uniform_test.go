package noise

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dptrain/dptrain/internal/testkit"
)

// TestBelowBig checks that the result is uniform on [0, n) and that every value is possible.
func TestBelowBig(t *testing.T) {
	s := testStream(61)
	for _, n := range []int64{1, 2, 255, 256, 257, 700} {
		const draws = 100000
		counts := make([]float64, n)
		expected := make([]float64, n)
		for range draws {
			counts[s.UniformBig(big.NewInt(n)).Int64()]++
		}
		for i := range expected {
			expected[i] = draws / float64(n)
		}
		if n > 1 {
			testkit.CheckChiSquare(t, counts, expected)
		}
	}
	wide := new(big.Int).Lsh(big.NewInt(5), 300) // the leading digits
	counts := make([]float64, 5)
	for range 50000 {
		v := s.UniformBig(wide)
		counts[v.Rsh(v, 300).Int64()]++
	}
	testkit.CheckChiSquare(t, counts, []float64{10000, 10000, 10000, 10000, 10000})
}

// TestLogarithmic checks that K has the logarithmic distribution, by a chi-square test with at least 20 expected in
// each cell. A correct sampler fails with probability 1e-6 over the choice of the fixed key.
func TestLogarithmic(t *testing.T) {
	const n = 60_000
	for i, gamma := range []float64{.7, .15, .03} {
		mean := (1 - gamma) / (gamma * -math.Log(gamma))
		s := NewStream(Key{1, byte(i)})
		counts := map[int]float64{}
		sum := 0.
		for range n {
			k := s.Logarithmic(gamma)
			counts[k]++
			sum += float64(k)
		}
		chi := 0.
		cells := 0
		rest := float64(n)
		restSeen := float64(n)
		for k := 1; ; k++ {
			want := n * math.Pow(1-gamma, float64(k)) / (float64(k) * -math.Log(gamma))
			if want < 20 || rest-want < 20 {
				break
			}
			chi += (counts[k] - want) * (counts[k] - want) / want
			rest -= want
			restSeen -= counts[k]
			cells++
		}
		chi += (restSeen - rest) * (restSeen - rest) / rest
		limit := (distuv.ChiSquared{K: float64(cells)}).Quantile(1 - 1e-6)
		if chi > limit || cells < 4 {
			t.Errorf(
				"mean %v: chi-square %v with %d degrees of freedom, limit %v",
				mean,
				chi,
				cells,
				limit,
			)
		}
		// Var K <= E K / gamma.
		got := sum / n
		if math.Abs(got-mean) > 5*math.Sqrt(mean/gamma/n) {
			t.Errorf("mean %v: %v on average", mean, got)
		}
	}
}

// unused is the 64-bit word that follows those of a scripted stream.
const unused = 0x0123456789abcdef

// scriptedStream returns a stream that yields these words and then unused.
func scriptedStream(words ...uint64) *Stream {
	s := NewStream(Key{})
	for i, w := range append(words, unused) {
		binary.LittleEndian.PutUint64(s.buffer[8*i:], w)
	}
	s.offset = 0
	return s
}

// TestBernoulli compares digits to the end of the number.
func TestBernoulli(t *testing.T) {
	third := math.Nextafter(1./3, 0) // digits 0 to 53
	first := uint64(math.Ldexp(third, 64))
	small := math.Ldexp(3, -66) // .00...011, the second 1 in the second word
	for _, c := range []struct {
		p    float64
		u    []uint64
		want bool
	}{
		{.5, []uint64{1<<63 - 1}, true},
		{.5, []uint64{1 << 63, 0}, false},
		{.5, []uint64{1<<63 + 1}, false},
		{third, []uint64{first - 1}, true},
		{third, []uint64{first, 0}, false},
		{third, []uint64{first + 1}, false},
		{small, []uint64{1}, false},
		{small, []uint64{0, 3<<62 - 1}, true},
		{small, []uint64{0, 3 << 62, 0}, false},
		{math.SmallestNonzeroFloat64, []uint64{0, 0, 0, 1}, false},
		{math.Nextafter(1, 0), []uint64{math.MaxUint64}, false},
		{
			math.Nextafter(1, 0),
			[]uint64{math.MaxUint64 - 1<<11},
			true,
		},
	} {
		got := scriptedStream(c.u...).Bernoulli(c.p)
		if got != c.want {
			t.Errorf(
				"Bernoulli(%v) of %x: %v",
				c.p, c.u, got,
			)
		}
	}
	// A correct coin fails with probability 1e-6 over the choice of the key.
	const n = 1_000_000
	s := NewStream(Key{9})
	hits := 0.
	for range n {
		if s.Bernoulli(.07) {
			hits++
		}
	}
	z := (hits - n*.07) / math.Sqrt(n*.07*.93)
	if math.Abs(z) > 4.9 {
		t.Errorf(
			"heads at .07: %v of %v",
			hits, n,
		)
	}
}
