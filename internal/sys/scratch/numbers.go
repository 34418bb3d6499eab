package scratch

import (
	"encoding/binary"
	"fmt"
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

// Make returns memory for n numbers that [ReadNumbers] can read.
func Make[T Numbers](n int) []T { return make([]T, n+Overhead/sizeOf[T]())[:n] }

// ReadNumbers reads numbers that [Put] wrote, all that are kept in a place, to memory of [Make] for as many. After an error
// they are any.
func ReadNumbers[T Numbers](f *File, p Place, x []T) error {
	n := sizeOf[T]() * len(x)
	if p.size != n || sizeOf[T]()*cap(x) < n+Overhead {
		return fmt.Errorf("%w: memory for %d numbers and a place of %d bytes", errSize, len(x), p.size)
	}
	raw := bytesOf(x[:cap(x)])
	if _, err := f.Read(p, raw); err != nil {
		return err
	}
	turn(raw[:n], sizeOf[T]())
	return nil
}

func sizeOf[T Numbers]() int {
	var one T
	return int(unsafe.Sizeof(one))
}

// bytesOf returns the memory of numbers.
func bytesOf[T Numbers](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), sizeOf[T]()*len(x))
}

// copyNumbers copies numbers to bytes, or bytes to numbers.
func copyNumbers[T Numbers](b []byte, x []T, put bool) {
	raw := bytesOf(x)
	b = b[:len(raw)]
	if put {
		copy(b, raw)
		raw = b
	} else {
		copy(raw, b)
	}
	turn(raw, sizeOf[T]())
}

// turn turns the bytes of numbers round, if they are the other way in memory.
func turn(b []byte, size int) {
	if little {
		return
	}
	for ; len(b) > 0; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}
