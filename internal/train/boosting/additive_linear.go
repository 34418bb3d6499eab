package boosting

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/train/linear"
)

// covariance is the covariance matrix of the noise in the coefficients.
type covariance = *mat.SymDense

// correction is the linear part added to the initial model: the posterior mean of the coefficients that the
// initial model lacks, learned from noisy sums of x g.
//
// With A the released matrix, a release at coefficients theta is in expectation A (beta - theta), so A theta
// plus the release observes A beta with noise of known scale, for any theta. The observations are averaged with
// weights 1/sigma^2, which leaves noise of variance v. In the eigenbasis of A, with eigenvalues e, coordinate i
// of the average is N(e_i beta_i, v). Under the prior beta_i ~ N(0, p_i), p_i = t (e_max/e_i)^q, its
// distribution is N(0, v + e_i^2 p_i). The prior is the one of highest marginal likelihood over a grid of t and
// q in {0, 1} (empirical Bayes), and the correction is the posterior mean. All of this is post-processing.
type correction struct {
	spectrum linear.Spectrum
	eigen    []float64 // floored at the noise level of the matrix
	theta    []float64 // current coefficients
	mean     []float64 // of the observations, in the eigenbasis
	weight   float64   // 1/v
	shrink   []float64 // by coordinate: beta = shrink * mean
}

func newCorrection(m *linear.Moments) *correction {
	k := len(m.Spectrum().Values)
	c := &correction{
		spectrum: m.Spectrum(),
		eigen:    make([]float64, k),
		theta:    make([]float64, k),
		mean:     make([]float64, k),
		shrink:   make([]float64, k),
	}
	floor := max(m.EigenvalueFloor(), math.SmallestNonzeroFloat32)
	for i, e := range c.spectrum.Values {
		c.eigen[i] = max(e, floor)
	}
	return c
}

// learn updates the correction with a release whose noise has standard deviation sigma. It returns the change
// of the coefficients.
func (c *correction) learn(sums []float64, sigma float64) []float64 {
	k := len(c.theta)
	var seen, at mat.VecDense
	seen.MulVec(c.spectrum.Vectors.T(), mat.NewVecDense(k, sums))
	at.MulVec(c.spectrum.Vectors.T(), mat.NewVecDense(k, c.theta))
	w := 1 / (sigma * sigma)
	c.weight += w
	for i := range c.mean {
		observed := c.eigen[i]*at.AtVec(i) + seen.AtVec(i)
		c.mean[i] += w / c.weight * (observed - c.mean[i])
	}
	c.choosePrior()
	beta := mat.NewVecDense(k, nil)
	for i, m := range c.mean {
		beta.SetVec(i, c.shrink[i]*m)
	}
	var next mat.VecDense
	next.MulVec(c.spectrum.Vectors, beta)
	step := make([]float64, k)
	for i := range step {
		step[i] = next.AtVec(i) - c.theta[i]
		c.theta[i] = next.AtVec(i)
	}
	return step
}

// The grid of prior variances: 0, and from priorLeast to 1.
const (
	priorSteps = 25
	priorLeast = 1e-6
)

// choosePrior sets the shrinkage by the prior of highest marginal likelihood.
func (c *correction) choosePrior() {
	k := len(c.mean)
	signal := make([]float64, k)
	energy := make([]float64, k)
	prior := make([]float64, k)
	largest := 0.0
	for i, e := range c.eigen {
		energy[i] = c.mean[i] * c.mean[i] * c.weight
		largest = max(largest, e)
	}
	best := math.Inf(-1)
	for power := range 2 {
		for i, e := range c.eigen {
			prior[i] = math.Pow(largest/e, float64(power))
			signal[i] = prior[i] * e * e * c.weight
		}
		grid := geometricGrid(priorLeast, 1, priorSteps)
		t, likelihood := mostLikelyVariance(grid, signal, energy)
		if likelihood <= best {
			continue
		}
		best = likelihood
		for i, e := range c.eigen {
			c.shrink[i] = t * prior[i] * e * c.weight / (1 + t*signal[i])
		}
	}
}

// mostLikelyVariance returns the variance factor t, 0 or one of the grid, of highest
// marginal likelihood for independent coordinates N(0, 1 + t signal_i) with the
// squares energy_i, and that log-likelihood up to a constant.
func mostLikelyVariance(grid, signal, energy []float64) (t, likelihood float64) {
	at := func(t float64) float64 {
		sum := 0.0
		for i, s := range signal {
			d := 1 + t*s
			sum -= math.Log(d) + energy[i]/d
		}
		return sum / 2
	}
	likelihood = at(0)
	for _, g := range grid {
		if l := at(g); l > likelihood {
			t = g
			likelihood = l
		}
	}
	return t, likelihood
}

// geometricGrid returns n numbers from a to b with equal ratios.
func geometricGrid(a, b float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = a * math.Pow(b/a, float64(i)/float64(n-1))
	}
	return out
}

// total returns the sum of the initial coefficients and the correction.
func (c *correction) total(start []float64) []float64 {
	out := make([]float64, len(start))
	for i := range out {
		out[i] = start[i] + c.theta[i]
	}
	return out
}

// covariance returns the covariance of the noise in total, to first order: the averaged releases contribute
// shrink^2 v in the eigenbasis, and of the noise in the initial coefficients the share 1 - shrink e remains,
// because the correction removes the rest.
func (c *correction) covariance(start covariance) covariance {
	k := len(c.theta)
	var inner, full mat.Dense
	inner.Mul(c.spectrum.Vectors.T(), start)
	full.Mul(&inner, c.spectrum.Vectors)
	left := make([]float64, k)
	for i := range left {
		left[i] = 1 - c.shrink[i]*c.eigen[i]
	}
	full.Apply(func(i, j int, x float64) float64 {
		x *= left[i] * left[j]
		if i == j && c.weight > 0 {
			x += c.shrink[i] * c.shrink[i] / c.weight
		}
		return x
	}, &full)
	inner.Mul(c.spectrum.Vectors, &full)
	full.Mul(&inner, c.spectrum.Vectors.T())
	return linear.Covariance(&full)
}
