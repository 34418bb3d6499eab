package testkit

import (
	"math"
	"math/big"
)

// BigPrecision is the number of bits of the results of the functions below.
const BigPrecision = 256

// BigFloat converts x exactly.
func BigFloat(x float64) *big.Float {
	return new(big.Float).SetPrec(BigPrecision).SetFloat64(x)
}

// BigNeg returns -x.
func BigNeg(x *big.Float) *big.Float {
	return new(big.Float).Neg(x)
}

// BigLog returns the natural logarithm of z > 0. With z = m 2^q and m in [1/2, 1) it is
// log m + q log 2.
func BigLog(z *big.Float) *big.Float {
	m := new(big.Float).SetPrec(BigPrecision)
	q := new(big.Float).SetPrec(BigPrecision).Set(z).MantExp(m)
	return new(big.Float).Add(logMantissa(m),
		new(big.Float).Mul(BigFloat(float64(-q)), logMantissa(BigFloat(.5))))
}

// logMantissa returns log m for m in [1/2, 1) by the series of 2 atanh((m-1)/(m+1)).
func logMantissa(m *big.Float) *big.Float {
	y := new(big.Float).Quo(new(big.Float).Sub(m, BigFloat(1)), new(big.Float).Add(m, BigFloat(1)))
	square := new(big.Float).Mul(y, y)
	power := new(big.Float).Set(y)
	sum := BigFloat(0)
	for i := 1; i < 170; i += 2 {
		sum.Add(sum, new(big.Float).Quo(power, BigFloat(float64(i))))
		power.Mul(power, square)
	}
	return sum.Mul(sum, BigFloat(2))
}

// BigExp returns exp(x). It squares the series at x/2^20 20 times.
func BigExp(x *big.Float) *big.Float {
	small := new(big.Float).SetPrec(BigPrecision).SetMantExp(x, -20)
	sum := BigFloat(1)
	term := BigFloat(1)
	for i := 1; i < 60; i++ {
		term.Mul(term, small).Quo(term, BigFloat(float64(i)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// BigDistance returns |a - b|.
func BigDistance(a float64, b *big.Float) float64 {
	d, _ := new(big.Float).Sub(BigFloat(a), b).Float64()
	return math.Abs(d)
}
