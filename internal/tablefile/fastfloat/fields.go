package fastfloat

// Fields reads fields of a line one after the other, each up to the next byte end or to the end of the line, and puts their
// values into out. It returns how many it has read, at most as many as out has room for, and where the field after
// them begins: behind the last end, or at len(line)+1 if there is no more. A field that is no number of
// at most 15 digits, with at most one point, a minus or nothing before it and no exponent, ends it, and so may any other:
// [Scan] has the same value for all that are read. The bytes up to the capacity of line are looked at, and nothing follows
// from them.
func Fields(out []float64, line []byte, end byte) (count, next int) { return fields(out, line, end) }
