//go:build !purego

package gram

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// halves are the two 32-bit sums of the package comment, one pair per column,
// already added over the lanes. The layout is known to the assembly.
type halves struct {
	lo [tileWidth]uint32
	hi [tileWidth]int32
}

// tileAsm fills out for w in [1, 5] columns of steps*avx2Rows rows; stride is
// the distance of the columns of b in bytes.
//
//go:noescape
func tileAsm(out *halves, a, b *int16, stride, steps, w int)

// tileWide is tileAsm with registers of 512 bits, and steps of stepRows rows.
//
//go:noescape
func tileWide(out *halves, a, b *int16, stride, steps, w int)

// avx2Rows is the number of rows of a step of tileAsm: three vectors of 16 int16.
const avx2Rows = 48

// fastest returns the tile for this processor.
func fastest() tileFunc {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI:
		return tileVNNI
	case cpu.X86.HasAVX2:
		return tileAVX2
	}
	return tileGo
}

// tileVNNI is the tileFunc for processors with AVX-512 and its neural network instructions.
func tileVNNI(out *[tileWidth]int64, a, b []int16, stride, w int) {
	_ = b[(w-1)*stride+len(a)-1] // the assembly reads this far and no further
	var h halves
	tileWide(&h, unsafe.SliceData(a), unsafe.SliceData(b), 2*stride, len(a)/stepRows, w)
	h.sums(out)
}

// tileAVX2 is the tileFunc for processors with AVX2.
func tileAVX2(out *[tileWidth]int64, a, b []int16, stride, w int) {
	_ = b[(w-1)*stride+len(a)-1] // the assembly reads this far and no further
	var h halves
	tileAsm(&h, unsafe.SliceData(a), unsafe.SliceData(b), 2*stride, len(a)/avx2Rows, w)
	h.sums(out)
}

// sums puts the halves together.
func (h *halves) sums(out *[tileWidth]int64) {
	for c := range out {
		e := h.lo[c] - uint32(h.hi[c])<<16
		out[c] = int64(h.hi[c])<<16 + int64(e)
	}
}
