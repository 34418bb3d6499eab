package scaling

// How missing cells of features are treated: a number that is missing, unreadable or infinite counts as the value that
// its column declares or, without one, as the median that was released with the range. An indicator marks it in an
// entry of its own. A missing category is in none of the listed ones. Package cell lists the texts that mean a missing
// value; package pipeline leaves out records with a missing target (missing_targets.go).

// Missing returns the value that a missing cell of a numeric column takes.
func (e *Encoder) Missing(column int) float64 {
	if c := e.columns[column]; c.HasMissing {
		return c.Missing
	}
	return e.ranges[column].Fill()
}

// MissingEntry is the entry of a missing cell in the slot of its indicator, the square root of .2
// (regression.MissingSquare in models that shorten rows). The number of a missing cell is the median or a
// declared value, x, so the two entries of the column have x^2 + MissingEntry^2 <= 1 if |x| <= .894, no more
// than a cell at the end of the range alone: [Encoder.NormLimit] therefore has no allowance for the indicator.
//
// The sensitivity does not depend on that. Rows are shortened to norm B after encoding, whatever their entries,
// by the accumulators that sum them ([mechanism.Gram], [mechanism.Cross], [mechanism.Minimizer]), and these
// rely on B only.
const MissingEntry = 0.447213595499957939

// encodeMissing writes the indicator of missing cells.
func encodeMissing(dst []int16, column []float64) {
	one := FixedPoint(MissingEntry)
	for i, x := range column {
		dst[i] = 0
		if x != x {
			dst[i] = one
		}
	}
}
