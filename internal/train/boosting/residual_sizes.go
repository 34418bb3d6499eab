package boosting

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Residuals are counted by size, or by sign and size. Sizes are counted in sizeBins bins of a quarter of a power of
// two each, from 2^-9 to 2; smaller and larger sizes are counted in the outermost bins. With signs, the first
// sizeBins counts are those of the residuals below 0, the others those of the residuals of at least 0.
const (
	sizeBins    = 40
	signedBins  = 2 * sizeBins
	leastSize   = -9
	sizeQuarter = 4
)

// residualCounts selects the counts of the residuals that a pass makes.
type residualCounts int

const (
	noCounts residualCounts = iota
	countsBySize
	countsBySignAndSize
)

// sizeBin returns the bin of the size of a residual.
func sizeBin(residual float64) int {
	// The exponent and the first two bits of the fraction.
	k := int64(math.Float64bits(math.Abs(residual))>>50) - (1023+leastSize)*sizeQuarter
	return int(min(max(k, 0), sizeBins-1))
}

// signedBin returns the bin of a residual in counts by sign and size.
func signedBin(residual float64) int {
	if residual < 0 {
		return sizeBin(residual)
	}
	return sizeBins + sizeBin(residual)
}

// sizeEdge returns the largest size of a bin.
func sizeEdge(bin int) float64 {
	return math.Ldexp(1+float64(bin%sizeQuarter+1)/sizeQuarter, leastSize+bin/sizeQuarter)
}

// sizeMiddle returns the size in the middle of a bin.
func sizeMiddle(bin int) float64 {
	if bin == 0 {
		return sizeEdge(0) / 2
	}
	return (sizeEdge(bin-1) + sizeEdge(bin)) / 2
}

// residualHistogram counts records by their residual. A record is in one bin, so one count moves by 1 when a record is
// added or removed.
type residualHistogram struct {
	hist *mechanism.Histogram
	bin  func(residual float64) int
	bins []uint16
}

// newResidualHistogram returns nil for noCounts.
func newResidualHistogram(
	m mechanism.Maker,
	counts residualCounts,
) *residualHistogram {
	switch counts {
	case countsBySize:
		return &residualHistogram{
			hist: m.NewHistogram([]int{1}, sizeBins),
			bin:  sizeBin,
		}
	case countsBySignAndSize:
		return &residualHistogram{
			hist: m.NewHistogram([]int{1}, signedBins),
			bin:  signedBin,
		}
	default:
		return nil
	}
}

func (h *residualHistogram) add(residuals []float64) {
	h.bins = h.bins[:0]
	for _, residual := range residuals {
		h.bins = append(h.bins, uint16(h.bin(residual)))
	}
	h.hist.Add([][]uint16{h.bins})
}

func (h *residualHistogram) cells() mechanism.Cells {
	if h == nil {
		return mechanism.Cells{}
	}
	return h.hist.Cells()
}

// A clamp limits residuals to [-limit, limit].
type clamp struct {
	limit float64
	// slope is the expected derivative of a clamped residual: the share of the residuals within the limit. Sums of
	// clamped residuals are divided by it.
	slope float64
}

// noClamp is the clamp without any information: residuals are at most 2, and those beyond 1 are rare.
var noClamp = clamp{limit: 1, slope: 1}

// leastClamp is the smallest limit of a clamp.
const leastClamp = 0x1p-6

// quantileClamp returns the clamp at the quantile clipQuantile of the sizes, from released counts. Its slope is 1.
func quantileClamp(bySize []float64) clamp {
	total := 0.0
	for _, n := range bySize {
		total += max(n, 0)
	}
	held := 0.0
	for bin, n := range bySize {
		if held += max(n, 0); held >= clipQuantile*total && total > 0 {
			return clamp{
				limit: min(max(sizeEdge(bin), leastClamp), 1),
				slope: 1,
			}
		}
	}
	return noClamp
}

// Constants of balancedClamp. They were chosen on kin8nm, cpu_act, houses and wine_quality and confirmed on six
// other tables; see docs/proofs/boosted-kernel.md, "The clamp".
const (
	// hiddenShare is the share of the excess beyond the limit whose sign may differ between regions of the table, in
	// which sums of clamped residuals then estimate another value than the mean.
	hiddenShare = .5
	// leastSlope bounds the overshoot of a step in regions where all residuals are within the limit, to the factor
	// 1/leastSlope. With .35 some runs diverged.
	leastSlope = .6
	// The noise of a clamp C is weighted as clampNoise C/slope if the number of records times mu is clampStrength, and
	// in inverse proportion to that number otherwise, down to the factor leastNoise.
	clampNoise    = .1
	clampStrength = 2700
	leastNoise    = .4
)

// balancedClamp returns the clamp that balances the bias of clamping against noise, from released counts by sign and
// size; strength is the number of records times mu. It is post-processing.
//
// With p the share of the residuals within C, a sum of clamped residuals changes by p if the residuals change by 1,
// so the signal per unit of noise is p/C: for a normal distribution of deviation s, .547/s at the quantile .9 and .71/s
// at .6. The excess beyond C causes a bias. The bias between positive and negative residuals is known, the difference
// of the two sums beyond C; the bias between regions is not, and is taken to be hiddenShare of their sum.
func balancedClamp(bySign []float64, strength float64) clamp {
	share := make([]float64, sizeBins)
	difference := make([]float64, sizeBins)
	total := 0.0
	for b := range share {
		share[b] = max(bySign[b]+bySign[sizeBins+b], 0)
		difference[b] = bySign[sizeBins+b] - bySign[b]
		total += share[b]
	}
	if !(total > 0) {
		return noClamp
	}
	noise := clampNoise * max(leastNoise, clampStrength/strength)
	best := math.Inf(1)
	chosen := noClamp
	slope := 0.0
	for bin := range share {
		slope += share[bin] / total
		limit := sizeEdge(bin)
		if slope < leastSlope || limit < leastClamp {
			continue
		}
		if limit > 1 {
			break
		}
		hidden := 0.0
		uneven := 0.0
		for b := range share {
			beyond := max(sizeMiddle(b)-limit, 0)
			hidden += share[b] / total * beyond
			uneven += difference[b] / total * beyond
		}
		bias := max(hiddenShare*hidden, math.Abs(uneven))
		if cost := square(bias) + square(noise*limit/slope); cost < best {
			best = cost
			chosen = clamp{
				limit: limit,
				slope: min(slope, 1),
			}
		}
	}
	return chosen
}

// chooseClamp returns the clamp of an epoch from the released counts of its residuals.
func (b *booster) chooseClamp(counts []float64) clamp {
	if len(counts) == signedBins {
		return balancedClamp(counts, b.total*b.mu)
	}
	return quantileClamp(counts)
}

// unbiased returns sums of clamped residuals, and the standard deviation of their noise, divided by the slope.
func (c clamp) unbiased(
	sums []float64,
	sigma float64,
) (scaled []float64, scaledSigma float64) {
	if c.slope == 1 {
		return sums, sigma
	}
	scaled = make([]float64, len(sums))
	for i, x := range sums {
		scaled[i] = x / c.slope
	}
	return scaled, sigma / c.slope
}
