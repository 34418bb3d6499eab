package simd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawNumbers returns random numbers of all kinds, including special values.
func drawNumbers(r *rand.Rand, n int) []float64 {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(math.MaxUint64),
		math.Inf(1), math.Inf(-1), 1, -1, 5e-324, -5e-324,
		math.MaxFloat64, -math.MaxFloat64, 0x1p-1022, 0x1p-64, -0x1p-64, 0x1p-65, 0x1p63, 0x1p64,
		-0x1p64, 31, 32, 31.999, -.5}
	out := make([]float64, n)
	for i := range out {
		switch r.IntN(4) {
		case 0:
			out[i] = special[r.IntN(len(special))]
		case 1:
			out[i] = math.Float64frombits(r.Uint64())
		default:
			out[i] = r.NormFloat64() * math.Ldexp(1, r.IntN(8))
		}
	}
	return out
}

// checkEach compares n results with a rule, and checks that the elements after them were not modified.
func checkEach[T comparable](
	t *testing.T,
	got []T,
	column []float64,
	n int,
	untouched T,
	rule func(x float64) T,
) {
	t.Helper()
	if n > len(column) || n < wholeGroups(len(column)) {
		t.Fatalf(
			"%d of %d numbers are done",
			n, len(column),
		)
	}
	for i, x := range column[:n] {
		want := rule(x)
		if got[i] != want {
			t.Fatalf(
				"%v (%x) becomes %v, want %v",
				x, math.Float64bits(x),
				got[i], want,
			)
		}
	}
	for _, v := range got[n:] {
		if v != untouched {
			t.Fatal("a result behind the last is touched")
		}
	}
}

func TestMagnitudes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		column := drawNumbers(r, n)
		bins := slices.Repeat([]uint16{7777}, n+9)
		checkEach(t, bins, column, Magnitudes(bins, column), 7777, func(x float64) uint16 {
			switch {
			case math.IsNaN(x):
				return math.MaxUint16
			case x == 0:
				return 128
			}
			e := 64
			if !math.IsInf(x, 0) {
				e = math.Ilogb(x)
			}
			e = min(max(e, -64), 63) + 65
			if x < 0 {
				e = -e
			}
			return uint16(128 + e)
		})
	}
}

func TestEqualBins(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 300 {
		column := drawNumbers(r, n)
		bins := slices.Repeat([]uint16{7777}, n+9)
		lower := drawNumbers(r, 1)[0]
		scale := []float64{1, .37, 1e-300, 1e300, math.Inf(1)}[r.IntN(5)]
		most := []int{31, 1023}[r.IntN(2)]
		checkEach(
			t,
			bins,
			column,
			EqualBins(bins, column, lower, scale, most),
			7777,
			func(x float64) uint16 {
				switch p := (x - lower) * scale; {
				case math.IsNaN(x):
					return math.MaxUint16
				case p >= float64(most):
					return uint16(most)
				case p > 0:
					return uint16(p)
				}
				return 0
			},
		)
	}
}

func TestFixed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 300 {
		column := drawNumbers(r, n)
		dst := slices.Repeat([]int16{7777}, n+9)
		g := Grid{
			drawNumbers(r, 1)[0],
			drawNumbers(r, 1)[0],
			[]float64{
				1, 1 << 14, 777.7,
				1e-300, 1e300,
				math.Inf(1),
			}[r.IntN(6)],
		}
		checkEach(t, dst, column, g.Fixed(dst, column), 7777, func(x float64) int16 {
			if math.IsNaN(x) {
				x = g.Missing
			}
			v := (x - g.Center) * g.Scale
			if math.IsNaN(v) {
				v = 0
			}
			return int16(math.Trunc(min(
				max(v, -1<<14),
				1<<14,
			)))
		})
	}
}

func TestPick(t *testing.T) {
	eachWidth(t, testPick)
}

func testPick(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 300 {
		src := drawNumbers(r, 8*n+r.IntN(9))
		mask := make([]byte, n)
		for i := range mask {
			mask[i] = byte(r.Uint32() | r.Uint32())
			if r.IntN(9) == 0 {
				mask[i] = []byte{0, 255}[r.IntN(2)]
			}
		}
		var want []float64
		for i := range 8 * n {
			if mask[i/8]>>(i%8)&1 == 1 {
				want = append(want, src[i])
			}
		}
		whole := make([]float64, len(want)+64)
		for i := range whole {
			whole[i] = 123
		}
		dst := whole[:len(want)]
		got := Pick(dst, src, mask)
		if got > len(want) || got < wholeGroups(len(want))-8 {
			t.Fatalf(
				"%d of %d numbers",
				got, len(want),
			)
		}
		for i := range got {
			if math.Float64bits(dst[i]) != math.Float64bits(want[i]) {
				t.Fatalf(
					"number %d of %d: %v, want %v",
					i, len(want), dst[i],
					want[i],
				)
			}
		}
		for _, v := range whole[len(want):] {
			if v != 123 {
				t.Fatal("what lies behind the numbers is touched")
			}
		}
	}
}

func TestShorten(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for n := range 300 {
		column := make([]int16, n)
		factors := make([]int32, n+3)
		for i := range column {
			column[i] = int16(r.IntN(1<<15+1) - 1<<14)
			factors[i] = int32(r.IntN(1<<15 + 1))
			if r.IntN(4) == 0 {
				column[i] = []int16{0, 1, -1, 1 << 14, -1 << 14}[r.IntN(5)]
				factors[i] = []int32{0, 1, 1<<15 - 1, 1 << 15}[r.IntN(4)]
			}
		}
		got := slices.Clone(column)
		n := Shorten(got, factors)
		for i, v := range column {
			want := v
			if i < n {
				want = int16(int(v) * int(factors[i]) / (1 << 15))
			}
			if got[i] != want {
				t.Fatalf(
					"%d times %d becomes %d, want %d",
					v, factors[i], got[i], want,
				)
			}
		}
		if n < wholeGroups(len(column)) {
			t.Fatalf(
				"%d of %d numbers are done",
				n, len(column),
			)
		}
	}
}

func TestDoubles(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	for n := range 300 {
		column := make([]float64, n)
		data := []byte(nil)
		for i := range column {
			column[i] = r.NormFloat64()
			if r.IntN(100) == 0 {
				column[i] = drawNumbers(r, 1)[0]
			}
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(column[i]))
		}
		first := slices.IndexFunc(column, func(x float64) bool {
			return x-x != 0
		})
		if first < 0 {
			first = n
		}
		dst := make([]float64, n)
		done := Doubles(dst, data)
		if done > first ||
			done < wholeGroups(first) ||
			!slices.Equal(dst[:done], column[:done]) {
			t.Fatalf(
				"%d of %d numbers, of which %d are finite at first",
				done, n, first,
			)
		}
		for _, v := range dst[done:] {
			if v != 0 {
				t.Fatal("a number behind the last is touched")
			}
		}
	}
}
