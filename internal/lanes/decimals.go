package lanes

import "math"

// Decimals says how numbers are kept as integers: each is one of Width bytes, 1, 2 or 4 with the lowest first, over Power.
// The smallest such integer is for what is no number.
type Decimals struct {
	Width int
	Power float64
}

// Least returns the smallest integer.
func (d Decimals) Least() int32 { return -1 << (8*d.Width - 1) }

// Number returns the number of an integer, NaN of the smallest. It is the integer over Power, by a product with 1/Power that is put right once;
// Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990. Nothing rests on that: what Number does not give
// back is not exact.
func (d Decimals) Number(k int32) float64 {
	if k == d.Least() {
		return math.NaN()
	}
	q := float64(k) * d.over()
	return math.FMA(math.FMA(-q, d.Power, float64(k)), d.over(), q)
}

func (d Decimals) over() float64 { return 1 / d.Power }

// Pack sets dst to the integers next to the numbers of a column times Power, and bit k of byte i of exact to whether Number gives the very bits
// of number 8i+k back. Where it does not, dst holds any integer.
func (d Decimals) Pack(dst, exact []byte, column []float64) int {
	checked(len(dst), d.Width*len(column))
	checked(len(exact), len(column)/8)
	return d.pack(dst, exact, column)
}

// Unpack sets a column to the numbers of the integers that src holds.
func (d Decimals) Unpack(column []float64, src []byte) int {
	checked(len(src), d.Width*len(column))
	return d.unpack(column, src)
}
