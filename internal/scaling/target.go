package scaling

import "math"

// targetZoom says how the second zoom counts the target and how its range is read from that.
type targetZoom struct {
	within interval
	bins   int
	seen   float64 // about how many records the interval holds, at least
	narrow bool    // see [narrowRange]
	wider  bool    // than the magnitudes that were seen; see [coarse.widenToHidden]
}

// zoom reads from the counts of the first zoom how the second one counts the target.
func (r coarse) zoom(c noisyCounts) targetZoom {
	whole := interval{r.lower, r.upper}
	z := targetZoom{bins: Bins, seen: r.recordsAtLeast()}
	if wide, hidden := r.widenToHidden(c); hidden > 0 {
		z.within, z.wider = wide, true
		z.seen += hidden
		for z.bins < mostBins && float64(z.bins)*(whole.Upper-whole.Lower) < Bins*(wide.Upper-wide.Lower) {
			z.bins *= 2 // as fine as the first zoom
		}
		return z
	}
	in, narrow := narrowRange(c, whole, targetReading.outer, z.seen)
	if z.narrow = narrow; narrow {
		z.bins = zoomBins(c, whole, in)
	} else {
		in = quantiles(c.counts, whole, targetReading.outer)
	}
	z.within = zoomInto(in, whole)
	return z
}

// read reads the range of the target from the counts of the second zoom.
func (z targetZoom) read(c noisyCounts, rough coarse) Range {
	in := quantiles(c.counts, z.within, targetReading.outer)
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
	return keepSign(widen(in, targetReading.widen), rough)
}

// recordsAtLeast returns a number of records that is likely not to be more than the magnitudes
// hold: the sum of their counts, less its doubt. Magnitudes far below the largest hold next to none,
// and much noise, so they are left out.
func (r coarse) recordsAtLeast() float64 {
	largest := max(r.high-zeroBin, zeroBin-r.low)
	sum, bins := 0., 0
	for b := r.low; b <= r.high; b++ {
		if size := max(b-zeroBin, zeroBin-b); size == 0 || size > largest-smallMagnitudes {
			sum += r.magnitudes.counts[b]
			bins++
		}
	}
	return max(0, sum-doubt*r.magnitudes.sigma*math.Sqrt(float64(bins)))
}
