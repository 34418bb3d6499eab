package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// logisticCounts are noisy counts of n records with uniform scores, where the probability of the second class follows
// a curve.
func logisticCounts(
	r *rand.Rand,
	n int,
	sigma float64,
	p regression.Probability,
) *scoreCounts {
	c := &scoreCounts{Counts: make([]float64, 2*cutoffBins), Sigma: sigma}
	for i := range c.Counts {
		c.Counts[i] = sigma * r.NormFloat64()
	}
	for range n {
		s := .6 * (2*r.Float64() - 1)
		class := 0
		if r.Float64() < p.Evaluate(s) {
			class = 1
		}
		c.Counts[cutoffCell{}.cell(class, s)]++
	}
	return c
}

// TestProbabilityRecovers checks that the curve of 20,000 records with the noise of epsilon 1 (a share .05 of it) is
// near the true one. Its probabilities at the three scores were off by at most .005 on average with a standard
// deviation of at most .015 (3,000 runs), so .12 is more than seven of these: 600 numbers exceed it with probability
// below 1e-9.
func TestProbabilityRecovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	want := regression.Probability{Intercept: -.5, Slope: 4}
	for range 200 {
		got := logisticCounts(r, 20000, 19, want).probabilityCurve()
		if got == nil {
			t.Fatal("no probabilities of 20,000 records")
		}
		for _, s := range []float64{-.5, 0, .5} {
			d := math.Abs(got.Evaluate(s) - want.Evaluate(s))
			if d > .12 {
				t.Errorf(
					"%+v is %.3f off at %v",
					got, d, s,
				)
			}
		}
	}
}

// TestProbabilityConditions checks that there are no probabilities if the noise hides the records or one of the
// classes.
func TestProbabilityConditions(t *testing.T) {
	fill := func(first, second float64) *scoreCounts {
		c := &scoreCounts{Counts: make([]float64, 2*cutoffBins), Sigma: 1}
		for b := range cutoffBins {
			c.Counts[b] = first / cutoffBins
			c.Counts[cutoffBins+b] = second / cutoffBins
		}
		return c
	}
	for _, c := range []struct {
		first, second float64
		known         bool
	}{
		{60, 21, true},
		{58, 21, false},
		{70, 19, false},
		{19, 70, false},
		{21, 60, true},
		{0, 0, false},
		{-500, 900, false},
	} {
		got := fill(c.first, c.second).probabilityCurve()
		if (got != nil) != c.known {
			t.Errorf(
				"%v and %v records: %+v",
				c.first, c.second, got,
			)
		}
	}
}

// TestQuantileBins checks that edges are the quantiles of the clipped counts on the grid, with the nearest one
// replaced by the cutoff.
func TestQuantileBins(t *testing.T) {
	c := &scoreCounts{Counts: make([]float64, 2*cutoffBins), Sigma: 1}
	for b := 16; b < 32; b++ { // scores in (-.5, 0]
		c.Counts[b] = 5
		c.Counts[cutoffBins+b] = 5
	}
	c.Counts[3] = -80
	c.Counts[60] = -900 // noise, which counts as 0
	want := make([]float64, 0, 15)
	for k := 1; k < 16; k++ {
		want = append(want, -.5+float64(k)/32)
	}
	if got := c.quantileBins(16); !slices.Equal(got, append(want[:14:14], 0)) {
		t.Errorf("%v", got)
	}
	c.Cutoff = -.25
	if got := c.quantileBins(16); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got := c.quantileBins(32)
	if len(got) > 16 ||
		!slices.IsSorted(got) ||
		!slices.Contains(got, -.25) {
		t.Errorf("%v", got)
	}
	c.Counts = make([]float64, 2*cutoffBins)
	if got := c.quantileBins(16); len(got) != 15 {
		t.Errorf("%v of nothing", got)
	}
	c.Counts[40] = 100 // all in one bin
	c.Cutoff = .5
	if got := c.quantileBins(16); !slices.Contains(got, .5) || !slices.IsSorted(got) {
		t.Errorf("%v of one bin", got)
	}
}

// TestQuantileBinsOfNoise checks for any counts that edges increase strictly within (-1, 1), and that the cutoff is
// an edge.
func TestQuantileBinsOfNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 2000 {
		c := &scoreCounts{
			Counts: make([]float64, 2*cutoffBins),
			Sigma:  1,
			Cutoff: gridEdge(float64(1 + r.IntN(cutoffBins-1))),
		}
		scale := math.Exp(20*r.Float64() - 10)
		for i := range c.Counts {
			c.Counts[i] = scale * r.NormFloat64()
		}
		for _, bins := range []int{scoreBins, manyScoreBins} {
			edges := c.quantileBins(bins)
			for i, e := range edges {
				if !(e > -1 && e < 1) ||
					i > 0 && e <= edges[i-1] {
					t.Fatalf("%v", edges)
				}
			}
			if len(edges) == 0 ||
				len(edges) >= bins ||
				!slices.Contains(edges, c.Cutoff) {
				t.Fatalf("%v, cutoff %v", edges, c.Cutoff)
			}
			for _, p := range c.binProbabilities(
				edges,
				&regression.Probability{Slope: 2},
			) {
				if !(p > 0 && p < 1) {
					t.Fatalf("%v", p)
				}
			}
		}
	}
}

func TestEqualBins(t *testing.T) {
	for scale, ends := range map[method.Scale][2]float64{
		method.Signs:   {-.875, .875},
		method.Shares:  {.0625, .9375},
		method.LogOdds: {-math.Log(15), math.Log(15)},
	} {
		edges := equalBins(scale, 16)
		if len(edges) != 15 ||
			!slices.IsSorted(edges) ||
			math.Abs(edges[0]-ends[0]) > 1e-12 ||
			math.Abs(edges[14]-ends[1]) > 1e-12 {
			t.Errorf("scale %d: %v", scale, edges)
		}
		if scale != method.Shares && edges[7] != 0 {
			t.Errorf(
				"scale %d: the cutoff is no edge: %v",
				scale, edges,
			)
		}
	}
}
