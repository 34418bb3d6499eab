package cell

import (
	"math"
	"strconv"
	"testing"
)

// TestHalfText checks that the text of every number of 16 bits is read back as that number, and is the shortest one.
func TestHalfText(t *testing.T) {
	for bits := range 1 << 16 {
		x := Float16(uint16(bits))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		text := string(AppendFloat(nil, x, 16))
		y, err := strconv.ParseFloat(text, 64)
		if err != nil || nearestHalf(y) != x {
			t.Fatalf(
				"%v is %q, which is read as %v",
				x, text, nearestHalf(y),
			)
		}
	}
	for bits, want := range map[uint16]string{
		0x2e66: "0.1",
		0x3555: "0.3333",
		0x3c00: "1",
		0x7bff: "65504",
		0xb800: "-0.5",
		0x0001: "6e-08",
		0x0400: "6.104e-05",
		0x4248: "3.14",
	} {
		got := string(AppendFloat(nil, Float16(bits), 16))
		if got != want {
			t.Errorf(
				"%#x is %q, want %q",
				bits, got, want,
			)
		}
	}
}
