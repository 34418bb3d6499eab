//go:build !purego

package kernelmap

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// tileWide is tileVNNI; strides are in bytes.
//
//go:noescape
func tileWide(dst *int32, stride int, a *int16, lda int, b *int16, steps int)

// stretchWide is stretchAVX512 for n features; at is in bytes. It reads the addresses of the lists.
//
//go:noescape
func stretchWide(dst *[]int16, at int, sums *int32, scales *float64, n int)

// fastestFunctions returns the functions for this processor.
func fastestFunctions() (tileFunc, kernelFunc, stretchFunc) {
	switch {
	case cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI:
		return tileVNNI, kernelSIMD, stretchAVX512
	case cpu.X86.HasAVX2:
		return tileSIMD, kernelSIMD, stretchGo
	}
	return tileGo, kernelGo, stretchGo
}

// tileVNNI is the tileFunc for processors with AVX-512 and its neural network instructions.
func tileVNNI(
	dst []int32,
	stride int,
	a []int16,
	lda int,
	b []int16,
	steps int,
) {
	_, _, _ = dst[(tileRows-1)*stride+tileCols-1], a[(tileRows-1)*lda+2*steps-1],
		b[2*steps*tileCols-1] // as in tileSIMD
	tileWide(
		unsafe.SliceData(dst),
		4*stride,
		unsafe.SliceData(a),
		2*lda,
		unsafe.SliceData(b),
		steps,
	)
}

// stretchAVX512 is the stretchFunc for processors with AVX-512.
func stretchAVX512(dst [][]int16, from int, sums []int32, scales []float64) {
	n := len(scales)
	if n == 0 {
		return
	}
	_ = sums[n*tileCols-1]
	_ = dst[n-1]
	for _, list := range dst[:n] {
		_ = list[from : from+tileCols]
	}
	stretchWide(
		unsafe.SliceData(dst),
		2*from,
		unsafe.SliceData(sums),
		unsafe.SliceData(scales),
		n,
	)
}
