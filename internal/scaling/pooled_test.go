package scaling

import (
	"math"
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

// TestPooledRange: columns too faint for one bin are seen by neighbouring ones together, with the
// signs they have, and a range that holds them. One less faint by half is not, and nor is noise.
func TestPooledRange(t *testing.T) {
	const threshold = 5 // standard deviations of 1
	for _, c := range []struct {
		lower, upper float64 // of the numbers
		records      float64
		low, high    float64 // of the range
	}{
		{-1.5, 1.5, 16, -2, 2}, {0, 21, 11.5, 2, 32}, {-21, 0, 11.5, -32, -2}, {.1, .8, 10, .0625, 1}, {-900, 900, 15, -1024, 1024},
	} {
		x := ramp(4000, c.lower, c.upper)
		single := pooledCounts(x, c.records)
		for b, n := range single {
			if n > threshold {
				t.Errorf("[%v, %v]: bin %d has %v, so nothing is shown", c.lower, c.upper, b, n)
			}
		}
		got := exponentRange(noisyCounts{single, 1}, threshold, threshold, .02)
		if got.unseen || got.negative != (c.lower < 0) || got.positive != (c.upper > 0) {
			t.Errorf("[%v, %v]: %+v", c.lower, c.upper, got)
		}
		if got.lower < c.low || got.upper > c.high || got.upper-got.lower < .5*(c.upper-c.lower) {
			t.Errorf("[%v, %v]: range [%v, %v]", c.lower, c.upper, got.lower, got.upper)
		}
		if got := exponentRange(noisyCounts{pooledCounts(x, c.records/2), 1}, threshold, threshold, .02); !got.unseen {
			t.Errorf("[%v, %v], faint: %+v", c.lower, c.upper, got)
		}
	}
}

// TestPooledSums: the sums of k bins that the search compares are at most pooledSums, their standard
// deviation is the root of k, and the threshold is met by hardly any: the union bound holds.
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
	if got := pooledRange(counts, top*.999); got.unseen || !got.negative || !got.positive {
		t.Errorf("below the largest sum: %+v", got)
	}
}
