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

func roundUp(n, multiple int) int {
	return (n + multiple - 1) / multiple * multiple
}

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

// pack copies rows [from, from+rows) of every column to buf[c*stride:] and sets rows up to padded to zero, which does
// not change any sum.
func (s *Scratch) pack(cols [][]int16, from, rows, padded, stride int) {
	for c, col := range cols {
		to := s.buf[c*stride:][:padded]
		copy(to, col[from:from+rows])
		clear(to[rows:])
	}
}

// ahead are the rows of the next block, which tiles ask the processor to fetch: a cache line a step, first the
// beginning of every column, from where processors fetch more of their own accord.
type ahead struct {
	cols [][]int16
	from int
	to   int
	col  int
}

// aheadRows is the number of rows in a cache line.
const aheadRows = bufAlign / 2

// nextPanel returns the memory to prefetch for the next tile, or nil after the last one.
func (a *ahead) nextPanel(steps int) []int16 {
	if a.from >= a.to {
		return nil
	}
	rows := a.cols[a.col][a.from:a.to]
	if a.col++; a.col == len(a.cols) {
		a.from += steps * aheadRows
		a.col = 0
	}
	return rows
}

// block adds the products of the packed rows to dst. Tiles are on and above the diagonal: columns [j, j+w) against
// columns i and i+1, and on the diagonal only the columns from i on.
func (s *Scratch) block(dst []int64, p, rows, stride int, add tileFunc) {
	t := &s.tile
	t.rows = rows
	t.stride = stride
	for i0 := 0; i0 < p; i0 += panelCols {
		i1 := min(i0+panelCols, p)
		for j := i0; j < p; j += tileWidth {
			end := min(j+tileWidth, p)
			for i := i0; i < min(i1, end); i += tileHeight {
				first := max(i, j)
				t.h = min(tileHeight, min(i1, end)-i)
				t.w = end - first
				t.a = s.buf[i*stride:]
				t.b = s.buf[first*stride:]
				// Entry (i+1, i) is below the diagonal, and dst has another one at its place.
				t.dst = dst[Index(p, i, first):]
				t.row = p - i - 1
				t.below = max(i+1-first, 0)
				if t.ahead = s.next.nextPanel(rows / stepRows); t.ahead == nil {
					t.ahead = t.b
				}
				add(t)
			}
		}
	}
}
