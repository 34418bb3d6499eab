package regression

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Spread says how much what a column adds to a sum varies over the records: its
// variance, and how well released numbers know it. All fields are finite.
//
// With f(b) what is added in cell b and p the shares of the cells, the variance is
// sum p f^2 - (sum p f)^2. With f = A theta, K = A'diag(p)A - (A'p)(A'p)' and C the
// covariance of the noise in theta it is theta'K theta, of mean V + tr(KC) and
// variance 4 theta'KCK theta + 2 tr((KC)^2), V that without noise.
type Spread struct {
	Variance   float64 // less tr(KC), so without bias; may be negative
	CountError float64 // its standard deviation from the noise of counts
	NullError  float64 // and from that of theta where V = 0: the root of 2 tr((KC)^2)
	Slope      float64 // theta'KCK theta / theta'K theta
	// Most and MostError bound the root: half of what f ranges over, and the largest
	// standard deviation of an f(b).
	Most, MostError float64
	Unknown         bool    // the number of records cannot be told from 0
	Unit            float64 // by which roots are multiplied
}

// Root returns the root of the variance with an interval that holds it at z
// standard deviations (1.96 for 95%), as far as noise goes. The ends x solve
//
//	(Variance - x)^2 = z^2 (CountError^2 + NullError^2 + 4 Slope x),
//
// the standard deviation being that which the noise has if x is true; with exact
// theta they are Variance ± z CountError. Below 0 they are 0: then the column
// cannot be told from one that adds nothing.
func (s Spread) Root(z float64) (value, lower, upper float64) {
	most := s.Most + z*s.MostError
	lower, upper = 0, most
	if !s.Unknown {
		value = math.Sqrt(max(s.Variance, 0))
		middle := s.Variance + 2*z*z*s.Slope
		fixed := s.CountError*s.CountError + s.NullError*s.NullError
		width := math.Sqrt(max(middle*middle-s.Variance*s.Variance+z*z*fixed, 0))
		lower, upper = math.Sqrt(max(middle-width, 0)), min(math.Sqrt(max(middle+width, 0)), most)
	}
	at := func(x float64) float64 { return bounded(min(x, most) * s.Unit) }
	return at(value), at(lower), at(upper)
}

// Plus returns the spread with what a sum has beyond a part of it, more over less:
// what the rest of s has in common with that is left out.
func (s Spread) Plus(more, less Spread) Spread {
	rest := func(a, b float64) float64 { return math.Sqrt(max(a*a-b*b, 0)) }
	s.Variance += more.Variance - less.Variance
	s.CountError = math.Hypot(s.CountError, rest(more.CountError, less.CountError))
	s.NullError = math.Hypot(s.NullError, rest(more.NullError, less.NullError))
	s.Slope = max(s.Slope, more.Slope)
	s.Most += max(more.Most-less.Most, 0)
	s.MostError += max(more.MostError-less.MostError, 0)
	s.Unknown = s.Unknown || more.Unknown
	return s
}

// bounded returns x within what a report can hold.
func bounded(x float64) float64 {
	if x != x {
		return 0
	}
	return min(x, 1e300)
}

// Cells are the cells into which the values of a column fall.
type Cells struct {
	Values []float64 // f: what the column adds in each
	Counts []float64 // noisy number of records in each; negative ones stay
	Noise  []float64 // its standard deviation, one per cell
	// Basis is A, with one row per cell, and Cov is C; a Basis of nil is the identity,
	// and a Cov of nil 0.
	Basis *mat.Dense
	Cov   *mat.SymDense
	// Line, if set, is what is known of the first parameter beyond the counts.
	Line *Line
}

// A Line is the parameter of a straight line in f, whose basis function, the first
// column of Basis, has a variance over the records that is known by itself.
type Line struct {
	Coefficient     float64
	Variance, Noise float64 // of the basis function, and the standard deviation of the noise in it
}

// Spread returns that of the column.
func (c Cells) Spread() Spread {
	s := Spread{Unit: 1}
	low, high, total, noise := math.Inf(1), math.Inf(-1), 0., 0.
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
	share, mean := make([]float64, len(c.Values)), 0.
	for b, n := range c.Counts {
		share[b] = n / total
		mean += share[b] * c.Values[b]
	}
	squares := make([]float64, len(c.Values)) // less those of the line
	for b, f := range c.Values {
		squares[b] = (f - mean) * (f - mean)
	}
	known, line := 0., 0.
	var l lineMoments
	if c.Line != nil {
		l = c.lineMoments(share, total)
		coefficient := l.weight * c.Line.Coefficient * c.Line.Coefficient
		for b := range squares {
			x := c.Basis.At(b, 0) - l.middle
			squares[b] -= coefficient * x * x
		}
		known, line = coefficient*c.Line.Variance, coefficient*l.noise
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
		c.addNoise(&s, share, mean, l)
	}
	return s
}

// addNoise takes in the noise of theta.
func (c Cells) addNoise(s *Spread, share []float64, mean float64, l lineMoments) {
	k := c.Cov.SymmetricDim()
	kc, along := c.product(share, l), make([]float64, k) // K C, and K theta
	for b, f := range c.Values {
		c.row(b, func(i int, a float64) { along[i] += share[b] * (f - mean) * a })
	}
	if c.Line != nil {
		along[0] += c.Line.Coefficient * l.weight * (c.Line.Variance - l.variance)
	}
	trace, twice := 0., 0.
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

// product returns K C.
func (c Cells) product(share []float64, l lineMoments) *mat.Dense {
	k := c.Cov.SymmetricDim()
	mean, weighted := make([]float64, k), mat.NewDense(k, k, nil)
	for b := range c.Values {
		c.row(b, func(i int, a float64) {
			mean[i] += share[b] * a
			c.row(b, func(j int, e float64) { weighted.Set(i, j, weighted.At(i, j)+share[b]*a*e) })
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

// lineMoments are those of the line's basis function.
type lineMoments struct {
	middle, variance float64 // by the counts
	weight           float64 // of what is known beyond them
	noise            float64 // of that
}

// lineMoments weighs the two variances of the line's basis function by their
// precision. What is known beyond the counts may be biased, such as by rows that
// were shortened: by how much the two differ beyond their noise is its error too.
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
	known, d := c.Line.Noise*c.Line.Noise, c.Line.Variance-l.variance
	known += max(d*d-known-counted, 0)
	l.noise = math.Sqrt(known)
	if counted+known > 0 {
		l.weight = counted / (counted + known)
	}
	return l
}

// row calls f for the entries of a row of A that are not 0.
func (c Cells) row(b int, f func(i int, a float64)) {
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
		c.row(b, func(i int, a float64) {
			c.row(b, func(j int, e float64) { variance += a * e * c.Cov.At(i, j) })
		})
		most = max(most, variance)
	}
	return math.Sqrt(most)
}
