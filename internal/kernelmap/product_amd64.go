//go:build !purego

package kernelmap

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// tileAsm is tileAVX2; strides are in bytes.
//
//go:noescape
func tileAsm(dst *int32, stride int, a *int16, lda int, b *int16, steps int)

// tileWide is tileVNNI; strides are in bytes.
//
//go:noescape
func tileWide(dst *int32, stride int, a *int16, lda int, b *int16, steps int)

// kernelAsm is kernelAVX2 for n numbers, a multiple of 16.
//
//go:noescape
func kernelAsm(dst *int16, dots *int32, norms *uint32, norm uint32, n int)

// fastest returns the functions for this processor.
func fastest() (tileFunc, kernelFunc) {
	switch {
	case cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI:
		return tileVNNI, kernelAVX2
	case cpu.X86.HasAVX2:
		return tileAVX2, kernelAVX2
	}
	return tileGo, kernelGo
}

// tileVNNI is the tileFunc for processors with AVX-512 and its neural network instructions.
func tileVNNI(dst []int32, stride int, a []int16, lda int, b []int16, steps int) {
	_, _, _ = dst[(tileRows-1)*stride+tileCols-1], a[(tileRows-1)*lda+2*steps-1], b[2*steps*tileCols-1] // as in tileAVX2
	tileWide(unsafe.SliceData(dst), 4*stride, unsafe.SliceData(a), 2*lda, unsafe.SliceData(b), steps)
}

// tileAVX2 is the tileFunc for processors with AVX2.
func tileAVX2(dst []int32, stride int, a []int16, lda int, b []int16, steps int) {
	_, _, _ = dst[(tileRows-1)*stride+tileCols-1], a[(tileRows-1)*lda+2*steps-1], b[2*steps*tileCols-1] // the assembly goes this far and no further
	tileAsm(unsafe.SliceData(dst), 4*stride, unsafe.SliceData(a), 2*lda, unsafe.SliceData(b), steps)
}

// kernelAVX2 is the kernelFunc for processors with AVX2.
func kernelAVX2(dst []int16, dots []int32, norms []uint32, norm uint32) {
	n := len(dst) / tileCols * tileCols
	if n > 0 {
		_, _ = dots[n-1], norms[n-1]
		kernelAsm(unsafe.SliceData(dst), unsafe.SliceData(dots), unsafe.SliceData(norms), norm, n)
	}
	kernelGo(dst[n:], dots[n:], norms[n:], norm)
}
