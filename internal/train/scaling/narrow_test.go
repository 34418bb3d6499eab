package scaling

import (
	"math"
	"testing"
)

// sineCounts returns counts that imitate noise of standard deviation 10, with records added to some bins.
func sineCounts(bins int, added map[int]float64) noisyCounts {
	c := noisyCounts{make([]float64, bins), 10}
	for b := range c.counts {
		c.counts[b] = 10*math.Sin(1.7*float64(b)+.3) + added[b]
	}
	return c
}

// TestScanRange reproduces the specification.
func TestScanRange(t *testing.T) {
	peak := map[int]float64{
		20: 400,
		21: 900,
		22: 300,
	}
	for _, c := range []struct {
		bins         int
		whole        interval
		added        map[int]float64
		seen         float64
		lower, upper float64
	}{
		{32, interval{.5, 2}, peak, 1500, 1.441209129, 1.573148154},
		{256, interval{.5, 2}, peak, 1500, .617651141, .634143519},
		{32, interval{.5, 2}, nil, 0, .5, 2},
		{
			32, interval{256, 512},
			map[int]float64{7: 1000},
			1000, 312.16, 319.84,
		},
	} {
		got := scanRange(
			sineCounts(c.bins, c.added),
			c.whole, .02, c.seen,
		)
		if math.Abs(got.Lower-c.lower) > 5e-10 ||
			math.Abs(got.Upper-c.upper) > 5e-10 {
			t.Errorf(
				"%d bins of %v: [%.9f, %.9f], want [%.9f, %.9f]",
				c.bins,
				c.whole,
				got.Lower,
				got.Upper,
				c.lower,
				c.upper,
			)
		}
	}
}
