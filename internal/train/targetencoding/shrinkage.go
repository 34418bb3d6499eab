package targetencoding

import (
	"math"

	"github.com/dptrain/dptrain/internal/train/scaling"
)

// encodedNumbers replace the values of a column.
type encodedNumbers struct {
	values []float64 // by code; the last is for all other cells
	scale  scaling.Range
}

// encodeColumn reads the numbers of a column from released counts and sums of the scaled target by value; sigma is
// the standard deviation of the noise in a sum, and twice that in a count.
func encodeColumn(
	counts, sums []float64,
	sigma, center, half float64,
) encodedNumbers {
	e := newShrinkage(counts, sums, sigma)
	means := e.posteriorMeans()
	spread := 0.
	for v, m := range means {
		spread += e.counts[v] * square(m-e.mean) / max(e.total, 1)
	}
	reach := encodedReach * math.Sqrt(spread)
	farthest := 0.
	for _, m := range means {
		farthest = max(farthest, math.Abs(m-e.mean))
	}
	if reach = min(reach, farthest); !(reach > leastReach) {
		reach = leastReach
	}
	out := encodedNumbers{scale: scaling.Range{
		Lower:    center + half*(e.mean-reach),
		Upper:    center + half*(e.mean+reach),
		Declared: true,
	}}
	for _, m := range means {
		y := center + half*(e.mean+min(max(m-e.mean, -reach), reach))
		out.values = append(out.values, min(max(y, out.scale.Lower), out.scale.Upper))
	}
	return out
}

// leastReach is the least half width of the numbers of a column, in half widths of the target's range: without an
// effect of its values a column is constant, in the middle.
const leastReach = 0x1p-10

// shrinkage estimates the means of a target by value.
type shrinkage struct {
	counts []float64 // released, and at least 0
	dev    []float64 // released sums about the mean
	noise  float64   // variance of the noise in dev
	total  float64   // of counts
	mean   float64   // of the target over all records, in [-1, 1]
	within float64   // largest variance of the target around the means
}

func newShrinkage(counts, sums []float64, sigma float64) *shrinkage {
	e := &shrinkage{}
	sum := 0.
	all := 0.
	for v, n := range counts {
		e.counts = append(e.counts, max(n, 0))
		sum += sums[v]
		all += n
		e.total += max(n, 0)
	}
	if noise := 2 * sigma * math.Sqrt(float64(len(counts))); all > noise {
		e.mean = min(max(sum/all, -1), 1)
	}
	for v, n := range e.counts {
		e.dev = append(e.dev, sums[v]-e.mean*n)
	}
	e.noise = square(sigma) * (1 + square(2*e.mean))
	e.within = max(1-square(e.mean), leastReach)
	return e
}

// posteriorMeans returns the posterior means of the target by value. The true means are modelled as independent draws
// from a normal distribution of variance t about the mean of all records, and the target as one of variance w
// around them: then the deviation of the sum of n records has the variance t n² + w n + noise. Both variances
// maximise the likelihood on a grid, and t may be 0.
func (e *shrinkage) posteriorMeans() []float64 {
	best := math.Inf(-1)
	t := 0.
	w := e.within
	for i := range encodingSteps {
		for j := range encodingSteps / 2 {
			x := math.Ldexp(e.within, -i)
			y := math.Ldexp(e.within, -j)
			if i == encodingSteps-1 {
				x = 0
			}
			if l := e.logLikelihood(x, y); l > best {
				best = l
				t = x
				w = y
			}
		}
	}
	out := make([]float64, len(e.counts))
	for v, n := range e.counts {
		out[v] = e.mean + t*n*e.dev[v]/(t*n*n+w*n+e.noise)
	}
	return out
}

func square(x float64) float64 {
	return x * x
}

// logLikelihood is the logarithm of that of two variances.
func (e *shrinkage) logLikelihood(t, w float64) float64 {
	sum := 0.
	for v, n := range e.counts {
		variance := t*n*n + w*n + e.noise
		sum -= math.Log(variance) + square(e.dev[v])/variance
	}
	return sum
}
