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

// tileAsm fills dst for w in [1, 5] columns of steps*avx2Rows rows; stride is
// the distance of the columns of b in bytes.
//
//go:noescape
func tileAsm(dst *halves, a, b *int16, stride, steps, w int)

// tileWide adds to w int64, with registers of 512 bits and steps of stepRows rows.
//
//go:noescape
func tileWide(dst *int64, a, b *int16, stride, steps, w int)

// tilePair is tileWide for two columns of a, stride bytes apart. The sums of the second, without the first below of
// them, are added row int64 farther on. It asks the processor to fetch steps cache lines from ahead on.
//
//go:noescape
func tilePair(
	dst *int64,
	a, b *int16,
	stride, steps, w, row, below int,
	ahead *int16,
)

// avx2Rows is the number of rows of a step of tileAsm: three vectors of 16 int16.
const avx2Rows = 48

// fastestTile returns the tile for this processor.
func fastestTile() tileFunc {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI:
		return tileVNNI
	case cpu.X86.HasAVX2:
		return tileAVX2
	}
	return tileGo
}

// tileVNNI is the tileFunc for processors with AVX-512 and its neural network instructions.
func tileVNNI(t *tile) {
	t.check()
	dst := &t.dst[0]
	a := unsafe.SliceData(t.a)
	b := unsafe.SliceData(t.b)
	steps := t.rows / stepRows
	if t.h == 1 {
		tileWide(dst, a, b, 2*t.stride, steps, t.w)
		return
	}
	tilePair(
		dst,
		a,
		b,
		2*t.stride,
		steps,
		t.w,
		t.row,
		t.below,
		unsafe.SliceData(t.ahead),
	)
}

// tileAVX2 is the tileFunc for processors with AVX2.
func tileAVX2(t *tile) {
	t.check()
	for k := range t.h {
		var s halves
		tileAsm(
			&s,
			unsafe.SliceData(t.a[k*t.stride:]),
			unsafe.SliceData(t.b),
			2*t.stride,
			t.rows/avx2Rows,
			t.w,
		)
		dst, from := t.line(k)
		for c := range dst {
			dst[c] += s.sum(from + c)
		}
	}
}

// sum puts the halves of column c together.
func (h *halves) sum(c int) int64 {
	e := h.lo[c] - uint32(h.hi[c])<<16
	return int64(h.hi[c])<<16 + int64(e)
}
