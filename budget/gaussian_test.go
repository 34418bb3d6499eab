package budget

import (
	"math"
	"math/big"
	"testing"
)

// exactBits is the precision of the reference. Computing a delta of 1e-208 as a difference from 1/2 loses 700 bits.
const exactBits = 1200

func bigFloat(x float64) *big.Float {
	return new(big.Float).SetPrec(exactBits).SetFloat64(x)
}

// sumSeries sums terms, each computed from its predecessor by next, until they vanish.
func sumSeries(
	term *big.Float,
	next func(term *big.Float, n int64) *big.Float,
) *big.Float {
	sum := new(big.Float).SetPrec(exactBits).Set(term)
	for n := int64(1); ; n++ {
		term = next(term, n)
		if term.Sign() == 0 || term.MantExp(nil) < -exactBits {
			return sum
		}
		sum.Add(sum, term)
	}
}

// exactExp returns e^x for x >= 0, computed by its series.
func exactExp(x *big.Float) *big.Float {
	return sumSeries(bigFloat(1), func(t *big.Float, n int64) *big.Float {
		return new(big.Float).Quo(
			new(big.Float).Mul(t, x),
			bigFloat(float64(n)),
		)
	})
}

// exactPhi returns the normal distribution function, 1/2 + phi(x)(x + x³/3 + x⁵/15 + …). All terms of the series have
// the same sign (Abramowitz and Stegun, 26.2.11).
func exactPhi(x *big.Float) *big.Float {
	square := new(big.Float).Mul(x, x)
	sum := sumSeries(new(big.Float).Set(x), func(t *big.Float, n int64) *big.Float {
		next := new(big.Float).Mul(t, square)
		return next.Quo(next, bigFloat(float64(2*n+1)))
	})
	half := new(big.Float).Quo(square, bigFloat(2))
	root := new(big.Float).Mul(bigFloat(2), exactPi())
	root.Sqrt(root)
	scale := exactExp(half)
	scale.Mul(scale, root)
	share := new(big.Float).Quo(sum, scale)
	return share.Add(bigFloat(.5), share)
}

// exactPi returns pi by Machin's formula, 16 atan(1/5) - 4 atan(1/239).
func exactPi() *big.Float {
	atan := func(k int64) *big.Float {
		power := new(big.Float).Quo(bigFloat(1), bigFloat(float64(k)))
		square := bigFloat(float64(-k * k))
		return sumSeries(power, func(_ *big.Float, n int64) *big.Float {
			power = new(big.Float).Quo(power, square)
			return new(big.Float).Quo(power, bigFloat(float64(2*n+1)))
		})
	}
	return new(big.Float).Sub(
		new(big.Float).Mul(bigFloat(16), atan(5)),
		new(big.Float).Mul(bigFloat(4), atan(239)),
	)
}

// exactDelta computes [gaussianDelta] with the precision of the reference.
func exactDelta(mu, epsilon float64) *big.Float {
	half := new(big.Float).Quo(bigFloat(mu), bigFloat(2))
	ratio := new(big.Float).Quo(bigFloat(epsilon), bigFloat(mu))
	above := new(big.Float).Sub(half, ratio)
	below := new(big.Float).Add(half, ratio)
	below.Neg(below)
	first := exactPhi(above)
	second := exactPhi(below)
	second.Mul(second, exactExp(bigFloat(epsilon)))
	return first.Sub(first, second)
}

// TestGaussianDeltaIsNeverBelow checks over a grid of mu and of epsilon/mu that the curve is not below its value in
// 1,200 bits, and above it by less than its stated error.
func TestGaussianDeltaIsNeverBelow(t *testing.T) {
	worst := 0.0
	for _, mu := range []float64{1e-9, 1e-5, 3e-5, 1e-3, .013, .0499999, .05, .0500001, .1, .3, .7,
		1, 1.7, 3, 6, 11} {
		for _, ratio := range []float64{-3, -.2, 0, 1e-9, 1e-3, .1, .49, .5, .51, 1, 1.6, 2.3, 3.99,
			4, 5.7, 7.1, 9, 13, 17, 22, 28} {
			epsilon := ratio * mu
			want := exactDelta(mu, epsilon)
			got := gaussianDelta(mu, epsilon)
			diff, _ := new(big.Float).Quo(
				new(big.Float).Sub(bigFloat(got), want),
				want,
			).Float64()
			if diff < 0 || diff > 1e-12 {
				t.Errorf(
					"mu %v, epsilon %v: %v is the truth times 1 %+.3g",
					mu,
					epsilon,
					got,
					diff,
				)
			}
			worst = math.Max(worst, math.Abs(diff))
		}
	}
	t.Logf("largest relative distance %.3g", worst)
}
