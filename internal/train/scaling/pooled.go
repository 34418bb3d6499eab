package scaling

import "math"

const (
	// pooledWidth is the largest number of neighbouring magnitudes that are counted
	// together where no bin of a column is seen by itself.
	pooledWidth = 4
	// pooledSums bounds the number of such sums: of each sign alone and of both.
	pooledSums = 3 * pooledWidth * exponents
	// beside is how many standard deviations the count of bins beside the one that is
	// seen must exceed so that the range holds them too.
	beside = 3
)

// The signs that a sum takes.
const (
	positive = 1 << iota
	negative
	bothSigns = positive | negative
)

// pooledRange reads the magnitudes of a column of which no bin is seen: the sum of
// neighbouring bins, of one sign or both, that is farthest above its noise. A sum of k
// bins has k times their variance, so it is compared with the root of k times the
// threshold. That noise alone passes has the stated probability for Gaussian noise, and
// a smaller one for Laplace noise, whose sums have lighter tails than one draw.
//
// All is read from counts that are released anyhow. Uniform numbers around 0 are seen with
// half of the records that one bin needs, those from 0 to 21 with five sixths.
func pooledRange(counts []float64, threshold float64) coarse {
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
	out := coarse{negative: found&negative != 0, positive: found&positive != 0}
	switch found {
	case positive:
		return between(zeroBin+low, zeroBin+high, out)
	case negative:
		return between(zeroBin-high, zeroBin-low, out)
	case bothSigns:
		return between(zeroBin-high, zeroBin+high, out)
	}
	return coarse{lower: -1, upper: 1, negative: true, positive: true, unseen: true}
}

// around reads the magnitudes of a column of which one bin is seen. Where others hold
// records, a range of that bin alone would cut off most of them. So it takes in up to three
// bins on each side: the nearest so many whose sum is above beside standard deviations of its noise,
// and then, with a new sum, those beyond them. It takes in as much of the other side of zero where the
// mirrored bin is above as many. A sum of noise alone passes with probability .0013.
func around(c noisyCounts, bin int) coarse {
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
		low, high = min(low, zeroBin), max(high, zeroBin)
	}
	if c.counts[2*zeroBin-bin] > beside*c.sigma { // as far on the other side of zero
		low, high = min(low, 2*zeroBin-high), max(high, 2*zeroBin-low)
	}
	return between(low, high, coarse{negative: low < zeroBin, positive: high > zeroBin})
}
