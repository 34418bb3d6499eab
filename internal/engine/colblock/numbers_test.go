package colblock

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkRoundTrip packs and unpacks numbers, and fails unless the bits are the same. It returns the new
// encoding and the bytes per number.
func checkRoundTrip(
	t *testing.T,
	p *Encoder,
	x []float64,
	before Encoding,
) (Encoding, float64) {
	t.Helper()
	to := make([]byte, MaxSize(len(x)))
	f, data := p.EncodeNumbers(to, x, before)
	if data == nil {
		if f != Raw {
			t.Fatalf("no bytes, and encoding %v", f)
		}
		return f, numberBytes
	}
	if len(data) != f.Size(len(x)) ||
		len(data) >= MaxSize(len(x)) {
		t.Fatalf(
			"%d bytes for %d numbers, encoding %v needs %d",
			len(data),
			len(x),
			f,
			f.Size(len(x)),
		)
	}
	got := make([]float64, len(x))
	for i := range got {
		got[i] = 77
	}
	f.DecodeNumbers(got, data)
	for i, v := range x {
		if math.Float64bits(got[i]) != math.Float64bits(v) {
			t.Fatalf(
				"number %d of %d, encoding %v: %v (%x) is kept as %v (%x)",
				i,
				len(x),
				f,
				v,
				math.Float64bits(v),
				got[i],
				math.Float64bits(got[i]),
			)
		}
	}
	for range 3 {
		if len(x) == 0 {
			break
		}
		at := rand.IntN(len(x))
		some := make([]float64, rand.IntN(len(x)-at)+1)
		f.DecodeRange(some, data, len(x), at)
		for i, v := range some {
			if math.Float64bits(v) != math.Float64bits(x[at+i]) {
				t.Fatalf(
					"number %d of %d, alone, encoding %v: %v is kept as %v",
					at+i,
					len(x),
					f,
					x[at+i],
					v,
				)
			}
		}
	}
	var rows []int32
	for i := range x {
		if rand.IntN(5) == 0 {
			rows = append(rows, int32(i+1000))
		}
	}
	some := make([]float64, len(rows))
	f.Gather(some, data, len(x), rows, 1000)
	for i, r := range rows {
		if math.Float64bits(some[i]) != math.Float64bits(x[r-1000]) {
			t.Fatalf(
				"number %d of %d, with others, encoding %v: %v is kept as %v",
				r-1000,
				len(x),
				f,
				x[r-1000],
				some[i],
			)
		}
	}
	return f, float64(len(data)) / float64(len(x))
}

// TestNumberBitsRoundTrip checks that the bits of any numbers are restored.
func TestNumberBitsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Copysign(0, -1), math.NaN(),
		math.Float64frombits(0x7ff8_7764_0000_0007),
		float64(math.Float32frombits(missingSingle)), math.Inf(1), math.Inf(-1), 127, -127, -128,
		128,
		32767, -32767, -32768, 32768, math.MaxInt32, math.MinInt32, 1 << 31, 5e-324, -5e-324,
		math.MaxFloat64, .1, 1e-18, 1e22, 327.67, -327.68, 1.0 / 3}
	var p Encoder
	packed := 0
	var before Encoding
	for range 3000 {
		x := make([]float64, r.IntN(700))
		digits := r.IntN(19)
		scale := math.Pow10(r.IntN(12))
		odd := r.IntN(4)
		is := r.IntN(4)
		for i := range x {
			switch v := r.NormFloat64() * scale; is {
			case 0:
				x[i] = math.Round(v)
			case 1:
				x[i] = math.Round(v) / powers[digits]
			case 2:
				x[i] = float64(float32(v))
			default:
				x[i] = math.Round(r.NormFloat64()*10) / 10
			}
			if odd > 0 && r.IntN(1<<(3*odd-1)) == 0 {
				x[i] = special[r.IntN(len(special))]
			}
		}
		f, bytes := checkRoundTrip(t, &p, x, before)
		if before = f; bytes < numberBytes {
			packed++
		}
	}
	if packed < 1500 {
		t.Errorf("%d of 3000 lists are packed", packed)
	}
}

// TestPackedSizeOfDecimals checks the packed size of numbers with various decimals.
func TestPackedSizeOfDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 8192
	for _, test := range []struct {
		name string
		of   func() float64
		most float64
	}{
		{"of two values", func() float64 {
			return float64(r.IntN(2))
		}, 1},
		{"integers below 100", func() float64 {
			return float64(r.IntN(100))
		}, 1},
		{
			"two decimals",
			func() float64 {
				return math.Round(100*r.NormFloat64()) / 100
			},
			2.1,
		},
		{
			"two decimals, a third missing",
			func() float64 {
				if r.IntN(3) == 0 {
					return math.NaN()
				}
				return math.Round(100*r.NormFloat64()) / 100
			},
			2.1,
		},
		{
			"one in fifty is any",
			func() float64 {
				if r.IntN(50) == 0 {
					return r.Float64()
				}
				return float64(r.IntN(100))
			},
			1.8,
		},
		{"years", func() float64 {
			return float64(1900 + r.IntN(120))
		}, 2},
		{"seconds", func() float64 {
			return float64(1_700_000_000 + r.IntN(1<<24))
		}, 4},
		{"single precision", func() float64 {
			return float64(r.Float32())
		}, 4},
		{"missing", math.NaN, 1},
		{"any", r.NormFloat64, 8},
	} {
		x := make([]float64, n)
		for i := range x {
			x[i] = test.of()
		}
		_, got := checkRoundTrip(t, &Encoder{}, x, Encoding{})
		if got > test.most {
			t.Errorf(
				"%s: %v bytes, want %v",
				test.name, got, test.most,
			)
		}
	}
}

// TestSizeHidesFewExceptions checks that lists with a few more exceptions have the same size.
func TestSizeHidesFewExceptions(t *testing.T) {
	sizes := map[int]bool{}
	for others := range 33 {
		x := make([]float64, 8192)
		for i := range others {
			x[1+i] = .1 + float64(i)/3
		}
		f, data := new(Encoder).EncodeNumbers(
			make([]byte, MaxSize(len(x))),
			x, Encoding{},
		)
		sizes[len(data)] = true
		if len(data) != f.Size(len(x)) {
			t.Fatal("another size")
		}
	}
	if len(sizes) != 2 {
		t.Errorf("%d sizes", len(sizes))
	}
}

func BenchmarkDecimals(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 65536)
	to := make([]byte, MaxSize(65536))
	for _, digits := range []int{0, 2, 7} {
		for i := range x {
			x[i] = math.Round(powers[digits]*10*r.NormFloat64()) / powers[digits]
		}
		var p Encoder
		f, data := p.EncodeNumbers(to, x, Encoding{})
		b.Run(fmt.Sprintf("pack %v", f), func(b *testing.B) {
			b.SetBytes(8 * int64(len(x)))
			for b.Loop() {
				p.EncodeNumbers(to, x, Encoding{})
			}
		})
		b.Run(fmt.Sprintf("unpack %v", f), func(b *testing.B) {
			b.SetBytes(8 * int64(len(x)))
			for b.Loop() {
				f.DecodeNumbers(x, data)
			}
		})
	}
}
