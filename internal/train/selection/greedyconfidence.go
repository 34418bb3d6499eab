package selection

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/internal/numeric/greedy"
	"github.com/dptrain/dptrain/internal/numeric/shrink"
)

// greedyConfidence returns the posterior probability of every group of p to be chosen by the
// same rule on the exact matrix.
//
// Drawn are the covariances of the entries with the targets, in units of both spreads and
// under one prior for each target. The moments of the entries among each other stay as
// they were released; their noise is part of that of the covariances (covarianceNoise).
func greedyConfidence(
	ctx context.Context,
	in greedyNoise,
	p *greedy.Problem,
	source shrink.Source,
) ([]float64, error) {
	chosen := p.Select()
	squares := coefficientSquares(p, chosen.Entries())
	entries := p.Gram.SymmetricDim()
	constant := p.Constant
	square := max(p.Gram.At(constant, constant), p.Ridge) // positive: rows have a constant
	spread := make([]float64, entries)
	for j := range entries {
		mean := p.Gram.At(j, constant) / square
		spread[j] = math.Sqrt(max(p.Gram.At(j, j)-mean*mean*square, in.leastVisibleSpread()))
	}
	offsets := make([][]float64, len(p.Cross)) // the part of a product that the constant explains
	posterior := make([][]shrink.Posterior, len(p.Cross))
	for t, cross := range p.Cross {
		offsets[t] = make([]float64, entries)
		values := make([]float64, entries)
		noise := make([]float64, entries)
		for j := range entries {
			offsets[t][j] = p.Gram.At(j, constant) * cross[constant] / square
			if j == constant {
				continue // its noise is 0 here, so that it keeps its value and is in no prior
			}
			values[j] = (cross[j] - offsets[t][j]) / spread[j]
			noise[j] = in.covariance(j, p.Gram.At(j, constant)/square, squares[t]) / spread[j]
		}
		posterior[t] = fitPosteriors(values, noise)
	}
	sample := *p
	sample.Cross = make([][]float64, len(p.Cross))
	for t := range sample.Cross {
		sample.Cross[t] = make([]float64, entries)
	}
	taken := float64(len(chosen.Steps) + 1)
	steps := taken * float64(entries) * float64(entries)
	return choiceFrequencies(ctx, len(p.Cost), drawsFor(steps), func() []int {
		for t, list := range posterior {
			for j, q := range list {
				sample.Cross[t][j] = offsets[t][j] + spread[j]*q.Draw(source)
			}
			sample.Cross[t][constant] = p.Cross[t][constant]
		}
		return sample.Select().Groups(&sample)
	})
}

// coefficientSquares returns, for each target, the sum of the squared coefficients of the
// entries taken before a step, averaged over the steps.
func coefficientSquares(p *greedy.Problem, taken []int) []float64 {
	out := make([]float64, len(p.Cross))
	for step := range taken {
		for t, theta := range p.Solve(taken[:step]).Theta {
			for _, v := range theta {
				out[t] += v * v / float64(len(taken))
			}
		}
	}
	return out
}

// leastVisibleSpread returns the smallest squared spread of an entry that is visible above the noise in the matrix.
func (in greedyNoise) leastVisibleSpread() float64 {
	if in.labels != nil {
		return leastSquareSpread
	}
	return in.sigma
}

// leastSquareSpread is the least square of the spread of an entry of an exact matrix.
const leastSquareSpread = 1e-9

// covariance returns the standard deviation of the noise in the covariance of entry j, of the given mean, with a target; see
// covarianceNoise. Without noise in the matrix it is that of the two products alone.
func (in greedyNoise) covariance(j int, mean, squares float64) float64 {
	if in.labels != nil {
		return in.labels.CenteredNoise(j, mean)
	}
	return covarianceNoise(in.sigma, mean, squares)
}

// covarianceNoise returns the standard deviation of the noise in the covariance of an entry
// of the given mean with a target, after entries with coefficients theta were taken. squares
// is the sum of the squared coefficients.
//
// With E the noise of the matrix, sigma/sqrt2 off its diagonal, the residual product of entry
// j moves by E_jy - mean E_cy - sum_a theta_a (E_ja - mean E_ca), to first order.
func covarianceNoise(sigma, mean, squares float64) float64 {
	return sigma / math.Sqrt2 * math.Sqrt((1+squares)*(1+mean*mean))
}
