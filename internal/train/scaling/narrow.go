package scaling

import "math"

// A narrow target occupies a small part of the magnitudes in which it is detected: values from .95 to 1, years,
// temperatures in Kelvin, times in seconds. Noise in the many empty bins around it would make a range computed
// by [outerQuantiles] far too wide, and 32 bins in two zooms do not resolve it. So such a target is evaluated by
// [scanRange] and, in the second zoom, counted in more bins. Everything in this file is post-processing of
// released counts.
const (
	// narrowBins is the largest width of a narrow target, in bins.
	narrowBins = 8
	// narrowDeviations is the number of standard deviations of its noise that the window of a narrow target
	// must hold. If the noise is large, fewer do not suffice to exclude all other bins.
	narrowDeviations = 6
	// finerBins is the largest width of a target that gets more bins, in bins of the first zoom.
	finerBins = 3.5
	// mostBins is the largest number of bins of the second zoom.
	mostBins = 1024
	// zoomDeviations limits the number of bins of the second zoom: each bin contains this many standard
	// deviations if the largest bin of the first zoom is as wide as their interval. It is at least three times
	// as wide, so that a window that holds the records is still found.
	zoomDeviations = 2.5
	// The window that [scanRange] looks for holds windowShare of the records that are known of,
	// and windowDeviations standard deviations of its noise.
	windowShare      = .9
	windowDeviations = 3.5
	// nearDeviations is the number of standard deviations that a bin adjacent to a window must hold to be added
	// to it.
	nearDeviations = 2
	// extension is the probability with which noise alone extends a window.
	extension = .001
)

// narrowRange reads a range by [scanRange] from counts of equal bins. It reports whether the
// target is narrow: whether the window is clear of the noise and the range at most narrowBins
// wide and more than a bin away from 0.
func narrowRange(
	c noisyCounts,
	whole interval,
	outer, seen float64,
) (interval, bool) {
	sums := c.cumulativeSums()
	first, end, ok := bestWindow(sums, c.sigma, seen)
	if !ok || (sums[end]-sums[first]) < narrowDeviations*c.sigma*math.Sqrt(float64(end-first)) {
		return whole, false
	}
	in := scanRange(c, whole, outer, seen)
	width := (whole.Upper - whole.Lower) / float64(len(c.counts))
	return in, in.Upper-in.Lower <= narrowBins*width && (in.Lower > width || in.Upper < -width)
}

// zoomBins returns the number of bins in which the second zoom counts a narrow target whose
// range is in, read from the counts of the first zoom over whole: [Bins], or the largest power
// of two up to mostBins that the counts allow if the range is at most finerBins wide.
func zoomBins(c noisyCounts, whole, in interval) int {
	if in.Upper-in.Lower > finerBins*(whole.Upper-whole.Lower)/float64(len(c.counts)) {
		return Bins
	}
	most := 0.
	for _, n := range c.counts {
		most = max(most, n)
	}
	z := most / (zoomDeviations * c.sigma)
	number := Bins
	for number < mostBins && float64(2*number) <= z*z {
		number *= 2
	}
	return number
}

// scanRange computes outer quantiles from noisy counts of equal bins over an interval, even if most bins are
// empty. It finds the window of neighbouring bins with the most significant sum among those that hold nearly
// all of the known records (seen). It extends the window to all bins that clearly hold records, and computes
// the quantiles from the signed counts within. Without such a window it returns the whole interval.
func scanRange(c noisyCounts, whole interval, outer, seen float64) interval {
	sums := c.cumulativeSums()
	first, end, ok := bestWindow(sums, c.sigma, seen)
	if !ok {
		return whole
	}
	first, end = extendWindow(sums, c.sigma, first, end)
	lower := quantileFrom(c.counts[first:end], outer)
	upper := float64(end-first) - quantileFrom(reverseCopy(c.counts[first:end]), outer)
	if !(upper-lower >= .5) { // one bin holds nearly all
		lower = 0
		upper = float64(end - first)
	}
	width := (whole.Upper - whole.Lower) / float64(len(c.counts))
	return interval{whole.Lower + float64(width*(float64(first)+lower)),
		whole.Lower + float64(width*(float64(first)+upper))} // conversions forbid fusing
}

// cumulativeSums returns the cumulative sums of the counts: entry b is the sum of the first b counts.
func (c noisyCounts) cumulativeSums() []float64 {
	sums := make([]float64, len(c.counts)+1)
	for b, n := range c.counts {
		sums[b+1] = sums[b] + n
	}
	return sums
}

// bestWindow returns the window [first, end) with the most significant sum, for noise sigma per count, among
// those that may hold windowShare of the detected records. ok is false if there is no such window, or if its sum may
// be noise.
func bestWindow(sums []float64, sigma, seen float64) (first, end int, ok bool) {
	best := 0.
	for a := range sums {
		for b := a + 1; b < len(sums); b++ {
			sum := sums[b] - sums[a]
			root := math.Sqrt(float64(b - a))
			if z := sum / root; z > best && sum+sigma*root >= windowShare*seen {
				best = z
				first = a
				end = b
			}
		}
	}
	return first, end, best > 0 && best >= windowDeviations*sigma
}

// extendWindow adds bins that hold records to a window [first, end): on either side, repeatedly, the nearest
// bins with a significant sum, and then all bins up to the farthest run with a significant sum. A bin next to
// the window is likely to hold records and a distant one is not, so the threshold is lower for the nearest v
// bins, sqrt(nearDeviations^2 + 4 ln v) standard deviations, than for a run anywhere: noise alone exceeds the
// latter with probability extension, by a union bound over runs.
func extendWindow(
	sums []float64,
	sigma float64,
	first, end int,
) (low, high int) {
	return len(sums) - 1 - extendUp(reversedSums(sums), sigma, len(sums)-1-first),
		extendUp(sums, sigma, end)
}

// extendUp returns the new end of a window.
func extendUp(sums []float64, sigma float64, end int) int {
	last := len(sums) - 1
	for v := 1; end+v <= last; v++ {
		near := math.Sqrt(nearDeviations*nearDeviations + 4*math.Log(float64(v)))
		if sums[end+v]-sums[end] > near*sigma*math.Sqrt(float64(v)) {
			end += v
			v = 0
		}
	}
	far := math.Sqrt(2 * math.Log(float64(last)*float64(last)/(4*extension)))
	for b := last; b > end; b-- {
		for a := end; a < b; a++ {
			if sums[b]-sums[a] > far*sigma*math.Sqrt(float64(b-a)) {
				return b
			}
		}
	}
	return end
}

// reversedSums returns the cumulative sums of the counts in reverse order.
func reversedSums(sums []float64) []float64 {
	out := make([]float64, len(sums))
	last := len(sums) - 1
	for i := range out {
		out[i] = sums[last] - sums[last-i]
	}
	return out
}

// quantileFrom returns the number of bins from the first one at which the share outer of the sum of signed
// counts is exceeded, with linear interpolation within the bin.
func quantileFrom(counts []float64, outer float64) float64 {
	total := 0.
	for _, n := range counts {
		total += n
	}
	below := 0.
	for b, n := range counts {
		if below+n > outer*total {
			return float64(b) +
				min(max((outer*total-below)/max(n, math.SmallestNonzeroFloat64), 0), 1)
		}
		below += n
	}
	return 0
}
