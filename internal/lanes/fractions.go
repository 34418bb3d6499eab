package lanes

// Fractions replaces each number x of a list by x+1/(x+2/(x+...n/x)), where n is a whole number, at least 1, of a list of as many.
// It returns how many it took, the first ones; the caller takes the others. The numbers have the bits that one division after the other
// gives.
func Fractions(x, n []float64) int {
	checked(len(x), len(n))
	return fractions(x, n)
}
