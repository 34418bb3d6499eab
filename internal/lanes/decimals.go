package lanes

// Decimals says how numbers are kept as integers: each is one of Width bytes, 1, 2 or 4 with the lowest first, over Power.
// The smallest such integer is for what is no number.
type Decimals struct {
	Width int
	Power float64
}

// Least returns the smallest integer.
func (d Decimals) Least() int32 { return -1 << (8*d.Width - 1) }

// Pack sets dst to the integers next to the numbers of a column times Power, and bit k of byte i of exact to whether that of number
// 8i+k gives its very bits back. Where it does not, dst holds any integer.
func (d Decimals) Pack(dst, exact []byte, column []float64) int {
	checked(len(dst), d.Width*len(column))
	checked(len(exact), len(column)/8)
	return d.pack(dst, exact, column)
}

// Unpack sets a column to the numbers of which src holds the integers.
func (d Decimals) Unpack(column []float64, src []byte) int {
	checked(len(src), d.Width*len(column))
	return d.unpack(column, src)
}
