package scaling

import "math"

// targetZoom holds the settings of the second zoom of the target and of computing its range.
type targetZoom struct {
	within interval
	bins   int
	seen   float64 // minimum of the approximate number of records in the interval
	narrow bool    // see [narrowRange]
	wider  bool    // than the magnitudes that were seen; see [coarse.widenToHidden]
}

// zoomTarget reads from the counts of the first zoom how the second one counts the target.
func (r magnitudes) zoomTarget(c noisyCounts) targetZoom {
	whole := interval{r.lower, r.upper}
	z := targetZoom{bins: Bins, seen: r.recordsAtLeast()}
	if wide, hidden := r.widenToHidden(c); hidden > 0 {
		z.within = wide
		z.wider = true
		z.seen += hidden
		for z.bins < mostBins &&
			float64(z.bins)*(whole.Upper-whole.Lower) < Bins*(wide.Upper-wide.Lower) {
			z.bins *= 2 // as fine as the first zoom
		}
		return z
	}
	in, narrow := narrowRange(c, whole, targetReading.outer, z.seen)
	// Zeros far from all other values affect R² more than a narrow range.
	zeros := r.magnitudes.counts[zeroBin] > beside*r.magnitudes.sigma
	if z.narrow = narrow && !zeros; z.narrow {
		z.bins = zoomBins(c, whole, in)
	} else {
		in = signedQuantiles(c, whole, targetReading.outer)
	}
	z.within = zoomInto(in, whole)
	return z
}

// readRange reads the range of the target from the counts of the second zoom.
func (z targetZoom) readRange(c noisyCounts, rough magnitudes) Range {
	in := signedQuantiles(c, z.within, targetReading.outer)
	switch {
	case z.narrow:
		in = scanRange(c, z.within, targetReading.outer, z.seen)
	case z.wider:
		if scanned, ok := narrowRange(c, z.within, targetReading.outer, z.seen); ok {
			in = scanned
		}
	}
	if z.wider {
		rough.negative = rough.negative || z.within.Lower < 0
		rough.positive = rough.positive || z.within.Upper > 0
	}
	return keepSign(widenInterval(in, targetReading.widen), rough)
}

// recordsAtLeast returns a likely lower bound on the number of records in the magnitudes: the sum of their
// counts, minus its uncertainty. Magnitudes far below the largest hold hardly any records and add noise, so
// they are left out.
func (r magnitudes) recordsAtLeast() float64 {
	largest := max(r.high-zeroBin, zeroBin-r.low)
	sum := 0.
	bins := 0
	for b := r.low; b <= r.high; b++ {
		if size := max(b-zeroBin, zeroBin-b); size == 0 || size > largest-smallMagnitudes {
			sum += r.magnitudes.counts[b]
			bins++
		}
	}
	return max(0, sum-doubt*r.magnitudes.sigma*math.Sqrt(float64(bins)))
}

// signedDeviations is the number of standard deviations of its noise that the sum of the counts beyond an outer
// quantile must reach.
const signedDeviations = 1.5

// signedQuantiles is [outerQuantiles] for signed counts, so that the noise of empty bins cancels instead of adding
// up to records that do not exist. From either end, the quantile is in the first bin where the running sum
// exceeds both the share outer of the total and its own noise. If the counts are hardly more than noise, it
// computes the same as quantiles.
func signedQuantiles(c noisyCounts, whole interval, outer float64) interval {
	total, noise := c.totalCount()
	if !(total > 4*noise) {
		return outerQuantiles(c.counts, whole, outer)
	}
	at := func(counts []float64) float64 {
		sum := 0.
		for b, n := range counts {
			if sum+n > max(outer*total, signedDeviations*c.sigma*math.Sqrt(float64(b+1))) {
				return float64(b) + min(max((outer*total-sum)/n, 0), 1)
			}
			sum += n
		}
		return float64(len(counts))
	}
	width := (whole.Upper - whole.Lower) / float64(len(c.counts))
	in := interval{whole.Lower + float64(width*at(c.counts)),
		whole.Upper - float64(width*at(reverseCopy(c.counts)))} // conversions forbid fusing
	if !(in.Upper-in.Lower >= 1e-3*(whole.Upper-whole.Lower)) {
		return outerQuantiles(c.counts, whole, outer)
	}
	return in
}
