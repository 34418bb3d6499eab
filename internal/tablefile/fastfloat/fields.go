package fastfloat

// Fields reads consecutive fields of a line, each up to the next byte end or to the end of the line, and stores their
// values in out. It returns the number of fields read, at most len(out), and the start of the next field: after the
// last end, or len(line)+1 at the end of the line. It stops at a field that is not a number of at most 15 digits, with
// at most one point, an optional minus and no exponent, and may stop at any other; every value read equals that of
// [Scan]. It may read bytes up to the capacity of line, without effect on the result.
func Fields(out []float64, line []byte, end byte) (count, next int) {
	return fields(out, line, end)
}
