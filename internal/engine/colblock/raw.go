package colblock

import (
	"encoding/binary"
	"unsafe"
)

// RawNumber are the element types that can be stored as they are.
type RawNumber interface{ int16 | float64 }

// littleEndian reports whether memory has the stored byte order, the lowest byte first.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// PutNumbers writes x to dst in little-endian order. dst must be long enough for all of x.
func PutNumbers[T RawNumber](dst []byte, x []T) {
	raw := bytesOf(x)
	dst = dst[:len(raw)]
	copy(dst, raw)
	swapBytes[T](dst)
}

// GetNumbers fills x with numbers that [PutNumbers] wrote.
func GetNumbers[T RawNumber](x []T, from []byte) {
	raw := bytesOf(x)
	copy(raw, from[:len(raw)])
	swapBytes[T](raw)
}

// ReadNumbers fills x with numbers that [PutNumbers] wrote and that read stores in the memory of x,
// whose capacity is that of x. After an error the contents of x are undefined.
func ReadNumbers[T RawNumber](x []T, read func(memory []byte) error) error {
	memory := bytesOf(x[:cap(x)])[:sizeOf[T]()*len(x)]
	if err := read(memory); err != nil {
		return err
	}
	swapBytes[T](memory)
	return nil
}

// sizeOf returns the number of bytes of a number.
func sizeOf[T RawNumber]() int {
	var one T
	return int(unsafe.Sizeof(one))
}

// bytesOf returns the memory of x as bytes.
func bytesOf[T RawNumber](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), sizeOf[T]()*len(x))
}

// swapBytes reverses the bytes of each number unless memory is little-endian.
func swapBytes[T RawNumber](b []byte) {
	if littleEndian {
		return
	}
	for size := sizeOf[T](); len(b) > 0; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}
