package simd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// TestDecimals checks that exactly packed numbers come back bit for bit by every unpacking method, and that the
// memory after them is not modified.
func TestDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 3))
	same := func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y)
	}
	for n := range 300 {
		d := NewDecimals(
			[]int{1, 2, 4}[r.IntN(3)],
			math.Pow10(r.IntN(19)),
		)
		column := drawNumbers(r, n)
		for i := range column {
			if r.IntN(4) > 0 {
				column[i] = math.Round(r.NormFloat64()*[]float64{30, 1e4, 1e9}[r.IntN(3)]) / d.power
			}
		}
		dst := make([]byte, d.width*n+9)
		exact := make([]byte, n/8+9)
		done := d.Pack(dst, exact, column)
		if done > n || done < wholeGroups(n) {
			t.Fatalf("%d of %d numbers are packed", done, n)
		}
		for _, b := range append(dst[d.width*done:], exact[(done+7)/8:]...) {
			if b != 0 {
				t.Fatal("a byte behind the last is touched")
			}
		}
		back := make([]float64, n)
		did := d.Unpack(back, dst[:d.width*n])
		if did < wholeGroups(n) || did > n {
			t.Fatalf("%d of %d numbers are unpacked", did, n)
		}
		for i, x := range column[:done] {
			var k int32
			switch d.width {
			case 1:
				k = int32(int8(dst[i]))
			case 2:
				k = int32(int16(binary.LittleEndian.Uint16(dst[2*i:])))
			default:
				k = int32(binary.LittleEndian.Uint32(dst[4*i:]))
			}
			if !same(back[i], d.Number(k)) {
				t.Fatalf(
					"%d over %v is unpacked as %v, not %v",
					k,
					d.power,
					back[i],
					d.Number(k),
				)
			}
			is := exact[i/8]>>(i%8)&1 == 1
			if is != same(d.Number(k), x) {
				t.Fatalf(
					"%v (%x) is %d over %v, exact: %v",
					x,
					math.Float64bits(x),
					k,
					d.power,
					is,
				)
			}
			// A number is exact if it has such an integer.
			v := math.RoundToEven(x * d.power)
			if math.Abs(v) <= -1-float64(d.Min()) &&
				same(v/d.power, x) &&
				!(v == 0 && math.Signbit(v)) &&
				exact[i/8]>>(i%8)&1 == 0 {
				t.Fatalf(
					"%v is %v over %v, and not exact",
					x, v, d.power,
				)
			}
		}
	}
}

// TestNumberIsDivision checks that a decimal equals the number that a parser reads from its text.
func TestNumberIsDivision(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 3))
	for range 300_000 {
		d := NewDecimals(4, math.Pow10(r.IntN(19)))
		k := int32(r.Uint32()) >> r.IntN(31)
		if k == d.Min() {
			continue
		}
		if got, want := d.Number(k),
			float64(k)/d.power; math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf(
				"%d over %v is %v, want %v",
				k, d.power, got, want,
			)
		}
	}
}
