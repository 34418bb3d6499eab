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

	// counts holds the standard deviations of the noise in the counts of levels if both entries of a count
	// agree, 0 for other entries; see [blocks]. It is nil if they have noise of their own.
	counts []float64
}

// NewDistribution reads a matrix with noise of standard deviation sigma on the
// diagonal and sigma/sqrt2 off it.
func NewDistribution(second *mat.SymDense, sigma float64) Distribution {
	return Distribution{
		Second: second,
		Noise: func(i, j int) float64 {
			if i == j {
				return sigma
			}
			return sigma / math.Sqrt2
		},
	}
}

// noisyNumber is a released number and the standard deviation of its noise, 0 if it is exact.
type noisyNumber struct{ value, noise float64 }

// isAbove reports whether a number exceeds 0 by more than the given number of standard deviations of its noise.
func (x noisyNumber) isAbove(deviations float64) bool {
	return x.value > deviations*x.noise
}

// sumOfProducts returns the sum of the products of two entries over the records.
func (d Distribution) sumOfProducts(i, j int) noisyNumber {
	return noisyNumber{d.Second.At(i, j), d.Noise(i, j)}
}

// constantIndex is the index of the constant.
func (d Distribution) constantIndex() int {
	return d.Second.SymmetricDim() - 1
}

// numRecords returns the number of records.
func (d Distribution) numRecords() noisyNumber {
	x := d.sumOfProducts(d.constantIndex(), d.constantIndex())
	return noisyNumber{x.value / (Kappa * Kappa), x.noise / (Kappa * Kappa)}
}

// sumOfEntry returns the sum of an entry over the records.
func (d Distribution) sumOfEntry(i int) noisyNumber {
	x := d.sumOfProducts(i, d.constantIndex())
	return noisyNumber{x.value / Kappa, x.noise / Kappa}
}

// countOfEntry returns the number of records in which a 0/1 entry is 1. It is released
// twice, as the entry's square and as its product with the constant; they are
// averaged with weights 1/variance.
func (d Distribution) countOfEntry(i int) noisyNumber {
	if i < len(d.counts) && d.counts[i] > 0 {
		return noisyNumber{d.Second.At(i, i), d.counts[i]}
	}
	a := d.sumOfProducts(i, i)
	b := d.sumOfEntry(i)
	va := a.noise * a.noise
	vb := b.noise * b.noise
	if !(va+vb > 0) {
		return a
	}
	return noisyNumber{(a.value*vb + b.value*va) / (va + vb), math.Sqrt(va * vb / (va + vb))}
}

// countUnlisted returns the number of records in which all of the 0/1 entries [lo, hi) of a column are 0.
func (d Distribution) countUnlisted(lo, hi int) noisyNumber {
	n := d.numRecords()
	variance := n.noise * n.noise
	for i := lo; i < hi; i++ {
		c := d.countOfEntry(i)
		n.value -= c.value
		variance += c.noise * c.noise
	}
	return noisyNumber{n.value, math.Sqrt(variance)}
}
