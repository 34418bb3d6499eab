package boosting

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSignedBins checks that a residual falls into the bin of its sign whose edges enclose its size.
func TestSignedBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		residual := rapid.Float64Range(-2, 2).Draw(t, "residual")
		bin := signedBin(residual)
		if (bin >= sizeBins) != (residual >= 0) {
			t.Fatalf("%v is in bin %d", residual, bin)
		}
		bin %= sizeBins
		size := math.Abs(residual)
		if size > sizeEdge(bin) && bin < sizeBins-1 ||
			bin > 0 && size < sizeEdge(bin-1) {
			t.Fatalf(
				"%v is in bin %d, which ends at %v",
				size, bin, sizeEdge(bin),
			)
		}
	})
}

// countsOf returns the bin counts of residuals, given the number of records of each.
func countsOf(records map[float64]float64) []float64 {
	counts := make([]float64, signedBins)
	for residual, n := range records {
		counts[signedBin(residual)] += n
	}
	return counts
}

// bySize adds up the counts of both signs.
func bySize(bySign []float64) []float64 {
	counts := make([]float64, sizeBins)
	for b := range counts {
		counts[b] = bySign[b] + bySign[sizeBins+b]
	}
	return counts
}

// TestQuantileClamp checks that the clamp is the quantile of the sizes, and the widest clamp if there are no records.
func TestQuantileClamp(t *testing.T) {
	c := quantileClamp(bySize(countsOf(map[float64]float64{
		.1:  30,
		-.1: 50,
		-.6: 15,
		1.9: 5,
	})))
	if c.limit < .6 || c.limit > .75 || c.slope != 1 {
		t.Errorf("clamp %+v", c)
	}
	for _, counts := range [][]float64{
		make([]float64, sizeBins),
		slices.Repeat([]float64{-3}, sizeBins),
	} {
		if c := quantileClamp(counts); c != noClamp {
			t.Errorf("clamp %+v without records", c)
		}
	}
}

// TestBalancedClamp checks that the clamp is below the quantile for residuals of normal size, and above it if many
// records are far out or all outliers are on one side. Its slope is the share of records within the clamp.
func TestBalancedClamp(t *testing.T) {
	const strength = 3000
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Float64Range(-50, 500), signedBins, signedBins).Draw(
			t,
			"counts",
		)
		c := balancedClamp(counts, strength)
		if !(c.limit >= leastClamp &&
			c.limit <= 1 &&
			c.slope >= leastSlope &&
			c.slope <= 1) {
			t.Fatalf("%+v", c)
		}
	})
	normal := make(map[float64]float64)
	for z := -3.995; z < 4; z += .01 {
		normal[z*.1] = 100 * math.Exp(-z*z/2)
	}
	even := balancedClamp(countsOf(normal), strength)
	quantile := quantileClamp(bySize(countsOf(normal)))
	if !(even.limit < quantile.limit) ||
		math.Abs(even.slope-math.Erf(even.limit/.1/math.Sqrt2)) > .02 {
		t.Errorf(
			"clamp %+v of a normal distribution, whose quantile is %v",
			even,
			quantile.limit,
		)
	}
	oneSided := map[float64]float64{-.02: 9500, .9: 500}
	bothSides := map[float64]float64{
		-.02: 4750,
		.02:  4750,
		.9:   250,
		-.9:  250,
	}
	wide := balancedClamp(countsOf(oneSided), strength)
	narrow := balancedClamp(countsOf(bothSides), strength)
	if !(wide.limit >= narrow.limit &&
		wide.limit > quantileClamp(bySize(countsOf(oneSided))).limit) {
		t.Errorf(
			"clamp %+v of one side, %+v of both",
			wide, narrow,
		)
	}
	c := balancedClamp(make([]float64, signedBins), strength)
	if c != noClamp {
		t.Errorf("clamp %+v without records", c)
	}
}

// TestClampSlope moves all clamped residuals by a small amount and checks that their sum, divided by the slope, moves
// by that amount times their number.
func TestClampSlope(t *testing.T) {
	const (
		n    = 200_000
		move = .002
	)
	counts := make([]float64, signedBins)
	residual := func(i int) float64 {
		return .3 * math.Erfinv(2*(float64(i)+.5)/n-1)
	}
	for i := range n {
		counts[signedBin(residual(i))]++
	}
	c := balancedClamp(counts, .3*n)
	sum := 0.0
	for i := range n {
		sum += min(max(residual(i)+move, -c.limit), c.limit)
	}
	moved, sigma := c.unbiased([]float64{sum}, 3)
	if math.Abs(moved[0]/(n*move)-1) > .02 ||
		sigma != 3/c.slope {
		t.Errorf(
			"%+v: the sum moved by %v of %v, noise %v",
			c, moved[0], n*move, sigma,
		)
	}
}
