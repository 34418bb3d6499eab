package gram

import "unsafe"

const (
	// stepRows is the number of rows one step of a tile consumes: three
	// vectors of 32 int16, or six of 16.
	stepRows = 96

	// blockRows is the number of rows packed at a time. A tile's five columns
	// (15 KiB) then stay in a 32 KiB first-level cache and 90 columns
	// (270 KiB) in a 512 KiB second-level one.
	blockRows = 16 * stepRows

	// panelCols bounds the columns that are swept against one tile, so that
	// with many columns the sweep still runs inside the second-level cache.
	panelCols = 120

	// bufAlign is the alignment of the buffer in bytes: one cache line. It
	// matters for speed only.
	bufAlign = 64
)

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// grow makes s.buf hold at least n values, starting at a cache line.
func (s *Scratch) grow(n int) {
	if len(s.buf) >= n {
		return
	}
	const slack = bufAlign / 2 // in int16
	raw := make([]int16, n+slack)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(raw))) % bufAlign / 2)
	s.buf = raw[off : off+n]
}

// pack copies rows [from, from+rows) of every column to buf[c*stride:] and
// zeroes up to padded rows; a zero row adds nothing to any sum.
func (s *Scratch) pack(cols [][]int16, from, rows, padded, stride int) {
	for c, col := range cols {
		to := s.buf[c*stride:][:padded]
		copy(to, col[from:from+rows])
		clear(to[rows:])
	}
}

// block adds the products of the packed rows to dst. Tiles lie on and above
// the diagonal: columns [j, j+w) against each column i, and on the diagonal
// only the columns from i on.
func (s *Scratch) block(dst []int64, p, rows, stride int, tile tileFunc) {
	for i0 := 0; i0 < p; i0 += panelCols {
		i1 := min(i0+panelCols, p)
		for j := i0; j < p; j += tileWidth {
			end := min(j+tileWidth, p)
			for i := i0; i < min(i1, end); i++ {
				first := max(i, j)
				w := end - first
				tile(&s.sums, s.buf[i*stride:][:rows], s.buf[first*stride:], stride, w)
				row := dst[Index(p, i, first):][:w]
				for c := range row {
					row[c] += s.sums[c]
				}
			}
		}
	}
}
