package scaling

import "math"

const (
	// pooledWidth is the largest number of neighbouring magnitudes that are counted
	// together where no bin of a column is seen by itself.
	pooledWidth = 4
	// pooledSums bounds the number of such sums: for each sign separately and for both.
	pooledSums = 3 * pooledWidth * exponents
	// beside is the number of standard deviations that the count of bins adjacent to a detected bin must exceed
	// for the range to include them.
	beside = 3
)

// The signs that a sum takes.
const (
	positive = 1 << iota
	negative
	bothSigns = positive | negative
)

// pooledRange finds the magnitudes of a column without a detected bin: the sum of neighbouring bins, of one
// sign or both, that is most significant. A sum of k bins has k times their variance, so it is compared with
// the square root of k times the threshold. Noise alone exceeds it with the stated probability for Gaussian
// noise, and with a smaller one for Laplace noise, whose sums have lighter tails than one draw.
//
// It uses only counts that are released in any case. Uniform numbers around 0 are detected with half of the
// records that one bin needs, those from 0 to 21 with five sixths.
func pooledRange(counts []float64, threshold float64) magnitudes {
	best := threshold
	low := 0
	high := 0
	found := 0
	for e := range exponents { // the smallest magnitude of the sum
		var sum [bothSigns + 1]float64
		for w := 1; w <= pooledWidth && e+w <= exponents; w++ {
			sum[positive] += counts[zeroBin+e+w]
			sum[negative] += counts[zeroBin-e-w]
			sum[bothSigns] = sum[positive] + sum[negative]
			for signs, n := range sum {
				bins := float64(w)
				if signs == bothSigns {
					bins *= 2
				}
				if z := n / math.Sqrt(bins); signs > 0 && z > best {
					best = z
					low = e + 1
					high = e + w
					found = signs
				}
			}
		}
	}
	out := magnitudes{
		negative: found&negative != 0,
		positive: found&positive != 0,
	}
	switch found {
	case positive:
		return detectedBetween(zeroBin+low, zeroBin+high, out)
	case negative:
		return detectedBetween(zeroBin-high, zeroBin-low, out)
	case bothSigns:
		return detectedBetween(zeroBin-high, zeroBin+high, out)
	}
	return magnitudes{
		lower:    -1,
		upper:    1,
		negative: true,
		positive: true,
		unseen:   true,
	}
}

// magnitudesAround finds the magnitudes of a column with a single detected bin. If other bins hold records, a range of
// that bin alone would exclude most records. So it adds up to three bins on each side: the nearest ones whose
// sum exceeds beside standard deviations of its noise, and then, with a new sum, those beyond them. It adds as
// many on the other side of zero if the mirrored bin exceeds the same limit. A sum of noise alone exceeds it
// with probability .0013.
func magnitudesAround(c noisyCounts, bin int) magnitudes {
	low, high := bin, bin
	for _, step := range [2]int{-1, 1} {
		sum := 0.0
		bins := 0
		for w := 1; w < pooledWidth; w++ {
			b := bin + step*w
			if b < 0 || b == zeroBin || b >= len(c.counts) {
				break
			}
			sum += c.counts[b]
			bins++
			if sum > beside*c.sigma*math.Sqrt(float64(bins)) {
				low, high = min(low, b), max(high, b)
				sum = 0
				bins = 0
			}
		}
	}
	if zero := c.counts[zeroBin]; zero > beside*c.sigma {
		low = min(low, zeroBin)
		high = max(high, zeroBin)
	}
	if c.counts[2*zeroBin-bin] > beside*c.sigma { // as far on the other side of zero
		low, high = min(low, 2*zeroBin-high), max(high, 2*zeroBin-low)
	}
	return detectedBetween(low, high, magnitudes{
		negative: low < zeroBin,
		positive: high > zeroBin,
	})
}
