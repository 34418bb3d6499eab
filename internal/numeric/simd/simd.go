// Package simd has loops over a column of numbers that process several of them at a time, where the processor supports
// it. Each starts at the first number and returns how many it has processed; the caller processes the others, one by
// one, by the same rule. Results are the same bit for bit.
package simd

// checkLength panics unless a result has place for every number.
func checkLength(dst, column int) {
	if dst < column {
		panic("lanes: the result is shorter than the column")
	}
}

// Pick copies to dst, one after the other, the numbers of src whose bit in mask is set, number 8i+k in bit k of byte i. It
// returns how many it has copied, perhaps not all. src has at least 8 numbers for every byte.
func Pick(dst, src []float64, mask []byte) int {
	_ = src[:8*len(mask)]
	return pickMasked(dst, src, mask)
}

// Magnitudes sets bins to 128 plus 1 to 128 for positive numbers with binary exponents from -64 to 63, and to 128
// minus 1 to 128 for negative ones. Exponents outside are clamped. 0 is in bin 128, and NaN in 65535.
func Magnitudes(bins []uint16, column []float64) int {
	checkLength(len(bins), len(column))
	return binMagnitudes(bins, column)
}

// EqualBins sets bins to the integer part of (x - lower) * scale, clamped to [0, most]; to 0 if that is NaN, and to
// 65535 if x is NaN. most is at most 65534.
func EqualBins(
	bins []uint16,
	column []float64,
	lower, scale float64,
	most int,
) int {
	checkLength(len(bins), len(column))
	return equalBins(bins, column, lower, scale, float64(most))
}

// Grid maps a number to the grid of 1/2^14: the integer part of (x - Center) * Scale, clamped to [-2^14, 2^14]. It is
// 0 if that is NaN, and Missing if x is NaN.
type Grid struct{ Missing, Center, Scale float64 }

// Fixed sets dst to the numbers on the grid.
func (g Grid) Fixed(dst []int16, column []float64) int {
	checkLength(len(dst), len(column))
	return g.roundToGrid(dst, column)
}

// Shorten sets each number of a column, of magnitude at most 2^14, to its product with its factor, from 0 to 2^15, over
// 2^15, without what follows the point.
func Shorten(column []int16, factors []int32) int {
	checkLength(len(factors), len(column))
	return scaleRows(column, factors)
}

// Doubles sets dst to the numbers in data, eight bytes each with the lowest first, up to one that is not finite.
func Doubles(dst []float64, data []byte) int {
	checkLength(len(data)/8, len(dst))
	return decodeDoubles(dst, data)
}
