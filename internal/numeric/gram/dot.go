package gram

// Dot returns the exact sum of a[r]*b[r], in units of 2^-28: one entry of the
// Gram matrix, read straight from the columns without a copy. Both slices have
// the same length, at most 2^35, and hold values in [-MaxAbs, MaxAbs]. It
// panics if the lengths differ.
func Dot(a, b []int16) int64 {
	return dot(a, b, fastestTile())
}

func dot(a, b []int16, add tileFunc) int64 {
	if len(a) != len(b) {
		panic("gram: Dot of slices of different length")
	}
	var sum [1]int64
	t := tile{
		dst: sum[:],
		h:   1,
		w:   1,
	}
	for len(a) >= stepRows {
		t.rows = min(len(a)/stepRows, maxSteps) * stepRows
		t.a = a[:t.rows]
		t.b = b
		add(&t)
		a, b = a[t.rows:], b[t.rows:]
	}
	return sum[0] + dotGo(a, b)
}
