package scaling

import (
	"math"
	"slices"
	"testing"
)

// pooledCounts puts numbers into the bins of a histogram, scaled to a total.
func pooledCounts(x []float64, total float64) []float64 {
	counts := make([]float64, exponentBins)
	for _, v := range x {
		counts[exponentBin(v)] += total / float64(len(x))
	}
	return counts
}

// TestPooledRange checks that columns too faint for a single bin are detected by pooling neighbouring bins, with the
// right signs and a range that contains them, and that neither a column of half the strength nor noise is detected.
func TestPooledRange(t *testing.T) {
	const threshold = 5 // standard deviations of 1
	for _, c := range []struct {
		lower, upper float64 // of the numbers
		records      float64
		low, high    float64 // of the range
	}{
		{-1.5, 1.5, 16, -2, 2},
		{0, 21, 11.5, 2, 32},
		{-21, 0, 11.5, -32, -2},
		{.1, .8, 10, .0625, 1},
		{-900, 900, 15, -1024, 1024},
	} {
		x := rampValues(4000, c.lower, c.upper)
		single := pooledCounts(x, c.records)
		for b, n := range single {
			if n > threshold {
				t.Errorf(
					"[%v, %v]: bin %d has %v, so nothing is shown",
					c.lower,
					c.upper,
					b,
					n,
				)
			}
		}
		got := exponentRange(noisyCounts{single, 1}, threshold, threshold, featureReading)
		if got.unseen ||
			got.negative != (c.lower < 0) ||
			got.positive != (c.upper > 0) {
			t.Errorf(
				"[%v, %v]: %+v",
				c.lower, c.upper, got,
			)
		}
		if got.lower < c.low ||
			got.upper > c.high ||
			got.upper-got.lower < .5*(c.upper-c.lower) {
			t.Errorf(
				"[%v, %v]: range [%v, %v]",
				c.lower, c.upper, got.lower,
				got.upper,
			)
		}
		got = exponentRange(
			noisyCounts{pooledCounts(x, c.records/2), 1},
			threshold,
			threshold,
			featureReading,
		)
		if !got.unseen {
			t.Errorf(
				"[%v, %v], faint: %+v",
				c.lower, c.upper, got,
			)
		}
	}
}

// TestPooledSums checks that the search compares at most pooledSums sums of k bins, that their standard deviation is
// the root of k, and that the union bound of the threshold holds.
func TestPooledSums(t *testing.T) {
	sums := 0
	for e := range exponents {
		sums += 3 * min(pooledWidth, exponents-e)
	}
	if sums > pooledSums {
		t.Errorf("%d sums, %d allowed for", sums, pooledSums)
	}
	counts := make([]float64, exponentBins)
	for b := range counts {
		counts[b] = 1
	}
	// Eight ones have a sum of 8, 2.83 standard deviations, and no sum has more.
	top := 8 / math.Sqrt(8)
	if got := pooledRange(counts, top*1.001); !got.unseen {
		t.Errorf("above every sum: %+v", got)
	}
	got := pooledRange(counts, top*.999)
	if got.unseen || !got.negative || !got.positive {
		t.Errorf("below the largest sum: %+v", got)
	}
}

// TestSingleBinRangeHasNeighbours checks that a target with a single visible bin has a range that contains the
// neighbouring bins, on either side and of either sign, where these are unlikely to be empty, and that the range of a
// feature is that bin.
func TestSingleBinRangeHasNeighbours(t *testing.T) {
	const threshold = 10
	bin := int(exponentBin(3))
	for _, c := range []struct {
		counts       map[int]float64 // by the distance from the bin of 2 to 4
		lower, upper float64
	}{
		{map[int]float64{0: 11}, 2, 4},
		{
			map[int]float64{
				0:  11,
				1:  2.9,
				-1: 2.9,
			},
			2, 4,
		},
		{map[int]float64{0: 11, 1: 3.1}, 2, 8},
		{map[int]float64{0: 11, -1: 2.5, -2: 2.5}, .5, 4}, // 5 is above 3 sqrt 2
		{map[int]float64{0: 11, 3: 9}, 2, 32},
		{map[int]float64{0: 11, 4: 9}, 2, 4},
		{
			map[int]float64{
				0:                   11,
				1:                   4,
				2 * (zeroBin - bin): 4,
			},
			-8, 8,
		},
	} {
		counts := make([]float64, exponentBins)
		for d, n := range c.counts {
			counts[bin+d] = n
		}
		got := exponentRange(noisyCounts{counts, 1}, threshold, threshold, targetReading)
		if got.lower != c.lower ||
			got.upper != c.upper ||
			got.negative != (c.lower < 0) ||
			!got.positive {
			t.Errorf("%v: %+v", c.counts, got)
		}
		got = exponentRange(
			noisyCounts{counts, 1},
			threshold,
			threshold,
			featureReading,
		)
		if got.lower != 2 || got.upper != 4 {
			t.Errorf(
				"%v, a feature: %+v",
				c.counts, got,
			)
		}
		slices.Reverse(counts)
		got = exponentRange(
			noisyCounts{counts, 1},
			threshold,
			threshold,
			targetReading,
		)
		if got.lower != -c.upper || got.upper != -c.lower {
			t.Errorf(
				"%v, negative: %+v",
				c.counts, got,
			)
		}
	}
}
