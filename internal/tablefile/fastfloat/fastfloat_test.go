package fastfloat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// checkAgrees fails unless the package declines s or returns the same bits as strconv.
func checkAgrees(t interface{ Fatalf(string, ...any) }, s string) (answered bool) {
	v, ok := Parse([]byte(s))
	if !ok {
		return false
	}
	want, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatalf(
			"Parse(%q) = %v, strconv: %v",
			s, v, err,
		)
	}
	if math.Float64bits(v) != math.Float64bits(want) {
		t.Fatalf(
			"Parse(%q) = %x, strconv %x",
			s, math.Float64bits(v),
			math.Float64bits(want),
		)
	}
	return true
}

func TestAnswersCommonShapes(t *testing.T) {
	for _, s := range []string{
		"0", "-0", "+0.0", "1", "-1", "1.", ".5", "-.5", "12345678", "123456789", "0.1", "3.14159",
		"9007199254740992", "9007199254740993", "9007199254740991", "18014398509481985",
		"9999999999999999999", "0.12345678901234567", "-123.45678901234567", "1e5", "1E-5", "1e+22",
		"1e23", "9e27",
		"1.7976931348623157e22", "0.00000000000000000001", "000000000000000000000001.5", "4.35",
		"0.3",
		"8.442911973260991", "1234567890123456789e-27", "1234567890123456789e27",
		"99999999999999999e27",
	} {
		if !checkAgrees(t, s) {
			t.Errorf("Parse(%q) declined", s)
		}
	}
}

func TestParseDeclinesUncommonForms(t *testing.T) {
	for _, s := range []string{
		"", ".", "+", "-", "e5", "1e", "1e+", "1.2.3", " 1", "1 ", "0x10", "1_0", "inf", "NaN",
		"1e9999", "1e400",
		"12345678901234567890", "1234567890.1234567890", "1e-300", "1,2", "--1", "1e5.0", "1\x00",
	} {
		if v, ok := Parse([]byte(s)); ok {
			t.Errorf(
				"Parse(%q) = %v, want declined",
				s, v,
			)
		}
	}
}

// TestHalfwayDecimalsRoundExactly checks the hard cases of rounding: decimals exactly between two float64 values, and
// their neighbours one digit away.
func TestHalfwayDecimalsRoundExactly(t *testing.T) {
	for e := 53; e < 64; e++ {
		for k := uint64(0); k < 200; k++ {
			half := uint64(1)<<e + k<<(e-53) + 1<<(e-53)>>1
			for d := -1; d <= 1; d++ {
				s := strconv.FormatUint(half+uint64(d), 10)
				if !checkAgrees(t, s) && len(s) <= 19 {
					t.Fatalf("declined %q", s)
				}
			}
		}
	}
}

// TestStickyBit draws enough products and quotients that some differ from a tie
// only below their leading 64 bits, which happens about once in 4,000.
func TestStickyBit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		s := fmt.Sprintf(
			"%de%d", r.Uint64N(1e19),
			r.IntN(2*maxExponent+1)-maxExponent,
		)
		if !checkAgrees(t, s) {
			t.Fatalf("declined %q", s)
		}
	}
}

func TestRandomDecimalsAgreeWithStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mant := rapid.Uint64Max(1e19-1).Draw(t, "mant")
		exp := rapid.IntRange(-27, 27).Draw(t, "exp")
		s := fmt.Sprintf("%de%d", mant, exp)
		if !checkAgrees(t, s) {
			t.Fatalf("declined %q", s)
		}
		digits := strconv.FormatUint(mant, 10)
		point := rapid.IntRange(0, len(digits)).Draw(t, "point")
		checkAgrees(t, digits[:point]+"."+digits[point:])
	})
}

func TestRandomFloatsAgreeWithStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e9, 1e9).Draw(t, "v")
		for _, format := range []byte{'g', 'f', 'e'} {
			for _, prec := range []int{-1, 3, 16, 18} {
				checkAgrees(t, strconv.FormatFloat(v, format, prec, 64))
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.5", "-0.1e-7", "123456789012345678.9", "1e27", ".e1",
		"00000000.00000000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkAgrees(t, s)
	})
}

func TestScanStopsAtDelimiter(t *testing.T) {
	v, n, ok := Scan([]byte("-12.5,99"))
	if v != -12.5 || n != 5 || !ok {
		t.Errorf(
			"Scan = %v, %d, %v",
			v, n, ok,
		)
	}
}

var benchCells = func() (out [][]byte) {
	x := 0.37
	for range 1024 {
		x = 3.99 * x * (1 - x)
		out = append(
			out,
			strconv.AppendFloat(nil, x*20-10, 'g', -1, 64),
		)
	}
	return out
}()

func BenchmarkScan(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		Scan(benchCells[i%len(benchCells)])
	}
}

func BenchmarkStrconv(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		_, _ = strconv.ParseFloat(string(benchCells[i%len(benchCells)]), 64)
	}
}

func ExampleScan() {
	v, n, ok := Scan([]byte("2.50;next"))
	fmt.Println(v, n, ok)
	// Output: 2.5 4 true
}
