package regression

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Spread describes the variance, over the records, of the contribution of a column to a sum, and the
// precision of that variance given the released numbers. All fields are finite.
//
// Let f(b) be the contribution in cell b and p the shares of the cells. The variance is sum p f^2 - (sum p
// f)^2. With f = A theta, K = A'diag(p)A - (A'p)(A'p)' and C the covariance of the noise in theta, it equals
// theta'K theta. Let V be the variance without noise. Then the estimate has mean V + tr(KC) and variance 4
// theta'KCK theta + 2 tr((KC)^2).
type Spread struct {
	Variance   float64 // theta'K theta - tr(KC), which is unbiased and may be negative
	CountError float64 // standard deviation of Variance from the noise in the counts
	NullError  float64 // standard deviation from the noise in theta if V = 0: the root of 2 tr((KC)^2)
	Slope      float64 // theta'KCK theta / theta'K theta
	// Most and MostError bound the root: half the range of f, and the largest standard deviation of an f(b).
	Most, MostError float64
	Unknown         bool    // the number of records is not significantly above 0
	Unit            float64 // factor applied to roots
	// Excess is the factor by which the noise in theta is larger than C shows, because other parts of the model
	// and the ranges have noise too; below 1 it counts as 1. It widens intervals.
	Excess float64
}

// Root returns the root of the variance and an interval of z standard deviations (1.96 for 95%) that accounts
// for the noise. The ends x solve
//
//	(Variance - x)^2 = z^2 (CountError^2 + NullError^2 + 4 Slope x),
//
// where the right-hand side is the noise variance if x is the true value; if theta is exact, they are Variance
// ± z CountError. Negative ends become 0: the column may then have no effect. An Excess multiplies z.
func (s Spread) Root(z float64) (value, lower, upper float64) {
	z *= max(1, s.Excess)
	most := s.Most + z*s.MostError
	lower = 0
	upper = most
	if !s.Unknown {
		value = math.Sqrt(max(s.Variance, 0))
		middle := s.Variance + 2*z*z*s.Slope
		fixed := s.CountError*s.CountError + s.NullError*s.NullError
		width := math.Sqrt(max(middle*middle-s.Variance*s.Variance+z*z*fixed, 0))
		lower = math.Sqrt(max(middle-width, 0))
		upper = min(math.Sqrt(max(middle+width, 0)), most)
	}
	at := func(x float64) float64 {
		return clampFinite(min(x, most) * s.Unit)
	}
	return at(value), at(lower), at(upper)
}

// Plus returns the spread of a sum that extends s by the difference of more and less. The covariance of that
// difference with the rest of s is ignored.
func (s Spread) Plus(more, less Spread) Spread {
	rest := func(a, b float64) float64 {
		return math.Sqrt(max(a*a-b*b, 0))
	}
	s.Variance += more.Variance - less.Variance
	s.CountError = math.Hypot(s.CountError, rest(more.CountError, less.CountError))
	s.NullError = math.Hypot(s.NullError, rest(more.NullError, less.NullError))
	s.Slope = max(s.Slope, more.Slope)
	s.Most += max(more.Most-less.Most, 0)
	s.MostError += max(more.MostError-less.MostError, 0)
	s.Unknown = s.Unknown || more.Unknown
	s.Excess = max(s.Excess, more.Excess)
	return s
}

// clampFinite returns x limited to the range that a report can represent.
func clampFinite(x float64) float64 {
	if x != x {
		return 0
	}
	return min(x, 1e300)
}

// Cells partitions the values of a column.
type Cells struct {
	Values []float64 // f: contribution of the column in each cell
	Counts []float64 // noisy number of records in each cell, possibly negative
	Noise  []float64 // standard deviation of the noise in each count
	// Basis is A, with one row per cell, and Cov is C. A nil Basis is the identity, a nil Cov is 0.
	Basis *mat.Dense
	Cov   *mat.SymDense
	// Line describes the first parameter if more is known about it than the counts show; optional.
	Line *Line
}

// A Line is the slope parameter of f. Its basis function is the first column of Basis; the variance of that
// function over the records is estimated independently of the counts.
type Line struct {
	Coefficient     float64
	Variance, Noise float64 // of the basis function, and the standard deviation of its noise
}

