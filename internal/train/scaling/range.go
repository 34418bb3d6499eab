package scaling

import (
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/simd"
)

// Range is the public interval of a numeric column, in the column's own units,
// that is mapped to [-1, 1]. Lower < Upper, both finite.
type Range struct {
	Lower, Upper float64
	Declared     bool // stated by the recipe, not released
	Exact        bool // computed from a column that is public, not released

	// Unread reports that no range was found: as far as the counts show, no cell of the column is a number.
	// Lower and Upper are then -1 and 1, and a model must ignore the column.
	Unread bool
	// Faint reports that even an unread column full of numbers might have been missed, because there are too
	// few records for the budget.
	Faint bool
	// HasMedian reports whether Median, within the range, is known: the released median of the column, or the
	// exact one of a public column.
	HasMedian bool
	Median    float64
	// Huge reports that the range was found where the search for it ends: numbers of [LargestSize]
	// or more are seen, and those of twice that or more count as twice that.
	Huge bool
	// Tiny reports that every detected number other than 0 is smaller than [SmallestSize]. The search does not
	// distinguish such numbers, so the range is far too wide for them.
	Tiny bool
	// Alike reports that nearly all numbers are in one bin of the finest histogram, away from 0. The search ends there, so
	// the range may be far too wide for them.
	Alike bool
	// TwoValues reports that nearly all numbers of a target are in two separate bins of the finest histogram, as the labels of
	// two classes are. Values are round numbers in these bins, the smaller one first.
	TwoValues bool
	Values    [2]float64
	// Numbers is the number of records with a number in the column, if it was released.
	Numbers Count
}

// A Count is a number of records with noise of standard deviation Sigma. The zero Count means that it is
// unknown.
type Count struct{ Value, Sigma float64 }

// Center returns the middle of the range.
func (r Range) Center() float64 {
	return r.Lower/2 + r.Upper/2
}

// Fill returns the value of a missing cell without a declared substitute: the median, or the middle of the
// range if the median is unknown.
func (r Range) Fill() float64 {
	if r.HasMedian {
		return r.Median
	}
	return r.Center()
}

// Half returns half the width of the range.
func (r Range) Half() float64 {
	return r.Upper/2 - r.Lower/2
}

// needsRange reports whether the column's range must be released.
func needsRange(c dataset.Column) bool {
	return c.Kind == dataset.Numeric && !c.Ranged
}

// Signed binary exponents distinguished by the first histogram: for each sign the exponents -64..63, and one
// bin for zero. Smaller and larger magnitudes are counted in the outermost bins.
const (
	minExponent  = -64
	maxExponent  = 63
	exponents    = maxExponent - minExponent + 1
	zeroBin      = exponents
	exponentBins = 2*exponents + 1
	noBin        = math.MaxUint16 // a missing value
)

// Absolute values distinguished by the first histogram: all from LargestSize up are in one bin, and all nonzero
// ones below SmallestSize in another.
const (
	LargestSize  = 1. * (1 << maxExponent)
	SmallestSize = 1. / (1 << (-minExponent - 1))
)

// exponentBin returns the bin of x, in increasing order of the values it holds.
func exponentBin(x float64) uint16 {
	b := math.Float64bits(x)
	switch size := b << 1; {
	case size > 0x7ff<<53: // not a number
		return noBin
	case size-1 < 1<<53-1: // subnormal; a branch that is never taken is free, and 0 is frequent
		b |= 1 << 52
	}
	return binOfExponent[b>>52]
}

// exponentsOf writes the bin of every value.
func exponentsOf(bins []uint16, column []float64) {
	for k := simd.Magnitudes(bins, column); k < len(column); k++ {
		bins[k] = exponentBin(column[k])
	}
}

// binOfExponent holds the bins by sign and exponent, as the bits of a float64 start.
var binOfExponent = func() (bins [1 << 12]uint16) {
	for k := range bins {
		e := min(max(k&0x7ff-1023, minExponent), maxExponent) - minExponent
		switch {
		case k&0x7ff == 0:
			bins[k] = zeroBin
		case k < 1<<11:
			bins[k] = uint16(zeroBin + 1 + e)
		default:
			bins[k] = uint16(zeroBin - 1 - e)
		}
	}
	return bins
}()

// exponentEdges returns the smallest interval of values of a bin.
func exponentEdges(bin int) (lower, upper float64) {
	switch {
	case bin == zeroBin:
		return 0, 0
	case bin > zeroBin:
		e := bin - zeroBin - 1 + minExponent
		return math.Ldexp(1, e), math.Ldexp(1, e+1)
	}
	e := zeroBin - 1 - bin + minExponent
	return -math.Ldexp(1, e+1), -math.Ldexp(1, e)
}

// linearBins writes the bin of every value among number equal bins over an
// interval; values outside count in the outermost bins.
func linearBins(bins []uint16, column []float64, in interval, number int) {
	end := float64(number)
	scale := end / (in.Upper - in.Lower)
	for k := simd.EqualBins(bins, column, in.Lower, scale, number-1); k < len(column); k++ {
		x := column[k]
		p := (x - in.Lower) * scale
		switch {
		case p > -1 && p < end: // the usual case comes first, for branch prediction
			bins[k] = uint16(int32(p))
		case x != x:
			bins[k] = noBin
		case p >= end:
			bins[k] = uint16(number - 1)
		default: // below, or no number: an interval that float64 does not resolve
			bins[k] = 0
		}
	}
}
