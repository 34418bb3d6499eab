package colblock

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// TestNumbers checks that numbers are stored in little-endian order on every machine, and can be
// read back bit for bit.
func TestNumbers(t *testing.T) {
	floats := []float64{
		0,
		math.Copysign(0, -1),
		1.5,
		-1e300,
		math.Inf(1),
		math.Float64frombits(0x7ff8_7764_0000_0007),
	}
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
				t.Errorf(
					"%v was kept as %v",
					x, got[i],
				)
			}
			bits := binary.LittleEndian.Uint64(b[8*i:])
			if as == is && bits != math.Float64bits(x) {
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

// TestReadNumbers checks that numbers are read in place, into memory with the capacity of the
// slice.
func TestReadNumbers(t *testing.T) {
	want := []float64{
		1, math.Copysign(0, -1),
		-1e300, math.Inf(-1),
		7,
	}
	is := littleEndian
	defer func() { littleEndian = is }()
	for _, as := range []bool{is, !is} {
		littleEndian = as
		b := make([]byte, 8*len(want))
		PutNumbers(b, want)
		got := make([]float64, len(want), len(want)+2)
		err := ReadNumbers(got, func(memory []byte) error {
			if len(memory) != len(b) ||
				cap(memory) != len(b)+16 {
				t.Errorf(
					"%d bytes of %d",
					len(memory), cap(memory),
				)
			}
			copy(memory, b)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range want {
			if math.Float64bits(got[i]) != math.Float64bits(x) {
				t.Errorf(
					"%v was kept as %v",
					x, got[i],
				)
			}
		}
	}
	wrong := errors.New("wrong")
	err := ReadNumbers(make([]float64, 3), func([]byte) error {
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}
