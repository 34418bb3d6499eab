package gram

import "fmt"

// MaxAbs is the largest magnitude a fixed-point value may have: 1.0 on the
// grid 2^-14.
const MaxAbs = 1 << 14

// Len returns the length p*(p+1)/2 of the packed upper triangle of a p x p
// symmetric matrix.
func Len(p int) int {
	return p * (p + 1) / 2
}

// Index returns the position of entry (i, j) in the upper triangle of a p x p
// symmetric matrix packed by rows: (0,0), (0,1), ..., (0,p-1), (1,1), ....
// The order of i and j does not matter. It panics unless both are in [0, p).
func Index(p, i, j int) int {
	if i > j {
		i, j = j, i
	}
	if i < 0 || j >= p {
		panic(fmt.Sprintf("gram: entry (%d, %d) is outside a %d x %d matrix", i, j, p, p))
	}
	return i*(2*p-i-1)/2 + j
}

// Accumulate adds X^T X to dst, where column c of X is cols[c].
//
// All p = len(cols) columns have the same length n >= 0 and hold values in
// [-MaxAbs, MaxAbs]; dst has length Len(p), entry (i, j) at Index(p, i, j), in
// units of 2^-28. The sums are exact for up to 2^35 rows in one dst. The call
// runs on the calling goroutine and does not modify or keep cols.
//
// It panics if the lengths do not fit each other, and for no other reason.
// A caller with many blocks should use one [Scratch] per goroutine instead,
// which reuses the working buffer.
func Accumulate(dst []int64, cols [][]int16) {
	var s Scratch
	s.Accumulate(dst, cols)
}

// Scratch is the working buffer of one goroutine: at most 3 KiB per column,
// reused from call to call. The zero value is ready to use. It holds a copy of
// the rows it was last given, so it deserves the same care as they do.
type Scratch struct {
	buf  []int16
	tile tile
	next ahead
}

// Accumulate is the function [Accumulate] with a buffer that is kept.
func (s *Scratch) Accumulate(dst []int64, cols [][]int16) {
	s.accumulate(dst, cols, fastestTile())
}

func (s *Scratch) accumulate(dst []int64, cols [][]int16, add tileFunc) {
	p := len(cols)
	checkShape(len(dst), cols)
	if p == 0 {
		return
	}
	n := len(cols[0])
	stride := min(roundUp(n, stepRows), blockRows)
	s.grow(p * stride)
	for from := 0; from < n; from += blockRows {
		rows := min(n-from, blockRows)
		padded := roundUp(rows, stepRows)
		s.pack(cols, from, rows, padded, stride)
		s.next = ahead{
			cols: cols,
			from: from + rows,
			to:   min(n, from+rows+blockRows),
		}
		s.block(dst, p, padded, stride, add)
	}
	s.tile, s.next = tile{}, ahead{} // dst and cols are not kept
}

// checkShape names no length of a column: the number of rows may be private.
func checkShape(dst int, cols [][]int16) {
	p := len(cols)
	if dst != Len(p) {
		panic(fmt.Sprintf("gram: dst has length %d; %d columns need %d", dst, p, Len(p)))
	}
	for c := range cols {
		if len(cols[c]) != len(cols[0]) {
			panic(fmt.Sprintf("gram: column %d has not the length of column 0", c))
		}
	}
}
