package shrink

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawSample draws n true values and noisy values. The given share of the true values is from N(0, deviation^2), the
// others are 0, and the noise has standard deviation 1.
func drawSample(
	rng *rand.Rand,
	n int,
	share, deviation float64,
) (truth, values, noise []float64) {
	for range n {
		x := 0.
		if rng.Float64() < share {
			x = deviation * rng.NormFloat64()
		}
		truth = append(truth, x)
		values = append(values, x+rng.NormFloat64())
		noise = append(noise, 1)
	}
	return truth, values, noise
}

// TestPriorFindsItsWeights checks that for many values the prior has about the right variance and, if most values are
// 0, most of its weight near 0.
func TestPriorFindsItsWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, tt := range []struct{ share, deviation float64 }{{.1, 8}, {1, 3}, {.5, 5}} {
		_, values, noise := drawSample(rng, 4000, tt.share, tt.deviation)
		p := Fit(values, noise)
		variance := 0.
		small := 0.
		sum := 0.
		for k, w := range p.Weights {
			sum += w
			variance += w * p.Deviations[k] * p.Deviations[k]
			if p.Deviations[k] < 1 {
				small += w
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("weights add up to %v", sum)
		}
		want := tt.share * tt.deviation * tt.deviation
		if math.Abs(variance-want) > .2*want {
			t.Errorf(
				"share %v: variance %.2f, want %.2f",
				tt.share, variance, want,
			)
		}
		if tt.share == .1 && small < .8 {
			t.Errorf(
				"weight %.2f below 1, want about .9",
				small,
			)
		}
	}
}

// TestPosteriorIsCalibrated checks that half-lines from a posterior quantile contain the true value with their
// nominal frequency, also for the largest values alone.
func TestPosteriorIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	truth, values, noise := drawSample(rng, 6000, .3, 4)
	p := Fit(values, noise)
	for _, least := range []float64{0, 4} {
		stated := 0.
		found := 0.
		n := 0.
		for i, v := range values {
			if v < least {
				continue
			}
			q := p.Posterior(v, noise[i])
			above := 0.
			const draws = 50
			for range draws {
				if q.Draw(rng) > v-1 {
					above++
				}
			}
			stated += above / draws
			if truth[i] > v-1 {
				found++
			}
			n++
		}
		if math.Abs(stated-found)/n > .05 || n < 300 {
			t.Errorf(
				"values above %v: stated %.3f, found %.3f of %v",
				least,
				stated/n,
				found/n,
				n,
			)
		}
	}
}

// TestPosteriorWithoutNoise checks that a value without noise is its own posterior and does not enter any prior.
func TestPosteriorWithoutNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	p := Fit([]float64{1e9, .1}, []float64{0, 1})
	last := p.Deviations[len(p.Deviations)-1]
	if last > 10 {
		t.Errorf("the prior reaches to %v", last)
	}
	got := p.Posterior(7, 0).Draw(rng)
	if got != 7 {
		t.Errorf("drew %v", got)
	}
	for _, p := range []Prior{
		Fit(nil, nil),
		Fit([]float64{3}, []float64{0}),
	} {
		got := p.Posterior(5, 1).Draw(rng)
		if got != 0 {
			t.Errorf("a prior of no values gives %v", got)
		}
	}
}

// TestNormal checks that the mean and the variance of 100,000 numbers are within 5 standard errors.
func TestNormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 100_000
	sum := 0.
	squares := 0.
	for range n {
		x := Normal(rng)
		sum += x
		squares += x * x
	}
	if math.Abs(sum/n) > 5/math.Sqrt(n) ||
		math.Abs(squares/n-1) > 5*math.Sqrt2/math.Sqrt(n) {
		t.Errorf(
			"mean %v, mean square %v",
			sum/n, squares/n,
		)
	}
}
