//go:build !purego

package gram

import "unsafe"

// pairAsm sets sums to those of the products of b with two columns, stride bytes apart, of steps*neonRows rows. It wants
// a step or more.
//
//go:noescape
func pairAsm(sums *[2]int64, a, b *int16, stride, steps int)

// oneAsm returns the sum of the products of two columns of steps*neonRows rows. It wants a step or more.
//
//go:noescape
func oneAsm(a, b *int16, steps int) int64

// neonRows is the number of rows of a step: three vectors of 8 int16.
const neonRows = 24

// fastestTile returns the tile for every processor of this architecture.
func fastestTile() tileFunc {
	return tileNEON
}

// tileNEON is the tileFunc with NEON. It multiplies two columns of a by one of b, or one of a by two of b. The
// multiplier is the bottleneck of such processors, so handling more columns at once would save loads without gain.
func tileNEON(t *tile) {
	t.check()
	steps := t.rows / neonRows
	if t.h == 1 {
		t.against(t.b, t.w, steps)
		return
	}
	for c := range t.w {
		var sums [2]int64
		pairAsm(
			&sums,
			unsafe.SliceData(t.a),
			unsafe.SliceData(t.b[c*t.stride:]),
			2*t.stride,
			steps,
		)
		t.dst[c] += sums[0]
		if c >= t.below {
			t.dst[t.row+c] += sums[1]
		}
	}
}

// against adds the sums of one column of a with w columns of b.
func (t *tile) against(b []int16, w, steps int) {
	a := unsafe.SliceData(t.a)
	for c := 0; c < w; c += 2 {
		column := unsafe.SliceData(b[c*t.stride:])
		if c+1 == w {
			t.dst[c] += oneAsm(a, column, steps)
			return
		}
		var sums [2]int64
		pairAsm(&sums, column, a, 2*t.stride, steps)
		t.dst[c] += sums[0]
		t.dst[c+1] += sums[1]
	}
}
