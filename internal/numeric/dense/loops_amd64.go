//go:build !purego

package dense

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// tileAsm is tileAVX2; stride is in bytes.
//
//go:noescape
func tileAsm(dst *float64, stride int, a, b *float64, steps int)

// combineAsm is combineAVX2 for n numbers, a multiple of 4; stride is in bytes.
//
//go:noescape
func combineAsm(dst, x, rows *float64, stride, count, n int)

// rotateAsm is rotateAVX2; it begins at the last row, and stride is in bytes.
//
//go:noescape
func rotateAsm(last *float64, stride int, turns *float64, count int)

// fastest returns the loops for this processor.
func fastest() loops {
	if cpu.X86.HasAVX2 {
		return loops{tileAVX2, combineAVX2, rotateAVX2}
	}
	return loops{tileGo, combineGo, rotateGo}
}

// tileAVX2 is the tileFunc for processors with AVX2.
func tileAVX2(dst []float64, stride int, a, b []float64, steps int) {
	if steps <= 0 {
		return
	}
	_, _, _ = dst[(tileRows-1)*stride+tileCols-1], a[tileRows*steps-1], b[tileCols*steps-1] // the assembly goes this far and no further
	tileAsm(
		unsafe.SliceData(dst),
		8*stride,
		unsafe.SliceData(a),
		unsafe.SliceData(b),
		steps,
	)
}

// combineAVX2 is the combineFunc for processors with AVX2.
func combineAVX2(dst, x, rows []float64, stride int) {
	if len(x) == 0 {
		return
	}
	n := len(dst) / 4 * 4
	if n > 0 {
		_ = rows[(len(x)-1)*stride+n-1]
		combineAsm(
			unsafe.SliceData(dst),
			unsafe.SliceData(x),
			unsafe.SliceData(rows),
			8*stride,
			len(x),
			n,
		)
	}
	if n < len(dst) {
		combineGo(dst[n:], x, rows[n:], stride)
	}
}

// rotateAVX2 is the rotateFunc for processors with AVX2.
func rotateAVX2(rows []float64, stride, last int, turns []float64) {
	count := len(turns) / 2
	if count == 0 {
		return
	}
	_ = rows[last*stride+lanes-1]
	_ = rows[(last-count)*stride]
	rotateAsm(
		unsafe.SliceData(rows[last*stride:]),
		8*stride,
		unsafe.SliceData(turns),
		count,
	)
}
