package selection

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/shrink"
)

// choiceConfidence returns the posterior probability of every column to be among the first k of
// the rule's order on the exact statistics.
//
// The differences of class means, from which F-scores are computed, are drawn from their posterior
// under one prior for all entries, in units of the spread within classes. Squares are drawn around
// their released values. Counts and correlations keep their released values.
func (x classSetting) choiceConfidence(
	ctx context.Context,
	d *discriminant,
	k int,
	source shrink.Source,
) ([]float64, error) {
	c := d.classContrasts()
	within, noise := d.withinSums()
	sample := *d
	n := len(d.f)
	x.most = k
	return choiceFrequencies(ctx, n,
		drawsFor(float64(n)*float64(n)+float64(len(d.counts)*len(d.means[0]))*20), func() []int {
			sample.means = c.drawMeans(source)
			sample.f = nil
			sample.importance = nil
			sample.setScores(sample.squaresFor(within, noise, source))
			return x.rankedColumns(&sample)
		})
}

// contrastPosteriors are the differences between the mean of a class and that of the classes before
// it, for every entry. They are independent if the noise of every mean is inversely proportional
// to the size of the class.
type contrastPosteriors struct {
	d          *discriminant
	spread     []float64            // within classes, of each entry
	posteriors [][]shrink.Posterior // of each class after the first, in units of spread
}

func (d *discriminant) classContrasts() contrastPosteriors {
	entries := len(d.means[0])
	c := contrastPosteriors{
		d:      d,
		spread: make([]float64, entries),
	}
	var values, noise []float64
	for i := range entries {
		c.spread[i] = math.Sqrt(
			max(d.within.At(i, i), smallestVariance+d.noise.NoiseOf(i, d.covarianceNoise())))
	}
	before := d.counts[0]
	for k := 1; k < len(d.counts); k++ {
		for i := range entries {
			variance := d.meanVariance(k, i)
			mean := 0.
			for l := range k {
				share := d.counts[l] / before
				mean += share * d.means[l][i]
				variance += share * share * d.meanVariance(l, i)
			}
			values = append(values, (d.means[k][i]-mean)/c.spread[i])
			noise = append(noise, math.Sqrt(variance)/c.spread[i])
		}
		before += d.counts[k]
	}
	for part := range slices.Chunk(fitPosteriors(values, noise), max(entries, 1)) {
		c.posteriors = append(c.posteriors, part)
	}
	return c
}

// meanVariance returns the variance of the noise in the mean of a class: that of the sum and
// that of the count.
func (d *discriminant) meanVariance(class, entry int) float64 {
	n := d.counts[class]
	a := d.noise.NoiseOf(entry, d.noise.SumNoise) / n
	b := d.noise.CountNoise * d.means[class][entry] / n
	return a*a + b*b
}

// drawMeans returns class means with the released mean of the first class and drawn contrasts.
// Scores depend on differences of means only.
func (c contrastPosteriors) drawMeans(source shrink.Source) [][]float64 {
	out := [][]float64{c.d.means[0]}
	running := slices.Clone(c.d.means[0]) // mean of the classes so far
	before := c.d.counts[0]
	for k, list := range c.posteriors {
		n := c.d.counts[k+1]
		means := make([]float64, len(list))
		for i, p := range list {
			means[i] = running[i] + c.spread[i]*p.Draw(source)
			running[i] += (means[i] - running[i]) * n / (before + n)
		}
		before += n
		out = append(out, means)
	}
	return out
}

// withinSums returns the released sum of squares around the mean of every class and entry, and
// the standard deviation of its noise: that of the square, and that of the sum to first order.
func (d *discriminant) withinSums() (sums, noise [][]float64) {
	for k, n := range d.counts {
		sum := make([]float64, len(d.means[k]))
		deviation := make([]float64, len(sum))
		for i, mean := range d.means[k] {
			sum[i] = d.noise.Squares[k][i] - n*mean*mean
			deviation[i] = d.noise.NoiseOf(i,
				math.Hypot(d.noise.SquareNoise, 2*mean*d.noise.SumNoise))
		}
		sums = append(sums, sum)
		noise = append(noise, deviation)
	}
	return sums, noise
}

// squaresFor returns moments whose sums of squares around the means of d are drawn around
// the released ones.
func (d *discriminant) squaresFor(
	within, noise [][]float64,
	source shrink.Source,
) mechanism.ClassMoments {
	m := d.noise
	m.Squares = nil
	for k, n := range d.counts {
		squares := make([]float64, len(within[k]))
		for i, w := range within[k] {
			mean := d.means[k][i]
			squares[i] = w + noise[k][i]*shrink.Normal(source) + n*mean*mean
		}
		m.Squares = append(m.Squares, squares)
	}
	return m
}
