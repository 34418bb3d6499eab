//go:build !purego

package fastfloat

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// places gives, by the length and the position of the point (the length without a point), the source positions that
// move the digits of a number to the end of a list of 16; 128 means no digit.
var places = func() (out [16][16][16]uint8) {
	for length := range out {
		for point := range out[length] {
			at := 15
			for i := range out[length][point] {
				out[length][point][i] = 128
			}
			for i := length - 1; i >= 0; i-- {
				if i != point {
					out[length][point][at] = uint8(i)
					at--
				}
			}
		}
	}
	return out
}()

// fieldsAsm is Fields for a line of n bytes, with room readable bytes.
//
//go:noescape
func fieldsAsm(
	out *float64,
	most int,
	line *byte,
	n, room int,
	end byte,
	places *[16][16][16]uint8,
	tens *[23]float64,
) (count, next int)

func fields(out []float64, line []byte, end byte) (count, next int) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasBMI1 || !cpu.X86.HasBMI2 || len(out) == 0 {
		return 0, 0
	}
	return fieldsAsm(
		unsafe.SliceData(out),
		len(out),
		unsafe.SliceData(line),
		len(line),
		cap(line),
		end,
		&places,
		&tens,
	)
}
