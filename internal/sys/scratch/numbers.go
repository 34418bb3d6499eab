package scratch

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// Numbers are the element types that can be stored.
type Numbers interface{ int16 | float64 }

// littleEndian reports whether memory has the stored byte order, the lowest byte first.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// PutNumbers writes x to dst in little-endian order. dst must be long enough for all of x.
func PutNumbers[T Numbers](dst []byte, x []T) {
	copyNumbers(dst, x, true)
}

// GetNumbers fills x with numbers that [PutNumbers] wrote.
func GetNumbers[T Numbers](x []T, from []byte) {
	copyNumbers(from, x, false)
}

// MakeNumbers returns memory for n numbers with the extra capacity that [ReadNumbers] needs.
func MakeNumbers[T Numbers](n int) []T {
	return make([]T, n+Overhead/sizeOf[T]())[:n]
}

// ReadNumbers reads all numbers stored in p, which [PutNumbers] wrote, into x, which [MakeNumbers] returned for as
// many numbers. After an error the contents of x are undefined.
func ReadNumbers[T Numbers](f *File, p Place, x []T) error {
	n := sizeOf[T]() * len(x)
	if p.size != n || sizeOf[T]()*cap(x) < n+Overhead {
		return fmt.Errorf("%w: memory for %d numbers and a place of %d bytes", errSize, len(x),
			p.size)
	}
	raw := bytesOf(x[:cap(x)])
	if _, err := f.Read(p, raw); err != nil {
		return err
	}
	swapBytes(raw[:n], sizeOf[T]())
	return nil
}

func sizeOf[T Numbers]() int {
	var one T
	return int(unsafe.Sizeof(one))
}

// bytesOf returns the memory of x as bytes.
func bytesOf[T Numbers](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), sizeOf[T]()*len(x))
}

// copyNumbers copies x to b if put is true, and b to x otherwise.
func copyNumbers[T Numbers](b []byte, x []T, put bool) {
	raw := bytesOf(x)
	b = b[:len(raw)]
	if put {
		copy(b, raw)
		raw = b
	} else {
		copy(raw, b)
	}
	swapBytes(raw, sizeOf[T]())
}

// swapBytes reverses the bytes of each number unless memory is little-endian.
func swapBytes(b []byte, size int) {
	if littleEndian {
		return
	}
	for ; len(b) > 0; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}
