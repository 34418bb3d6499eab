package scratch

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// TestNumbers: numbers are kept with their lowest byte first on every machine, and read back bit for bit.
func TestNumbers(t *testing.T) {
	floats := []float64{0, math.Copysign(0, -1), 1.5, -1e300, math.Inf(1), math.Float64frombits(0x7ff8_7764_0000_0007)}
	shorts := []int16{0, 1, -1, math.MaxInt16, math.MinInt16, 258}
	is := little
	defer func() { little = is }()
	for _, as := range []bool{is, !is} {
		little = as
		b := make([]byte, 8*len(floats)+3)
		Put(b, floats)
		got := make([]float64, len(floats))
		Get(got, b)
		for i, x := range floats {
			if math.Float64bits(got[i]) != math.Float64bits(x) {
				t.Errorf("%v was kept as %v", x, got[i])
			}
			if bits := binary.LittleEndian.Uint64(b[8*i:]); as == is && bits != math.Float64bits(x) {
				t.Errorf("%v has the bits %x", x, bits)
			}
		}
		Put(b, shorts)
		back := make([]int16, len(shorts))
		Get(back, b)
		if !slices.Equal(back, shorts) {
			t.Errorf("%v was kept as %v", shorts, back)
		}
		Put(b, []int16{})
	}
}
