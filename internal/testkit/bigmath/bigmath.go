// Package bigmath computes elementary functions with 256 bits, as a reference for the
// error bounds of float64 arithmetic.
package bigmath

import (
	"math"
	"math/big"
)

// Precision is the number of bits of all results.
const Precision = 256

// Float converts x exactly.
func Float(x float64) *big.Float {
	return new(big.Float).SetPrec(Precision).SetFloat64(x)
}

// Neg returns -x.
func Neg(x *big.Float) *big.Float {
	return new(big.Float).Neg(x)
}

// Log returns the natural logarithm of z > 0. With z = m 2^q and m in [1/2, 1) it is
// log m + q log 2.
func Log(z *big.Float) *big.Float {
	m := new(big.Float).SetPrec(Precision)
	q := new(big.Float).SetPrec(Precision).Set(z).MantExp(m)
	return new(big.Float).Add(logMantissa(m),
		new(big.Float).Mul(Float(float64(-q)), logMantissa(Float(.5))))
}

// logMantissa returns log m for m in [1/2, 1) by the series of 2 atanh((m-1)/(m+1)).
func logMantissa(m *big.Float) *big.Float {
	y := new(big.Float).Quo(new(big.Float).Sub(m, Float(1)), new(big.Float).Add(m, Float(1)))
	square := new(big.Float).Mul(y, y)
	power := new(big.Float).Set(y)
	sum := Float(0)
	for i := 1; i < 170; i += 2 {
		sum.Add(sum, new(big.Float).Quo(power, Float(float64(i))))
		power.Mul(power, square)
	}
	return sum.Mul(sum, Float(2))
}

// Exp returns exp(x). It squares the series at x/2^20 20 times.
func Exp(x *big.Float) *big.Float {
	small := new(big.Float).SetPrec(Precision).SetMantExp(x, -20)
	sum := Float(1)
	term := Float(1)
	for i := 1; i < 60; i++ {
		term.Mul(term, small).Quo(term, Float(float64(i)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// Distance returns |a - b|.
func Distance(a float64, b *big.Float) float64 {
	d, _ := new(big.Float).Sub(Float(a), b).Float64()
	return math.Abs(d)
}
