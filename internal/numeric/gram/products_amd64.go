//go:build !purego

package gram

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// addAsm adds theta[k]/2^14 x[k] to n rows of f, n a multiple of groupRows, for columns >= 1 columns. It reads the
// addresses of the columns.
//
//go:noescape
func addAsm(f *float64, x *[]int16, theta *float64, columns, n int)

// normsAsm is SquaredNorms for n rows, a multiple of groupRows, and columns >= 1. It returns the largest size of a
// number, below 2^16.
//
//go:noescape
func normsAsm(norms *uint64, x *[]int16, columns, n int) (most uint32)

// addGroups is AddProducts for rows that are a multiple of groupRows; the lengths have been checked. It reports whether
// this processor can.
func addGroups(f []float64, x [][]int16, theta []float64) bool {
	if !cpu.X86.HasAVX2 {
		return false
	}
	if len(f) > 0 && len(x) > 0 {
		addAsm(
			unsafe.SliceData(f),
			unsafe.SliceData(x),
			unsafe.SliceData(theta),
			len(x),
			len(f),
		)
	}
	return true
}

// mostColumns bounds the columns of normsAsm: 2^15 pairs fit its sums.
const mostColumns = 1 << 16

// normGroups is SquaredNorms for rows that are a multiple of groupRows; the lengths have been checked. It reports whether
// this processor can.
func normGroups(norms []uint64, x [][]int16) (done, within bool) {
	if !cpu.X86.HasAVX2 || len(x) > mostColumns {
		return false, false
	}
	if len(norms) == 0 || len(x) == 0 {
		clear(norms)
		return true, true
	}
	return true,
		normsAsm(unsafe.SliceData(norms), unsafe.SliceData(x), len(x), len(norms)) <= MaxAbs
}
