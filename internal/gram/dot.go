package gram

// Dot returns the exact sum of a[r]*b[r], in units of 2^-28: one entry of the
// Gram matrix, read straight from the columns without a copy. Both slices have
// the same length, at most 2^35, and hold values in [-MaxAbs, MaxAbs]. It
// panics if the lengths differ.
func Dot(a, b []int16) int64 {
	return dot(a, b, fastest())
}

func dot(a, b []int16, tile tileFunc) int64 {
	if len(a) != len(b) {
		panic("gram: Dot of slices of different length")
	}
	var sum int64
	var out [tileWidth]int64
	for len(a) >= stepRows {
		m := min(len(a)/stepRows, maxSteps) * stepRows
		tile(&out, a[:m], b, 0, 1)
		sum += out[0]
		a, b = a[m:], b[m:]
	}
	return sum + dotGo(a, b)
}
