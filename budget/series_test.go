package budget

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
)

// TestSeriesIsNeverBelow compares the series with 1,200 bits, at random points and at the ends of cells, as
// TestGaussianDeltaIsNeverBelow does.
func TestSeriesIsNeverBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	var s gaussianSeries // reused for all mu
	for _, mu := range []float64{
		.05, .0500001, .07, .1, .25,
		.6, 1, 2.3, 5, 8,
	} {
		s.resetMu(mu)
		worst := 0.
		made := 0
		for range testkit.Size(40, 120) {
			k := math.Exp((13*r.Float64() - .5) * mu) // from b of 0 to beyond seriesFar
			if r.IntN(3) == 0 {
				k = math.Float64frombits(math.Float64bits(k) >> s.shift << s.shift) // the end of a cell
			}
			epsilon := math.Log(k)
			want := exactDelta(mu, epsilon)
			if epsilon < 0 { // 1 - k + k delta(-epsilon)
				want = exactDelta(mu, -epsilon)
				want.Add(
					want.Mul(want, bigFloat(k)),
					new(big.Float).Sub(bigFloat(1), bigFloat(k)),
				)
			}
			diff, _ := new(big.Float).Quo(new(big.Float).Sub(
				bigFloat(s.valueAt(k)),
				want,
			), want).Float64()
			if diff < 0 || diff > 1e-12 {
				t.Errorf(
					"mu %v, k %v: %v is the truth times 1 %+.3g",
					mu,
					k,
					s.valueAt(k),
					diff,
				)
			}
			worst = max(worst, diff)
		}
		for _, cells := range s.blocks {
			for _, c := range cells {
				if c[0] != 0 {
					made++
				}
			}
		}
		if t.Logf("mu %v: %d cells, at most 1 %+.2g", mu, made, worst); made < testkit.Size(15, 30) &&
			mu < 2 {
			t.Errorf(
				"mu %v: %d series were made",
				mu, made,
			)
		}
	}
}

func newSeries(mu float64) *gaussianSeries {
	var s gaussianSeries
	s.resetMu(mu)
	return &s
}

// TestSeriesElsewhere checks that outside the series the value is that of gaussianDelta.
func TestSeriesElsewhere(t *testing.T) {
	for _, mu := range []float64{
		0, 1e-9, .0499,
		8.01, 40,
		math.Inf(1),
		math.NaN(),
	} {
		for _, k := range []float64{
			0, 5e-324, 1e-9,
			.3, 1, 2.5, 1e9,
			math.Inf(1),
		} {
			got := newSeries(mu).valueAt(k)
			want := gaussianDelta(mu, math.Log(k))
			undefined := math.IsNaN(got) && math.IsNaN(want)
			if got != want && !undefined {
				t.Errorf(
					"mu %v, k %v: %v, want %v",
					mu, k, got, want,
				)
			}
		}
	}
	for _, k := range []float64{
		0, .2, 64, 1e300,
		math.Inf(1),
	} {
		got := newSeries(.25).valueAt(k)
		want := gaussianDelta(.25, math.Log(k))
		if got != want {
			t.Errorf(
				"k %v: %v, want %v",
				k, got, want,
			)
		}
	}
}
