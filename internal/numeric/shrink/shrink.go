// Package shrink estimates true values from noisy ones by empirical Bayes.
//
// The prior is a mixture of normal distributions around 0 whose standard deviations form a
// fixed geometric grid that starts at 0; its weights are fitted to the noisy values by
// expectation maximisation (M. Stephens, "False discovery rates: a new deal", Biostatistics
// 18, 2017). It covers a few large values among many near 0 as well as values of one size.
// Everything here is a function of released numbers.
package shrink

import (
	"math"
)

const (
	// gridRatio is the ratio of neighbouring standard deviations of the grid.
	gridRatio = 1.6
	// gridStart is the smallest positive standard deviation, in units of the smallest noise.
	gridStart = .25
	// maxComponents bounds the grid where values are far above the noise.
	maxComponents = 40
	iterations    = 200
	// pseudoCount is the number of values that every component is credited with, shared by
	// the whole grid. It keeps the weights of few values off the edge of the simplex.
	pseudoCount = 1.
)

// A Source yields uniform bits.
type Source interface{ Uint64() uint64 }

// A Prior is a mixture of normal distributions with mean 0.
type Prior struct {
	Deviations []float64 // of the components, increasing from 0
	Weights    []float64 // their sum is 1
}

// Fit returns the prior of values, each observed with independent normal noise of the given
// standard deviation. Values without noise (a deviation that is not positive) are not used.
func Fit(values, noise []float64) Prior {
	smallest := math.Inf(1)
	largest := 0.
	for i, s := range noise {
		if s > 0 {
			smallest = min(smallest, s)
			largest = max(largest, math.Abs(values[i]))
		}
	}
	p := Prior{Deviations: []float64{0}}
	if !math.IsInf(smallest, 1) {
		for s := gridStart * smallest; len(p.Deviations) < maxComponents; s *= gridRatio {
			p.Deviations = append(p.Deviations, s)
			if s > largest {
				break
			}
		}
	}
	n := len(p.Deviations)
	p.Weights = make([]float64, n)
	for k := range p.Weights {
		p.Weights[k] = 1 / float64(n)
	}
	var used []likelihoods
	for i, s := range noise {
		if s > 0 {
			used = append(used, p.likelihoods(values[i], s))
		}
	}
	posterior := make([]float64, n)
	sums := make([]float64, n)
	total := pseudoCount + float64(len(used))
	for range iterations {
		for k := range sums {
			sums[k] = pseudoCount / float64(n)
		}
		logs := p.logWeights()
		for _, l := range used {
			l.responsibilities(logs, posterior)
			for k, r := range posterior {
				sums[k] += r
			}
		}
		for k, sum := range sums {
			p.Weights[k] = sum / total
		}
	}
	return p
}

// likelihoods holds the negative log likelihood of a value under each component, in two parts, without a constant. The
// weights of the components are not in it.
type likelihoods struct {
	halfLogs []float64 // half the logarithms of the variances
	squares  []float64 // the square of the value over twice the variances
}

// likelihoods returns the likelihoods of a value with noise of the given standard deviation.
func (p Prior) likelihoods(value, noise float64) likelihoods {
	out := likelihoods{
		halfLogs: make([]float64, len(p.Deviations)),
		squares:  make([]float64, len(p.Deviations)),
	}
	for k, s := range p.Deviations {
		v := s*s + noise*noise
		out.halfLogs[k] = math.Log(v) / 2
		out.squares[k] = value * value / (2 * v)
	}
	return out
}

// responsibilities fills out with the posterior probabilities of the components, given the logarithms of their weights.
func (l likelihoods) responsibilities(logWeights, out []float64) {
	largest := math.Inf(-1)
	for k, w := range logWeights {
		out[k] = w - l.halfLogs[k] - l.squares[k]
		largest = max(largest, out[k])
	}
	sum := 0.
	for k, l := range out {
		out[k] = math.Exp(l - largest)
		sum += out[k]
	}
	for k := range out {
		out[k] /= sum
	}
}

// logWeights returns the logarithms of the weights.
func (p Prior) logWeights() []float64 {
	out := make([]float64, len(p.Weights))
	for k, w := range p.Weights {
		out[k] = math.Log(w)
	}
	return out
}

// A Posterior is the distribution of one true value given its noisy value: a mixture of
// normal distributions.
type Posterior struct {
	cumulative []float64
	means      []float64
	deviations []float64
}

// Posterior returns the distribution of the true value behind a noisy one. Without noise it
// is the value itself.
func (p Prior) Posterior(value, noise float64) Posterior {
	if !(noise > 0) {
		return Posterior{[]float64{1}, []float64{value}, []float64{0}}
	}
	out := Posterior{cumulative: make([]float64, len(p.Deviations))}
	p.likelihoods(value, noise).responsibilities(p.logWeights(), out.cumulative)
	sum := 0.
	for k, s := range p.Deviations {
		sum += out.cumulative[k]
		out.cumulative[k] = sum
		share := s * s / (s*s + noise*noise)
		out.means = append(out.means, share*value)
		out.deviations = append(out.deviations, math.Sqrt(share)*noise)
	}
	return out
}

// Draw returns a value of the distribution.
func (p Posterior) Draw(source Source) float64 {
	u := uniform(source)
	k := 0
	for k+1 < len(p.cumulative) && u > p.cumulative[k] {
		k++
	}
	return p.means[k] + p.deviations[k]*Normal(source)
}

// Normal returns a standard normal number.
func Normal(source Source) float64 {
	return math.Sqrt2 * math.Erfinv(2*uniform(source)-1)
}

// uniform returns one of the 2^53 midpoints of equal cells of (0, 1).
func uniform(source Source) float64 {
	return (float64(source.Uint64()>>11) + .5) * 0x1p-53
}
