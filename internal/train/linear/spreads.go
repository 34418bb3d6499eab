package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// Spreads returns the spread over the records of the contribution of each feature, from the released moments
// only.
func Spreads(
	columns []dataset.Column,
	enc *scaling.Encoder,
	fit Solution,
	d Distribution,
) []regression.Spread {
	last := len(columns) - 1
	out := make([]regression.Spread, last)
	slots := enc.Slots()
	for lo := 0; slots[lo].Column < last; {
		j := slots[lo].Column
		hi := lo + 1
		for slots[hi].Column == j {
			hi++
		}
		if columns[j].Kind == dataset.Category {
			out[j] = d.levelSpread(fit, lo, hi, columns[j].Other)
		} else {
			out[j] = d.numberSpread(fit, lo, hi)
		}
		out[j].Unit = enc.Range(last).Half()
		lo = hi
	}
	return out
}

// levelSpread returns the spread of a category column, entries [lo, hi); its cells are the levels.
func (d Distribution) levelSpread(
	fit Solution,
	lo, hi int,
	other bool,
) regression.Spread {
	e := effectsOf(fit, d, lo, hi, other)
	var c regression.Cells
	add := func(value float64, n noisyNumber) {
		c.Values = append(c.Values, value)
		c.Counts = append(c.Counts, n.value)
		c.Noise = append(c.Noise, n.noise)
	}
	for v, x := range e.levels {
		add(x.value, d.countOfEntry(lo+v))
	}
	if !e.listed {
		add(e.unlisted.value, d.countUnlisted(lo, hi))
	}
	c.Cov = mat.NewSymDense(len(c.Values), nil) // that of values without an entry is 0
	for i := lo; i < hi; i++ {
		for j := i; j < hi; j++ {
			c.Cov.SetSym(i-lo, j-lo, fit.Cov.At(i, j))
		}
	}
	return c.Spread()
}

// numberSpread returns the spread of a numeric column, entries [lo, hi): the number and, if present, its
// missing-cell indicator. With n records, q = theta'G theta, G the products of the entries, and s = theta'b, b
// their sums, the variance is q/n - (s/n)^2, whose derivatives by q, s and n are 1/n, -2s/n^2 and -(q -
// 2s^2/n)/n^2.
func (d Distribution) numberSpread(fit Solution, lo, hi int) regression.Spread {
	var s regression.Spread
	n := d.numRecords()
	q := noisyNumber{}
	sum := noisyNumber{}
	for i := lo; i < hi; i++ {
		theta := fit.Theta[i]
		b := d.sumOfEntry(i)
		s.Most += math.Abs(theta) // entries are in [-1, 1]
		s.MostError += math.Sqrt(fit.Cov.At(i, i))
		sum = noisyNumber{sum.value + theta*b.value, math.Hypot(sum.noise, theta*b.noise)}
		for j := i; j < hi; j++ {
			times := theta * fit.Theta[j]
			g := d.sumOfProducts(i, j)
			if j > i {
				times *= 2
			}
			q = noisyNumber{q.value + times*g.value, math.Hypot(q.noise, times*g.noise)}
		}
	}
	if !n.isAbove(2) {
		s.Unknown = true
		return s
	}
	mean := sum.value / n.value
	s.Variance = q.value/n.value - mean*mean
	s.CountError = math.Hypot(
		math.Hypot(q.noise, 2*mean*sum.noise),
		(q.value/n.value-2*mean*mean)*n.noise,
	) / n.value
	d.addNoise(&s, fit, lo, hi)
	return s
}

// addNoise accounts for the noise of theta; see [regression.Spread].
func (d Distribution) addNoise(s *regression.Spread, fit Solution, lo, hi int) {
	p := hi - lo
	n := d.numRecords().value
	k := mat.NewDense(p, p, nil)
	c := mat.NewDense(p, p, nil)
	for i := range p {
		for j := range p {
			k.Set(
				i,
				j,
				d.sumOfProducts(lo+i, lo+j).value/n-
					d.sumOfEntry(lo+i).value/n*d.sumOfEntry(lo+j).value/n,
			)
			c.Set(i, j, fit.Cov.At(lo+i, lo+j))
		}
	}
	var kc, twice mat.Dense
	kc.Mul(k, c)
	twice.Mul(&kc, &kc)
	trace := mat.Trace(&kc)
	s.Slope = max(trace, 0)
	if s.Variance > 0 {
		theta := mat.NewVecDense(p, fit.Theta[lo:hi])
		var along mat.VecDense
		along.MulVec(k, theta)
		s.Slope = min(max(mat.Inner(&along, c, &along)/s.Variance, 0), s.Slope)
	}
	s.Variance -= trace
	s.NullError = math.Sqrt(max(2*mat.Trace(&twice), 0))
}

// Variance returns the variance of an entry over the records, and the standard deviation of the noise in it.
// known is false if the number of records is not significantly above 0. With n records, a the sum of squares
// and b the sum of the entry, it is a/n - (b/n)^2, whose derivatives by a, b and n are 1/n, -2b/n^2 and -(a -
// 2b^2/n)/n^2.
func (d Distribution) Variance(i int) (value, noise float64, known bool) {
	n := d.numRecords()
	a := d.sumOfProducts(i, i)
	b := d.sumOfEntry(i)
	if !n.isAbove(2) {
		return 0, 0, false
	}
	mean := b.value / n.value
	error2 := square(a.noise/n.value) + square(2*mean*b.noise/n.value) +
		square((a.value/n.value-2*mean*mean)*n.noise/n.value)
	return a.value/n.value - mean*mean, math.Sqrt(error2), true
}
