package adassp

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/scaling"
)

// spreads returns how much what each feature adds varies over the records, from
// the released moments alone.
func spreads(columns []dataset.Column, enc *scaling.Encoder, fit solution, d Distribution) []regression.Spread {
	last := len(columns) - 1
	out := make([]regression.Spread, last)
	slots := enc.Slots()
	for lo := 0; slots[lo].Column < last; {
		j, hi := slots[lo].Column, lo+1
		for slots[hi].Column == j {
			hi++
		}
		if columns[j].Kind == dataset.Category {
			out[j] = d.levelSpread(fit, lo, hi, columns[j].Other)
		} else {
			out[j] = d.lineSpread(fit.theta[lo], fit.cov.At(lo, lo), lo)
		}
		out[j].Unit = enc.Range(last).Half()
		lo = hi
	}
	return out
}

// levelSpread is that of a category column, entries [lo, hi): its cells are the
// levels.
func (d Distribution) levelSpread(fit solution, lo, hi int, other bool) regression.Spread {
	e := effectsOf(fit, d, lo, hi, other)
	var c regression.Cells
	add := func(value float64, n measured) {
		c.Values, c.Counts, c.Noise = append(c.Values, value), append(c.Counts, n.value), append(c.Noise, n.noise)
	}
	for v, x := range e.levels {
		add(x.value, d.count(lo+v))
	}
	if !e.listed {
		add(e.unlisted.value, d.unlisted(lo, hi))
	}
	c.Cov = mat.NewSymDense(len(c.Values), nil) // that of values without an entry is 0
	for i := lo; i < hi; i++ {
		for j := i; j < hi; j++ {
			c.Cov.SetSym(i-lo, j-lo, fit.cov.At(i, j))
		}
	}
	return c.Spread()
}

// lineSpread is that of a numeric column, entry i, with the coefficient theta and
// its variance.
func (d Distribution) lineSpread(theta, variance float64, i int) regression.Spread {
	s := regression.Spread{Most: math.Abs(theta), MostError: math.Sqrt(variance)} // an entry lies in [-1, 1]
	spread, noise, known := d.Variance(i)
	if !known {
		s.Unknown = true
		return s
	}
	s.Variance = (theta*theta - variance) * spread
	s.CountError = theta * theta * noise
	s.Slope = variance * max(spread, 0)
	s.NullError = math.Sqrt2 * s.Slope
	return s
}

// Variance returns that of an entry over the records, and the standard deviation of
// the noise in it; not where the number of records cannot be told from 0. With n
// records, a the sum of squares and b that of the entry, it is a/n - (b/n)^2, whose
// derivatives by a, b and n are 1/n, -2b/n^2 and -(a - 2b^2/n)/n^2.
func (d Distribution) Variance(i int) (value, noise float64, known bool) {
	n, a, b := d.records(), d.product(i, i), d.total(i)
	if !n.above(2) {
		return 0, 0, false
	}
	mean := b.value / n.value
	error2 := square(a.noise/n.value) + square(2*mean*b.noise/n.value) + square((a.value/n.value-2*mean*mean)*n.noise/n.value)
	return a.value/n.value - mean*mean, math.Sqrt(error2), true
}
