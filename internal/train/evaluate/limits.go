package evaluate

import (
	"math"
	"sort"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Public edges of the bins of sizes, in half widths of the target's range: half octaves from 2^-12 to 64. Bin b
// holds the sizes above edge b-1 up to edge b; the first starts at 0, and the last is unbounded.
const (
	firstEdge = -24
	lastEdge  = 12
	sizeBins  = lastEdge - firstEdge + 2
	rangeBin  = -firstEdge     // its upper edge is 1, an end of the target's range
	widestBin = rangeBin + 2   // its upper edge is 2, the largest residual of targets in the range
	lastBin   = sizeBins - 1   // sizes beyond all edges
	halfBits  = math.Sqrt2 / 2 // half an octave, downwards
)

// upperEdge returns the upper edge of bin b, for the last one its lower edge.
func upperEdge(b int) float64 {
	k := min(b, lastBin-1) + firstEdge
	if k&1 == 0 {
		return math.Ldexp(1, k>>1)
	}
	return math.Ldexp(halfBits, (k+1)>>1)
}

// sizeBin returns the bin of a size, which is not negative.
func sizeBin(size float64) uint16 {
	return uint16(sort.Search(lastBin, func(b int) bool {
		return size <= upperEdge(b)
	}))
}

// climbBins returns the last bin, from k up to top, in which counts are significant: it proceeds by one bin as long
// as the 1, 2 or 4 bins that follow hold more than z standard deviations of their noise, sigma per bin. Windows
// end at top.
func climbBins(counts []float64, sigma float64, k int, z float64, top int) int {
	for k < top {
		seen := false
		for w := 1; w <= 4; w *= 2 {
			last := min(k+w, top)
			seen = seen || sumOf(counts[k+1:last+1]) > z*sigma*math.Sqrt(float64(w))
		}
		if !seen {
			break
		}
		k++
	}
	return k
}

func sumOf(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}

// The thresholds at which counts are seen, in standard deviations of their noise. With Laplace noise they are the numbers of
// deviations that a single count exceeds by chance as rarely. If noise is mistaken for distant
// counts, the limit moves by octaves and the sums become useless. Residuals beyond their limit are counted again, with
// less noise, in the nodes of release 2.
const (
	targetSeen   = 3. // for the limit of targets
	residualSeen = 4. // for the limit of residuals
	scaleSeen    = 2. // for the bins from which a scale is read
	fullestSeen  = 3. // for the bins around the fullest one: if they hold only noise, the scale is unknown
)

// The rules by which the limits are chosen.
const (
	// noiseOfLuck is the largest standard deviation that the noise of a sum of squares may have, in
	// units of that of the sampling error, where errors are normal.
	noiseOfLuck = .75
	// leastScales is the smallest limit of residuals, in scales of their distribution.
	leastScales = 2.5
	// leastTargetScales is the smallest limit of targets within their range, in scales of theirs.
	leastTargetScales = 2.8
	// totalNoise is the largest relative noise of the sum of squares of targets that keeps
	// their limit at the end of the range.
	totalNoise = .07
	// fewestRecords is the smallest number of records for which limits are chosen.
	fewestRecords = 10.
	// If the scale of residuals exceeds someSignal times that of targets, R² is small; from noSignal on, the
	// limits are those for a model without signal.
	someSignal = .7
	noSignal   = .9
)

// limits are where targets, predictions and residuals are cut, in half widths of the
// target's range: public numbers, read from released sizes.
type limits struct {
	target   float64 // of targets and predictions: the end of the range, beyond it, or below it
	residual float64 // of residuals; at most top
	// noSignal, in [0, 1], is how close the model is to one without signal: 0 from R² of about .5 on, 1 below .2.
	noSignal float64
	// unexplained is the square of the scale of residuals in units of that of targets: about 1 - R².
	unexplained float64
	// seen reports whether both scales were read from counts that are significant. If not, noise chose the limits,
	// and errors and targets beyond them are unknown.
	seen bool
}

// ratio returns about the sum of squares of residuals, in units of their limit, divided by that of targets in units of theirs.
func (l limits) ratio() float64 {
	return l.unexplained * square(l.target/l.residual)
}

// largestResidual returns the largest residual of a target and a prediction that are cut at their limits:
// predictions are within the range, too.
func (l limits) largestResidual() float64 {
	return l.target + min(l.target, 1)
}

// residualNodes returns the levels of residuals beyond their limit.
func (l limits) residualNodes() mechanism.Nodes {
	return mechanism.Nodes{Top: l.largestResidual() / l.residual}
}

// readLimits chooses the limits from the sizes of release 1. cellNoise is the standard deviation of the noise
// of a cell of weight 1 in release 2.
//
// The limit of targets is the end of their range, or larger if targets are detected beyond it. If none are
// detected, and the range is so wide that the noise of the sum of squares would exceed totalNoise of it, the
// limit is within the range.
//
// The limit of residuals balances noise and sampling error of their sum of squares: with normal errors of scale
// sigma, the sum of n terms r^4 is 3 n sigma^4, the variance of the sampling error, and the variance of the
// noise is cellNoise^2 C^4. So C = kappa sigma makes the noise noiseOfLuck times the sampling error. The limit
// is larger if residuals are detected beyond it.
//
// Near R² = 0, residuals and targets are nearly equal: their sampling errors cancel in the ratio, and so do the
// parts beyond the limits, but the noise does not. So both limits decrease to leastScales there.
func readLimits(s mechanism.Sizes, cellNoise float64) limits {
	records := max(sumOf(s.First), fewestRecords)
	kappa := max(math.Pow(3*records*square(noiseOfLuck/cellNoise), .25), leastScales)
	threshold := func(z float64) float64 {
		if s.Laplace {
			return laplaceBound(z)
		}
		return z
	}
	targetBin := climbBins(s.Second, s.SecondNoise, rangeBin, threshold(targetSeen), lastBin)
	residual := normalScale(s.First, threshold(scaleSeen)*s.FirstNoise, lastBin)
	target := normalScale(s.Second, threshold(scaleSeen)*s.SecondNoise, targetBin)
	z := threshold(fullestSeen)
	l := limits{
		target:      upperEdge(targetBin),
		unexplained: square(residual / target),
		seen:        showsScale(s.First, z*s.FirstNoise, lastBin) && showsScale(s.Second, z*s.SecondNoise, targetBin),
	}
	l.noSignal = min(max((residual/target-someSignal)/(noSignal-someSignal), 0), 1)
	lowered := func(scales float64) float64 {
		return scales + l.noSignal*(leastScales-scales)
	}
	if targetBin == rangeBin {
		l.target = min(1,
			target*lowered(max(kappa, math.Sqrt(totalNoise*records/cellNoise), leastTargetScales)))
	}
	seen := climbBins(s.First, s.FirstNoise, int(sizeBin(residual)), threshold(residualSeen), lastBin)
	l.residual = min(max(residual*lowered(kappa), upperEdge(seen)), l.largestResidual())
	return l
}

// scaleQuantile is the quantile of sizes from which their scale is read, and normalQuantile
// that of the size of a standard normal variable at the same level.
const (
	scaleQuantile  = .8
	normalQuantile = 1.2815516
)

// normalScale returns the standard deviation of the normal distribution whose sizes have the same .8 quantile as the
// noisy counts of bins up to last. Only the bins around the fullest one are used, as far as counts are significant: the count of
// a window of w bins is above seen √w.
func normalScale(counts []float64, seen float64, last int) float64 {
	fullest := fullestBin(counts, last)
	first := max(fullest-8, 0)
	end := min(climbBins(counts, seen, fullest, 1, last)+1, last)
	whole := 0.
	for _, n := range counts[first : end+1] {
		whole += max(n, 0)
	}
	below := 0.
	for b := first; ; b++ {
		n := max(counts[b], 0)
		if b == end && n == 0 {
			return upperEdge(end) / normalQuantile
		}
		if b == end || n > 0 && below+n >= scaleQuantile*whole {
			return quantileWithin(b, (scaleQuantile*whole-below)/n) / normalQuantile
		}
		below += n
	}
}

// fullestBin returns the bin up to last with the largest noisy count, for sizes that cannot exceed the range of the target.
func fullestBin(counts []float64, last int) int {
	fullest := 0
	for b, n := range counts[:min(widestBin, last)+1] {
		if n > counts[fullest] {
			fullest = b
		}
	}
	return fullest
}

// showsScale reports whether one of the windows of 1, 2, 4 or 8 bins that contain the fullest one holds more than
// seen √w, w its number of bins. Without sizes in the bins up to last this is rare: the fullest bin is then that with the
// largest noise.
func showsScale(counts []float64, seen float64, last int) bool {
	fullest := fullestBin(counts, last)
	for w := 1; w <= 8; w *= 2 {
		for first := max(fullest-w+1, 0); first <= min(fullest, last+1-w); first++ {
			if sumOf(counts[first:first+w]) > seen*math.Sqrt(float64(w)) {
				return true
			}
		}
	}
	return false
}

// quantileWithin returns the quantile part of the sizes in a bin, assuming a density proportional to 1/size.
func quantileWithin(b int, part float64) float64 {
	return upperEdge(b) * math.Exp2((part-1)/2)
}

// countBeyond returns the noisy number of targets beyond the limit and the standard
// deviation of its noise. Targets in the same bin as the limit are left out.
func (l limits) countBeyond(s mechanism.Sizes) (count, noise float64) {
	first := min(int(sizeBin(l.target))+1, lastBin)
	return sumOf(s.Second[first:]), s.SecondNoise * math.Sqrt(float64(sizeBins-first))
}
