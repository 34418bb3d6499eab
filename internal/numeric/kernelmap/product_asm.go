//go:build (amd64 || arm64) && !purego

package kernelmap

import "unsafe"

// tileAsm is tileSIMD; strides are in bytes.
//
//go:noescape
func tileAsm(dst *int32, stride int, a *int16, lda int, b *int16, steps int)

// kernelAsm is kernelSIMD for pairs of landmarks. There must be at least one pair.
//
//go:noescape
func kernelAsm(dst *int16, dots *int32, marks, norms *uint32, pairs int)

// tileSIMD is the tileFunc with AVX2 or NEON.
func tileSIMD(
	dst []int32,
	stride int,
	a []int16,
	lda int,
	b []int16,
	steps int,
) {
	_, _, _ = dst[(tileRows-1)*stride+tileCols-1], a[(tileRows-1)*lda+2*steps-1],
		b[2*steps*tileCols-1] // the assembly goes this far and no further
	tileAsm(
		unsafe.SliceData(dst),
		4*stride,
		unsafe.SliceData(a),
		2*lda,
		unsafe.SliceData(b),
		steps,
	)
}

// kernelSIMD is the kernelFunc with AVX2 or NEON.
func kernelSIMD(
	dst []int16,
	dots []int32,
	marks []uint32,
	norms *[tileCols]uint32,
) {
	pairs := len(marks) / 2
	if pairs == 0 {
		return
	}
	_ = dst[2*pairs*tileCols-1]
	_ = dots[2*pairs*tileCols-1]
	kernelAsm(
		unsafe.SliceData(dst),
		unsafe.SliceData(dots),
		unsafe.SliceData(marks),
		&norms[0],
		pairs,
	)
}
