package boosting

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

const (
	// scoreColumn is the column index of the score's shape.
	scoreColumn = -1
	// twoValuedShare is the share of the records in the two fullest fine bins from which a feature counts as
	// two-valued. Such a feature needs no shape, because the linear part can represent any function of it.
	twoValuedShare = .98
	// twoValuedNoise is the number of standard deviations of the noise of a count that the other records of a
	// feature must exceed to justify a shape.
	twoValuedNoise = 3
	// minRecords is the minimum number of records that computations assume.
	minRecords = 10
	// leastShare is the minimum share of the records that a step is assumed to hold; a smaller share would make
	// its mean unbounded.
	leastShare = .002
	// The number of steps of a shape is such that each holds about stepNoise times the noise of one fine bin's
	// count, limited to leastSteps and mostSteps, plus bins that are full enough to be steps by themselves. The
	// curve is smoothed anyway, but its steps must have reliable weights.
	stepNoise  = 5
	leastSteps = 8
	mostSteps  = 48
	// clipQuantile is the quantile of the sizes of the residuals at which they are clamped.
	clipQuantile = .9
	// smoothness is the distance, as a share of the steps, over which the prior
	// correlation of a shape's values falls by a factor e.
	smoothness = .3
	// classClip is the clamp of the residuals of a target of -1 and +1. They are in [-2, 2], and beyond 1 if
	// the prediction is wrong.
	classClip = 1.4
	// The grid of prior variances of a shape, relative to the smallest one
	// that could be seen through the noise.
	shapeSteps = 18
	shapeLeast = .3
	shapeMost  = 3e4
)

// twoValued reports whether two fine bins hold almost all of the records, given counts with noise of standard
// deviation sigma.
func twoValued(counts []float64, sigma, records float64) bool {
	first := math.Inf(-1)
	second := math.Inf(-1)
	for _, n := range counts {
		if n > first {
			first, second = n, first
		} else if n > second {
			second = n
		}
	}
	others := records - first - second
	return records > 4*sigma && others < max((1-twoValuedShare)*records, twoValuedNoise*sigma)
}

// recordCount returns the noisy number of records, averaged over columns: each counts every record once.
func recordCount(counts [][]float64) float64 {
	sum := 0.0
	for _, column := range counts {
		for _, n := range column {
			sum += n
		}
	}
	return sum / float64(len(counts))
}

// binGroups maps fine bins to the steps of a shape.
type binGroups struct {
	stepOf [fineBins]uint8 // the step of each fine bin
	edges  []int           // first fine bin of every step but the first
	counts []float64       // noisy number of records of each step, floored

	centers []float64 // mean position of the records of each step, in a range of [-1, 1]
}

// bins returns the first fine bin of a step and the one after its last.
func (g binGroups) bins(step int) (first, last int) {
	last = fineBins
	if step > 0 {
		first = g.edges[step-1]
	}
	if step < len(g.edges) {
		last = g.edges[step]
	}
	return first, last
}

// groupBins joins fine bins to steps of about equally many records. A fine bin that holds more is a step of its
// own, and the others share the remaining records. sigma is the noise in counts. Bins whose count does not
// exceed the noise count as empty and join the step to their left.
func groupBins(counts []float64, sigma, records float64) binGroups {
	kept := make([]float64, len(counts))
	total := 0.0
	for b, n := range counts {
		if n > sigma {
			kept[b] = n
			total += n
		}
	}
	if total == 0 {
		for b := range kept {
			kept[b] = 1
		}
		total = float64(len(kept))
	}
	steps := min(max(records/(stepNoise*sigma), leastSteps), mostSteps)
	rest := 0.0
	for _, n := range kept {
		if n <= total/steps {
			rest += n
		}
	}
	share := max(rest/steps, min(stepNoise*sigma, total/steps))
	g := binGroups{counts: []float64{0}}
	size := 0
	sizes := []int{}
	held := 0.0
	for b, n := range kept {
		if held > 0 && n > 0 && held+n/2 > share {
			g.edges = append(g.edges, b)
			g.counts = append(g.counts, 0)
			sizes = append(sizes, size)
			held = 0
			size = 0
		}
		held += n
		size++
		g.stepOf[b] = uint8(len(g.edges))
		g.counts[len(g.edges)] += counts[b]
	}
	sizes = append(sizes, size)
	for k := range g.counts {
		floor := sigma * math.Sqrt(float64(min(sizes[k], 9)))
		g.counts[k] = max(g.counts[k], floor, leastShare*records)
	}
	g.centers = make([]float64, len(g.counts))
	for k := range g.centers {
		first, last := g.bins(k)
		held := 0.
		sum := 0.
		for b := first; b < last; b++ {
			held += kept[b]
			sum += kept[b] * (float64(2*b+1)/fineBins - 1)
		}
		if g.centers[k] = float64(first+last)/fineBins - 1; held > 0 {
			g.centers[k] = sum / held
		}
	}
	return g
}

