package scratch

import (
	"encoding/binary"
	"unsafe"
)

// Numbers are the kinds of numbers that are kept.
type Numbers interface{ int16 | float64 }

// little reports whether numbers are in memory as they are kept: the lowest byte first.
var little = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Put writes numbers to bytes, the lowest byte of each first. There must be room for all.
func Put[T Numbers](to []byte, x []T) { copyNumbers(to, x, true) }

// Get reads numbers that [Put] wrote: as many as there is room for in x.
func Get[T Numbers](x []T, from []byte) { copyNumbers(from, x, false) }

// copyNumbers copies numbers to bytes, or bytes to numbers.
func copyNumbers[T Numbers](b []byte, x []T, put bool) {
	var one T
	size := int(unsafe.Sizeof(one))
	b = b[:size*len(x)]
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(b)) // the memory of x
	if put {
		copy(b, raw)
	} else {
		copy(raw, b)
	}
	if little {
		return
	}
	turned := raw
	if put {
		turned = b
	}
	for ; len(turned) > 0; turned = turned[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			turned[i], turned[j] = turned[j], turned[i]
		}
	}
}
