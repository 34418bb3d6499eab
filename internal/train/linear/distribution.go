package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Distribution describes the distribution of the entries of x over the records, the constant [Kappa] last,
// according to a released matrix of second moments. A shortened record has the square of its factor as its
// weight. It is public.
type Distribution struct {
	Second *mat.SymDense
	Noise  func(i, j int) float64 // standard deviation of an entry
}

// NewDistribution reads a matrix with noise of standard deviation sigma on the
// diagonal and sigma/sqrt2 off it.
func NewDistribution(second *mat.SymDense, sigma float64) Distribution {
	return Distribution{second, func(i, j int) float64 {
		if i == j {
			return sigma
		}
		return sigma / math.Sqrt2
	}}
}

// measured is a released number and the standard deviation of its noise, 0 if it is exact.
type measured struct{ value, noise float64 }

// above reports whether a number exceeds 0 by more than the given number of standard deviations of its noise.
func (x measured) above(deviations float64) bool { return x.value > deviations*x.noise }

// product returns the sum of the products of two entries over the records.
func (d Distribution) product(i, j int) measured {
	return measured{d.Second.At(i, j), d.Noise(i, j)}
}

// constant is the index of the constant.
func (d Distribution) constant() int { return d.Second.SymmetricDim() - 1 }

// records returns the number of records.
func (d Distribution) records() measured {
	x := d.product(d.constant(), d.constant())
	return measured{x.value / (Kappa * Kappa), x.noise / (Kappa * Kappa)}
}

// total returns the sum of an entry over the records.
func (d Distribution) total(i int) measured {
	x := d.product(i, d.constant())
	return measured{x.value / Kappa, x.noise / Kappa}
}

// count returns the number of records in which a 0/1 entry is 1. It is released
// twice, as the entry's square and as its product with the constant; they are
// averaged with weights 1/variance.
func (d Distribution) count(i int) measured {
	a, b := d.product(i, i), d.total(i)
	va := a.noise * a.noise
	vb := b.noise * b.noise
	if !(va+vb > 0) {
		return a
	}
	return measured{(a.value*vb + b.value*va) / (va + vb), math.Sqrt(va * vb / (va + vb))}
}

// unlisted returns the number of records in which all of the 0/1 entries [lo, hi) of a column are 0.
func (d Distribution) unlisted(lo, hi int) measured {
	n := d.records()
	variance := n.noise * n.noise
	for i := lo; i < hi; i++ {
		c := d.count(i)
		n.value -= c.value
		variance += c.noise * c.noise
	}
	return measured{n.value, math.Sqrt(variance)}
}
