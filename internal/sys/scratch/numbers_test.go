package scratch

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// TestNumbers checks that numbers are stored in little-endian order on every machine, and can be read back bit for
// bit.
func TestNumbers(t *testing.T) {
	floats := []float64{0, math.Copysign(0, -1), 1.5, -1e300, math.Inf(1),
		math.Float64frombits(0x7ff8_7764_0000_0007)}
	shorts := []int16{0, 1, -1, math.MaxInt16, math.MinInt16, 258}
	is := littleEndian
	defer func() { littleEndian = is }()
	for _, as := range []bool{is, !is} {
		littleEndian = as
		b := make([]byte, 8*len(floats)+3)
		PutNumbers(b, floats)
		got := make([]float64, len(floats))
		GetNumbers(got, b)
		for i, x := range floats {
			if math.Float64bits(got[i]) != math.Float64bits(x) {
				t.Errorf("%v was kept as %v", x, got[i])
			}
			if bits := binary.LittleEndian.Uint64(b[8*i:]); as == is &&
				bits != math.Float64bits(x) {
				t.Errorf("%v has the bits %x", x, bits)
			}
		}
		PutNumbers(b, shorts)
		back := make([]int16, len(shorts))
		GetNumbers(back, b)
		if !slices.Equal(back, shorts) {
			t.Errorf("%v was kept as %v", shorts, back)
		}
		PutNumbers(b, []int16{})
	}
}

// TestReadNumbers checks that numbers are decrypted in place, and that a place of another size is rejected.
func TestReadNumbers(t *testing.T) {
	f, err := Create(t.TempDir(), [KeySize]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := []float64{1, math.Copysign(0, -1), -1e300, math.Inf(-1), 7}
	is := littleEndian
	defer func() { littleEndian = is }()
	for _, as := range []bool{is, !is} {
		littleEndian = as
		b := make([]byte, 8*len(want))
		PutNumbers(b, want)
		p := f.Reserve(len(b))
		if _, err := f.Write(&p, b, nil); err != nil {
			t.Fatal(err)
		}
		got := MakeNumbers[float64](len(want))
		if n := testing.AllocsPerRun(10, func() {
			err = ReadNumbers(f, p, got)
		}); err != nil || n > 1 { // the nonce
			t.Fatalf("%v, %v allocations", err, n)
		}
		for i, x := range want {
			if math.Float64bits(got[i]) != math.Float64bits(x) {
				t.Errorf("%v was kept as %v", x, got[i])
			}
		}
		for _, x := range [][]float64{make([]float64, len(want)),
			MakeNumbers[float64](len(want) + 1), MakeNumbers[float64](len(want))[1:]} {
			if err := ReadNumbers(f, p, x); !errors.Is(err, errSize) {
				t.Errorf("%d numbers with room for %d: %v", len(x), cap(x), err)
			}
		}
	}
}
