package gram

// tileWidth is the number of columns a tile sets against one column: two
// 32-bit sums for each of five, three vectors of the single column and three
// temporaries are the 16 registers of AVX2.
const tileWidth = 5

// maxSteps bounds the steps of one call of a tile. Each step of an assembly tile
// adds one t with |t| <= 3*2^29 to each of 16 lanes (the AVX2 tile two to each of eight), and
// the lanes are added at the end, so the package comment's c is 16*steps: e < c*2^16 <= 2^32 needs
// steps <= 2^12, and |hi| <= c*1.5*2^14 < 2^31 needs steps < 5461. Half of the
// smaller bound is used.
const maxSteps = 1 << 11

// A block must fit one call; a negative difference does not compile.
const _ = uint(maxSteps - blockRows/stepRows)

// tileHeight is the number of columns on the other side of a tile: two with the 32 registers of AVX-512.
const tileHeight = 2

// A tile is h columns of a set against w columns of b, 1 <= h <= tileHeight, 1 <= w <= tileWidth. All have rows
// rows, a positive multiple of stepRows of at most maxSteps*stepRows, and are stride values apart.
//
// The exact sum of a[k*stride+r]*b[c*stride+r] over r belongs to dst[k*row+c]; the first below of the second column of
// a, at most one, belong nowhere. What ahead begins with is needed soon and may be fetched.
type tile struct {
	dst    []int64
	a      []int16
	b      []int16
	ahead  []int16
	rows   int
	stride int
	row    int
	h      int
	w      int
	below  int
}

// line returns where the sums of column k of a belong, and to which column of b the first does.
func (t *tile) line(k int) (dst []int64, from int) {
	from = k * t.below
	return t.dst[k*t.row+from : k*t.row+t.w], from
}

// A tileFunc adds the sums of a tile.
type tileFunc func(*tile)

// tileGo is the portable tile. Four products of at most 2^28 are added in 32
// bits, the groups of four in 64.
func tileGo(t *tile) {
	for k := range t.h {
		dst, from := t.line(k)
		for c := range dst {
			dst[c] += dotGo(t.a[k*t.stride:][:t.rows], t.b[(from+c)*t.stride:])
		}
	}
}

// dotGo returns the sum of a[r]*b[r] over the length of a, which may be
// anything up to len(b).
func dotGo(a, b []int16) int64 {
	var sum int64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		sum += int64(int32(a[0])*int32(b[0]) + int32(a[1])*int32(b[1]) +
			int32(a[2])*int32(b[2]) + int32(a[3])*int32(b[3]))
		a, b = a[4:], b[4:]
	}
	for r := range a {
		sum += int64(int32(a[r]) * int32(b[r]))
	}
	return sum
}
