package selection

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/shrink"
	"github.com/dptrain/dptrain/internal/train/method"
)

// gapLevel is the probability with which a [method.Gap] holds.
const gapLevel = .95

// roundsGap returns the largest loss of k picks by the exponential mechanism among d candidates.
//
// P(u_best - u_pick >= t) <= d exp(-epsilon t/width) in one round (McSherry and Talwar 2007,
// theorem 6), so all k rounds stay below (width/epsilon) ln(d k/(1 - gapLevel)) with
// probability gapLevel.
func roundsGap(width, epsilon float64, d, k int) float64 {
	return width / epsilon * math.Log(float64(d)*float64(k)/(1-gapLevel))
}

// setGap returns the largest difference between the best score left out and the worst score
// chosen by the canonical Lipschitz mechanism with weight gamma.
//
// It draws one of N = C(d, k) sets with utility -(epsilon/width) loss. With either noise the
// loss of the drawn set exceeds that of the best set by t or more with probability at most
// N exp(-epsilon t/width). That difference is (1-gamma)(a - x_k) + gamma (x_k - b), a the
// best score left out, b the worst one chosen and a >= x_k >= b, hence at least
// min(gamma, 1-gamma)(a - b). For gamma 0 the bound is infinite.
func setGap(width, epsilon, gamma float64, d, k int) float64 {
	logSets := logFactorial(d) - logFactorial(k) - logFactorial(d-k)
	loss := width / epsilon * (logSets - math.Log(1-gapLevel))
	return loss / min(gamma, 1-gamma)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// topKGap returns the gap of a top-k choice that was released under name.
func topKGap(
	s *mechanism.Session,
	name string,
	t mechanism.TopK,
	d int,
) *method.Gap {
	width := s.Sensitivity(name)
	epsilon := s.Epsilon(name)
	g := &method.Gap{
		Level: gapLevel,
		Score: roundsGap(width, epsilon, d, t.K),
	}
	if t.Form == mechanism.Lipschitz || t.Form == mechanism.LipschitzExponential {
		gamma := .5
		if t.HasGamma {
			gamma = t.Gamma
		}
		g.Score = setGap(width, epsilon, gamma, d, t.K)
	}
	return g
}

// gapOnly returns a choice whose confidence is a gap.
func gapOnly(picked []int, g *method.Gap) method.Choice {
	return method.Choice{
		Picked: picked,
		Confidence: func(context.Context, int) (method.Confidence, error) {
			return method.Confidence{Gap: g}, nil
		},
	}
}

// confidenceStream names the public random numbers of the posterior draws.
const confidenceStream = "confidence"

const (
	mostDraws  = 1000
	leastDraws = 200
	// drawWork is the number of elementary steps that all draws together may take.
	drawWork = 2e9
)

// drawsFor returns the number of posterior draws for a rule with the given number of steps per draw.
func drawsFor(steps float64) int {
	return int(min(max(drawWork/max(steps, 1), leastDraws), mostDraws))
}

// choiceFrequencies calls choose for every draw and returns the frequency of each of d candidates.
func choiceFrequencies(
	ctx context.Context,
	d, draws int,
	choose func() []int,
) ([]float64, error) {
	counts := make([]float64, d)
	for range draws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, j := range choose() {
			counts[j]++
		}
	}
	for j := range counts {
		counts[j] /= float64(draws)
	}
	return counts, nil
}

// fitPosteriors returns the posterior of every value under one prior that is fitted to all values.
func fitPosteriors(values, noise []float64) []shrink.Posterior {
	prior := shrink.Fit(values, noise)
	out := make([]shrink.Posterior, len(values))
	for i, v := range values {
		out[i] = prior.Posterior(v, noise[i])
	}
	return out
}
