package boosting

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

const (
	// scoreColumn stands for the score among the columns with a shape.
	scoreColumn = -1
	// twoValuedShare is the share of the records in the two fullest fine bins
	// from which a feature counts as two-valued. Such a feature needs no shape:
	// the linear part says all about it.
	twoValuedShare = .98
	// twoValuedNoise is how many standard deviations of the noise of a count the
	// other records of a feature must exceed, so that there is something to learn.
	twoValuedNoise = 3
	// minRecords is the smallest number of records that is reckoned with.
	minRecords = 10
	// leastShare is the smallest share of the records that a step is taken to
	// hold: fewer would make its mean unbounded.
	leastShare = .002
	// A shape has about as many steps as leave each stepNoise times the noise
	// of one fine bin's count, but no fewer than leastSteps and no more than
	// mostSteps, beside bins that are full enough to be steps by themselves: the
	// curve is smoothed anyway, but its steps must be weighed.
	stepNoise  = 5
	leastSteps = 8
	mostSteps  = 48
	// clipQuantile is the quantile of the sizes of the residuals at which they
	// are clamped.
	clipQuantile = .9
	// smoothness is the distance, as a share of the steps, over which the prior
	// correlation of a shape's values falls by a factor e.
	smoothness = .3
	// classClip is where the residuals of a target of -1 and +1 are clamped. They
	// lie within [-2, 2], and are beyond 1 where the prediction is wrong.
	classClip = 1.4
	// The grid of prior variances of a shape, relative to the smallest one
	// that could be seen through the noise.
	shapeSteps = 18
	shapeLeast = .3
	shapeMost  = 3e4
)

// twoValued reports whether two fine bins hold almost all of the records, as far
// as the counts, with noise of standard deviation sigma, can tell.
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

// total returns the noisy number of records: every column counts each once.
func total(counts [][]float64) float64 {
	sum := 0.0
	for _, column := range counts {
		for _, n := range column {
			sum += n
		}
	}
	return sum / float64(len(counts))
}

// groups says how fine bins are joined to the steps of a shape.
type groups struct {
	of     [fineBins]uint8 // the step of each fine bin
	edges  []int           // first fine bin of every step but the first
	counts []float64       // noisy number of records of each step, floored

	centers []float64 // of each step: where its records are, the range being [-1, 1]
}

// bins returns the first fine bin of a step and the one after its last.
func (g groups) bins(step int) (first, last int) {
	last = fineBins
	if step > 0 {
		first = g.edges[step-1]
	}
	if step < len(g.edges) {
		last = g.edges[step]
	}
	return first, last
}

// group joins fine bins to steps of about equally many records; a fine bin that
// holds more is a step of its own, and the others share the records that are
// left. sigma is the noise in counts. Bins whose count does not pass the noise
// count as empty and join the step to their left.
func group(counts []float64, sigma, records float64) groups {
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
	g := groups{counts: []float64{0}}
	size := 0
	sizes := []int{}
	held := 0.0
	for b, n := range kept {
		if held > 0 && n > 0 && held+n/2 > share {
			g.edges, g.counts, sizes = append(g.edges, b), append(g.counts, 0), append(sizes, size)
			held = 0
			size = 0
		}
		held += n
		size++
		g.of[b] = uint8(len(g.edges))
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
// At values f the sum of the residuals in bin b is in expectation
// n_b (u_b - f_b), u the curve that fits best given the other parts, so f_b plus
// sum/n_b observes u_b whatever f was. The observations are averaged with
// weights 1/sigma^2. The curve is the posterior mean under a Gaussian prior with
// covariance t exp(-|b - c|/(k smoothness)) for k steps, and t of highest marginal likelihood among 0 and a grid
// (empirical Bayes). A curve that the noise hides becomes 0.
type shape struct {
	column int // index of the column, or scoreColumn
	bins   int // of the state
	groups groups
	levels *valueGroups  // of a column of many values; nil for a curve
	kernel *mat.SymDense // nil for values without order, which are independent
	values []float64
	mean   []float64 // of the observations
	weight float64   // the sum of 1/sigma^2
	last   posterior // of the last epoch
}

// posterior says how values follow from the averaged observations: with D the
// deviations and U the vectors, values = D U diag(shrink) U' D^-1 mean.
type posterior struct {
	vectors           *mat.Dense
	shrink, deviation []float64
}

func newShape(column, bins int, g groups) *shape {
	k := len(g.counts)
	s := &shape{column: column, bins: bins, groups: g, kernel: mat.NewSymDense(k, nil), values: make([]float64, k), mean: make([]float64, k)}
	for b := range k {
		for c := b; c < k; c++ {
			s.kernel.SetSym(b, c, math.Exp(float64(b-c)/float64(k)/smoothness))
		}
	}
	return s
}

// learn takes in a release of sums of residuals clamped to [-clip, clip] with
// noise of standard deviation sigma and returns by how much the values move.
func (s *shape) learn(sums []float64, sigma, clip float64) []float64 {
	k := len(s.values)
	w := 1 / (sigma * sigma)
	s.weight += w
	deviation := make([]float64, k) // of the averaged observation of each value
	for b, n := range s.groups.counts {
		s.mean[b] += w / s.weight * (s.values[b] + sums[b]/n - s.mean[b])
		// Privacy noise, and that residuals of about clip/2 are a sample.
		deviation[b] = math.Sqrt(1/s.weight/(n*n) + clip*clip/4/n)
	}
	if s.kernel == nil {
		return s.independent(deviation)
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
	t, _ := likeliest(geometric(shapeLeast/largest, shapeMost/largest, shapeSteps), signal, energy)
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

// step states the shape in original units: edges within r, values of a target
// with the given half width, less their mean over the released counts, which is
// returned beside it. A shape that is flat, and one whose edges float64 does
// not tell apart, has no edges and that mean.
func (s *shape) step(r scaling.Range, half float64) (regression.Step, float64) {
	total := 0.0
	sum := 0.0
	flat := true
	for b, n := range s.groups.counts {
		total += n
		sum += n * s.values[b]
		flat = flat && s.values[b] == s.values[0]
	}
	mean := saturated(sum / total * half)
	if flat {
		return regression.Step{}, mean
	}
	out := regression.Step{}
	for i, v := range s.values {
		if i > 0 {
			edge := saturated(r.Center() + r.Half()*(2*float64(s.groups.edges[i-1])/fineBins-1))
			if last := len(out.Edges) - 1; last >= 0 && !(edge > out.Edges[last]) {
				return regression.Step{}, mean
			}
			out.Edges = append(out.Edges, edge)
		}
		out.Values = append(out.Values, saturated(v*half-mean))
	}
	return out, mean
}

// largestNumber is the magnitude at which the numbers of a model saturate.
const largestNumber = 1e300

// saturated returns x within the numbers that a model may hold.
func saturated(x float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, -largestNumber), largestNumber)
}

func rootOf(parts int) float64 { return math.Sqrt(float64(parts)) }
