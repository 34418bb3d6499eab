package direction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRankScoresAreNeverStable checks the stability bound of theorem 8 for rank scores. The number of training
// records that may change before two residuals swap is floor(gap/(2 eta)), where gap is the smallest distance between
// two residuals. On random tables it is at most n lambda/(4 (m - 1)) (docs/proofs/causal.md, "Why no stability test
// protects rank scores"), that is, 0 with equal halves and lambda up to .5. Equally spaced residuals attain the bound
// up to rounding.
func TestRankScoresAreNeverStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 10 + rng.IntN(100)
		m := 2 + rng.IntN(100)
		r := Ridge{
			Penalty: math.Exp(-6 + 8*rng.Float64()),
			Width:   .25 + rng.Float64(),
		}
		draw := func(k int) []float64 {
			out := make([]float64, k)
			for i := range out {
				out[i] = 2*rng.Float64() - 1
			}
			return out
		}
		fitted := r.Regress(draw(n), draw(n), draw(m))
		residuals := make([]float64, m)
		for i, f := range fitted {
			residuals[i] = 2*rng.Float64() - 1 - f
		}
		slices.Sort(residuals)
		gap := math.Inf(1)
		for i := range m - 1 {
			gap = min(gap, residuals[i+1]-residuals[i])
		}
		bound := float64(n) * r.Penalty / (4 * float64(m-1))
		k := gap / (2 * r.ResidualBound(n))
		if k > bound*(1+1e-9) {
			t.Fatalf(
				"n %d, m %d, lambda %v: %v records, bound %v",
				n, m, r.Penalty, k, bound,
			)
		}
	}
	for _, lambda := range []float64{.002, .05, .5} {
		r := Ridge{Penalty: lambda, Width: .5}
		const half = 1000
		largest := 1 + 1/math.Sqrt(2*lambda) // size of a residual
		k := math.Floor(2 * largest / (half - 1) / (2 * r.ResidualBound(half)))
		if k != 0 {
			t.Errorf("lambda %v: %v records", lambda, k)
		}
	}
}