// shape is the curve of one column while it is learned.
//
// At values f the sum of the residuals in bin b is in expectation n_b (u_b - f_b), with u the curve that fits
// best given the other parts, so f_b plus sum/n_b is an observation of u_b for any f. The observations are
// averaged with weights 1/sigma^2. The curve is the posterior mean under a Gaussian prior with covariance t
// exp(-|b - c|/(k smoothness)) for k steps, with t of highest marginal likelihood among 0 and a grid (empirical
// Bayes). A curve that is below the noise becomes 0.
type shape struct {
	column int // index of the column, or scoreColumn
	bins   int // number of the shape's list of bins in the state
	groups binGroups
	levels *valueGroups  // of a column of many values; nil for a curve
	kernel *mat.SymDense // nil for unordered values, which are independent
	values []float64
	mean   []float64 // of the observations
	weight float64   // the sum of 1/sigma^2
	last   posterior // of the last epoch
}

// posterior maps averaged observations to values: with D the deviations and U the vectors, values = D U
// diag(shrink) U' D^-1 mean.
type posterior struct {
	vectors   *mat.Dense
	shrink    []float64
	deviation []float64
}

func newShape(column, bins int, g binGroups) *shape {
	k := len(g.counts)
	s := &shape{
		column: column,
		bins:   bins,
		groups: g,
		kernel: mat.NewSymDense(k, nil),
		values: make([]float64, k),
		mean:   make([]float64, k),
	}
	for b := range k {
		for c := b; c < k; c++ {
			s.kernel.SetSym(b, c, math.Exp(float64(b-c)/float64(k)/smoothness))
		}
	}
	return s
}

// learn updates the shape with a release of sums of residuals clamped to [-clip, clip], whose noise has
// standard deviation sigma. It returns the change of the values.
func (s *shape) learn(sums []float64, sigma, clip float64) []float64 {
	k := len(s.values)
	w := 1 / (sigma * sigma)
	s.weight += w
	deviation := make([]float64, k) // of the averaged observation of each value
	for b, n := range s.groups.counts {
		s.mean[b] += w / s.weight * (s.values[b] + sums[b]/n - s.mean[b])
		// privacy noise, and the sampling error of residuals of about clip/2
		deviation[b] = math.Sqrt(1/s.weight/(n*n) + clip*clip/4/n)
	}
	if s.kernel == nil {
		return s.learnIndependent(deviation)
	}
	scaled := mat.NewSymDense(k, nil)
	for b := range k {
		for c := b; c < k; c++ {
			scaled.SetSym(b, c, s.kernel.At(b, c)/(deviation[b]*deviation[c]))
		}
	}
	spectrum := linear.NewSpectrum(scaled)
	observed := mat.NewVecDense(k, nil)
	for b := range k {
		observed.SetVec(b, s.mean[b]/deviation[b])
	}
	var turned, back mat.VecDense
	turned.MulVec(spectrum.Vectors.T(), observed)
	signal := make([]float64, k)
	energy := make([]float64, k)
	largest := math.SmallestNonzeroFloat32
	for i, e := range spectrum.Values {
		signal[i], energy[i] = max(e, 0), turned.AtVec(i)*turned.AtVec(i)
		largest = max(largest, e)
	}
	t, _ := mostLikelyVariance(
		geometricGrid(shapeLeast/largest, shapeMost/largest, shapeSteps),
		signal,
		energy,
	)
	for i, e := range signal {
		signal[i] = t * e / (1 + t*e)
		turned.SetVec(i, turned.AtVec(i)*signal[i])
	}
	s.last = posterior{spectrum.Vectors, signal, deviation}
	back.MulVec(spectrum.Vectors, &turned)
	step := make([]float64, k)
	for b := range step {
		next := back.AtVec(b) * deviation[b]
		step[b], s.values[b] = next-s.values[b], next
	}
	return step
}

// step converts the shape to original units: edges within r, values of a target with the given half width, less
// their mean over the released counts, which it returns too. A flat shape, or one whose edges coincide in
// float64, has no edges and that mean.
func (s *shape) step(r scaling.Range, half float64) (regression.Step, float64) {
	total := 0.0
	sum := 0.0
	flat := true
	for b, n := range s.groups.counts {
		total += n
		sum += n * s.values[b]
		flat = flat && s.values[b] == s.values[0]
	}
	mean := saturate(sum / total * half)
	if flat {
		return regression.Step{}, mean
	}
	out := regression.Step{}
	for i, v := range s.values {
		if i > 0 {
			edge := saturate(r.Center() + r.Half()*(2*float64(s.groups.edges[i-1])/fineBins-1))
			if last := len(out.Edges) - 1; last >= 0 && !(edge > out.Edges[last]) {
				return regression.Step{}, mean
			}
			out.Edges = append(out.Edges, edge)
		}
		out.Values = append(out.Values, saturate(v*half-mean))
	}
	return out, mean
}

// largestNumber is the magnitude at which the numbers of a model saturate.
const largestNumber = 1e300

// saturate returns x limited to the numbers that a model may hold.
func saturate(x float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, -largestNumber), largestNumber)
}

func sqrtParts(parts int) float64 {
	return math.Sqrt(float64(parts))
}
