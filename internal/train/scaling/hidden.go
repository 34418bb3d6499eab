package scaling

import "math"

// The outermost bins of the first zoom also count the records beyond the detected magnitudes. With few records
// relative to the noise, these may be half of all records: magnitudes are detected one by one, and a bin of the
// first histogram below its threshold is ignored. A large outermost bin is a clearer sign of such records than
// the magnitudes themselves. The second zoom of the target then extends as far as the magnitudes next to those
// detected suggest. Everything in this file is post-processing of released counts.
const (
	// hiddenDeviations is the minimum excess of an outermost bin over its neighbour, in standard deviations of
	// its noise, and hiddenShare the minimum excess as a share of all records.
	hiddenDeviations = 3
	hiddenShare      = .1
	// hiddenMagnitudes is the number of magnitudes beyond those seen in which larger records
	// are looked for, smallMagnitudes that of smaller ones.
	hiddenMagnitudes = 3
	smallMagnitudes  = 8
	// farDeviations is the number of standard deviations by which magnitudes must exceed the noise if all of
	// them are possible, because only 0 was detected.
	farDeviations = 4.5
)

// widenToHidden returns the interval of the first zoom, with counts c, extended if records are likely to be
// hidden beyond an outermost bin, and the approximate number of these records: 0 if the interval is unchanged.
func (r magnitudes) widenToHidden(c noisyCounts) (interval, float64) {
	whole := interval{r.lower, r.upper}
	last := len(c.counts) - 1
	total := c.cumulativeSums()[last+1]
	width := (whole.Upper - whole.Lower) / float64(last+1)
	excess := func(edge, neighbour int, lower float64) float64 {
		more := c.counts[edge] - max(r.expectedRecords(lower, lower+width), c.counts[neighbour])
		if more > hiddenDeviations*math.Sqrt2*c.sigma && more > hiddenShare*total {
			return more
		}
		return 0
	}
	below := excess(0, 1, whole.Lower)
	above := excess(last, last-1, whole.Upper-width)
	out := whole
	hidden := 0.
	if end, ok := r.hiddenEnd(above); ok && end > whole.Upper {
		out.Upper = end
		hidden += above
	}
	if end, ok := r.mirrorMagnitudes().hiddenEnd(below); ok && -end < whole.Lower {
		out.Lower = -end
		hidden += below
	}
	return out, hidden
}

// expectedRecords returns the number of records that the counts of the magnitudes suggest for an interval within them,
// assuming that the records of a magnitude are spread evenly over it.
func (r magnitudes) expectedRecords(lower, upper float64) float64 {
	sum := 0.
	for b := r.low; b <= r.high; b++ {
		from, to := exponentEdges(b)
		if n := r.magnitudes.counts[b]; b == zeroBin && lower <= 0 && upper > 0 {
			sum += n
		} else if share := min(upper, to) - max(lower, from); share > 0 {
			sum += share / (to - from) * max(n, 0)
		}
	}
	return sum
}

// hiddenEnd returns the upper end of the records above the detected magnitudes, about excess in
// number, and reports whether the magnitudes there show approximately that many.
func (r magnitudes) hiddenEnd(excess float64) (float64, bool) {
	if !(excess > 0) {
		return 0, false
	}
	counts := r.magnitudes.counts
	switch {
	case r.upper <= 0: // smaller negative numbers, 0 or positive ones
		top := 2*zeroBin - r.low
		positive := sumOf(counts, top-smallMagnitudes+1, top)
		small := sumOf(counts, r.high+1, min(r.high+smallMagnitudes, zeroBin-1)) + counts[zeroBin]
		if positive > excess/2 {
			return -r.lower, true
		}
		return 0, small+positive > excess/2
	case r.high > zeroBin || r.low < zeroBin:
		b, ok := hiddenMagnitude(r.magnitudes, r.high, excess)
		_, upper := exponentEdges(b)
		return upper, ok
	}
	// Nothing but 0 was seen, and the interval is [-1, 1].
	one := zeroBin - minExponent
	if b, ok := hiddenMagnitude(r.magnitudes, one, excess); ok {
		_, upper := exponentEdges(b)
		return upper, true
	}
	b, ok := farMagnitude(r.magnitudes, one+1, excess)
	_, upper := exponentEdges(b)
	return upper, ok
}

// hiddenMagnitude returns the largest of the next hiddenMagnitudes bins above one that may hold
// records, and reports whether these bins show about excess records.
func hiddenMagnitude(
	c noisyCounts,
	bin int,
	excess float64,
) (largest int, ok bool) {
	top := min(bin+hiddenMagnitudes, len(c.counts)-1)
	largest = min(bin+1, top)
	for b := bin + 1; b <= top; b++ {
		if c.counts[b] > 1.5*c.sigma {
			largest = b
		}
	}
	return largest, sumOf(c.counts, bin+1, top) > excess/2
}

// farMagnitude returns the largest bin of the run of up to pooledWidth bins from first on whose sum
// is farthest above its noise, and reports whether that is clear of it and shows about excess
// records.
func farMagnitude(
	c noisyCounts,
	first int,
	excess float64,
) (largest int, ok bool) {
	best := farDeviations * c.sigma
	for low := first; low < len(c.counts); low++ {
		sum := 0.
		for b := low; b < min(low+pooledWidth, len(c.counts)); b++ {
			sum += c.counts[b]
			if z := sum / math.Sqrt(float64(b-low+1)); z > best && sum > excess/2 {
				best = z
				largest = b
				ok = true
			}
		}
	}
	return largest, ok
}

// sumOf returns the sum of the counts from first to last, ignoring indices out of range.
func sumOf(counts []float64, first, last int) float64 {
	sum := 0.
	for b := max(first, 0); b <= min(last, len(counts)-1); b++ {
		sum += counts[b]
	}
	return sum
}

// mirrorMagnitudes returns r of the negated numbers.
func (r magnitudes) mirrorMagnitudes() magnitudes {
	out := r
	out.lower = -r.upper
	out.upper = -r.lower
	out.low = 2*zeroBin - r.high
	out.high = 2*zeroBin - r.low
	out.negative = r.positive
	out.positive = r.negative
	out.magnitudes.counts = reverseCopy(r.magnitudes.counts)
	return out
}

// reverseCopy returns a copy of a list in reverse order.
func reverseCopy(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[len(x)-1-i] = v
	}
	return out
}