// Spread returns the spread of the column.
func (c Cells) Spread() Spread {
	s := Spread{Unit: 1}
	low := math.Inf(1)
	high := math.Inf(-1)
	total := 0.
	noise := 0.
	for b, f := range c.Values {
		low, high = min(low, f), max(high, f)
		total += c.Counts[b]
		noise += c.Noise[b] * c.Noise[b]
	}
	s.Most, s.MostError = max(high-low, 0)/2, c.largestError()
	if !(total > 2*math.Sqrt(noise)) {
		s.Unknown = true
		return s
	}
	share := make([]float64, len(c.Values))
	mean := 0.
	for b, n := range c.Counts {
		share[b] = n / total
		mean += share[b] * c.Values[b]
	}
	squares := make([]float64, len(c.Values)) // squared deviations without the part of the line
	for b, f := range c.Values {
		squares[b] = (f - mean) * (f - mean)
	}
	known := 0.
	line := 0.
	var l lineMoments
	if c.Line != nil {
		l = c.lineMoments(share, total)
		coefficient := l.weight * c.Line.Coefficient * c.Line.Coefficient
		for b := range squares {
			x := c.Basis.At(b, 0) - l.middle
			squares[b] -= coefficient * x * x
		}
		known = coefficient * c.Line.Variance
		line = coefficient * l.noise
	}
	for b, x := range squares {
		s.Variance += share[b] * x
	}
	s.CountError = line
	for b, x := range squares {
		s.CountError = math.Hypot(s.CountError, c.Noise[b]/total*(x-s.Variance))
	}
	s.Variance += known
	if c.Cov != nil {
		c.addParameterNoise(&s, share, mean, l)
	}
	return s
}

// addParameterNoise accounts for the noise in theta.
func (c Cells) addParameterNoise(
	s *Spread,
	share []float64,
	mean float64,
	l lineMoments,
) {
	k := c.Cov.SymmetricDim()
	kc, along := c.scatterTimesCov(share, l), make([]float64, k) // K C, and K theta
	for b, f := range c.Values {
		c.forEachEntry(b, func(i int, a float64) {
			along[i] += share[b] * (f - mean) * a
		})
	}
	if c.Line != nil {
		along[0] += c.Line.Coefficient * l.weight * (c.Line.Variance - l.variance)
	}
	trace := 0.
	twice := 0.
	for i := range k {
		trace += kc.At(i, i)
		for j := range k {
			twice += kc.At(i, j) * kc.At(j, i)
		}
	}
	s.Slope = max(trace, 0)
	if v := mat.NewVecDense(k, along); s.Variance > 0 {
		s.Slope = min(max(mat.Inner(v, c.Cov, v)/s.Variance, 0), s.Slope)
	}
	s.Variance -= trace
	s.NullError = math.Sqrt(max(2*twice, 0))
}

// scatterTimesCov returns K C.
func (c Cells) scatterTimesCov(share []float64, l lineMoments) *mat.Dense {
	k := c.Cov.SymmetricDim()
	mean := make([]float64, k)
	weighted := mat.NewDense(k, k, nil)
	for b := range c.Values {
		c.forEachEntry(b, func(i int, a float64) {
			mean[i] += share[b] * a
			c.forEachEntry(b, func(j int, e float64) {
				weighted.Set(i, j, weighted.At(i, j)+share[b]*a*e)
			})
		})
	}
	weighted.RankOne(weighted, -1, mat.NewVecDense(k, mean), mat.NewVecDense(k, mean))
	if c.Line != nil {
		weighted.Set(0, 0, weighted.At(0, 0)+l.weight*(c.Line.Variance-l.variance))
	}
	out := mat.NewDense(k, k, nil)
	out.Mul(weighted, mat.DenseCopyOf(c.Cov))
	return out
}

// lineMoments holds the moments of the line's basis function.
type lineMoments struct {
	middle, variance float64 // from the counts
	weight           float64 // weight of the independent estimate of the variance
	noise            float64 // standard deviation of the independent estimate
}

// lineMoments combines the two estimates of the variance of the line's basis function, weighted by precision.
// The independent estimate may be biased, for instance because long rows were shortened, so a difference beyond
// the noise of the two counts as its error.
func (c Cells) lineMoments(share []float64, total float64) lineMoments {
	var l lineMoments
	for b, p := range share {
		l.middle += p * c.Basis.At(b, 0)
	}
	for b, p := range share {
		x := c.Basis.At(b, 0) - l.middle
		l.variance += p * x * x
	}
	counted := 0.
	for b, n := range c.Noise {
		x := c.Basis.At(b, 0) - l.middle
		d := n / total * (x*x - l.variance)
		counted += d * d
	}
	known := c.Line.Noise * c.Line.Noise
	d := c.Line.Variance - l.variance
	known += max(d*d-known-counted, 0)
	l.noise = math.Sqrt(known)
	if counted+known > 0 {
		l.weight = counted / (counted + known)
	}
	return l
}

// forEachEntry calls f for the nonzero entries of row b of A.
func (c Cells) forEachEntry(b int, f func(i int, a float64)) {
	if c.Basis == nil {
		f(b, 1)
		return
	}
	for i, a := range c.Basis.RawRowView(b) {
		if a != 0 {
			f(i, a)
		}
	}
}

// largestError returns the largest standard deviation of a value.
func (c Cells) largestError() float64 {
	if c.Cov == nil {
		return 0
	}
	most := 0.
	for b := range c.Values {
		variance := 0.
		c.forEachEntry(b, func(i int, a float64) {
			c.forEachEntry(b, func(j int, e float64) {
				variance += a * e * c.Cov.At(i, j)
			})
		})
		most = max(most, variance)
	}
	return math.Sqrt(most)
}
