package simd

import "math"

// Decimals is the form of numbers stored as integers over a power of ten, each in a fixed number of bytes, lowest
// first. The smallest such integer represents NaN.
type Decimals struct {
	width int
	power float64
	over  float64
}

// NewDecimals describes numbers stored as integers of width 1, 2 or 4 bytes, divided by power.
func NewDecimals(width int, power float64) Decimals {
	return Decimals{width, power, 1 / power}
}

// Min returns the smallest integer.
func (d Decimals) Min() int32 {
	return -1 << (8*d.width - 1)
}

// Number returns the number of an integer, NaN of the smallest. It is the integer over the power, by a product with one over it that is put right once;
// Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990. Nothing rests on that: what Number does not give
// back is not exact.
func (d Decimals) Number(k int32) float64 {
	if k == d.Min() {
		return math.NaN()
	}
	q := float64(k) * d.over
	return math.FMA(math.FMA(-q, d.power, float64(k)), d.over, q)
}

// Pack multiplies the numbers of a column by the power and stores the nearest integers in dst. Bit k of byte i of exact
// is set if Number restores number 8i+k bit for bit; otherwise dst holds an arbitrary integer.
func (d Decimals) Pack(dst, exact []byte, column []float64) int {
	checkLength(len(dst), d.width*len(column))
	checkLength(len(exact), len(column)/8)
	return d.packDecimals(dst, exact, column)
}

// Unpack sets a column to the numbers of the integers that src holds.
func (d Decimals) Unpack(column []float64, src []byte) int {
	checkLength(len(src), d.width*len(column))
	return d.unpackDecimals(column, src)
}
