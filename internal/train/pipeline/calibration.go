package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/regression"
)

// The probability of the second class is a curve in the score, fitted to the noisy counts from which the
// cutoff is read. A score is fitted to -1 and +1, so (1 + score)/2 is a probability already, and where the counts are
// hidden by noise no curve is better. So several curves are fitted, from one that hardly leaves (1 + score)/2 to one that ignores
// it, and their mean is taken with the weights that the counts give them. It is post-processing of released counts.
const (
	// interceptPenalty and slopePenalty keep the equations of a line solvable.
	interceptPenalty = 1e-6
	slopePenalty     = 1e-4
	// usualSlope is the slope of the log odds of a curve that ignores them, before the counts are read.
	usualSlope = 3.
	// slopeDeviation is the standard deviation of a slope, in units of that of the intercept.
	slopeDeviation = 1.5
	// calibrationSteps is the largest number of Newton steps, longestStep the largest change of a coefficient in one, and
	// smallestStep the change at which they end.
	calibrationSteps = 200
	longestStep      = 3.
	smallestStep     = 1e-10
	// curvePoints is the number of equally spaced scores of [-1, 1] at which the curve is evaluated. Between those that are
	// kept it is linear, and differs from the values at the others by at most curveTolerance.
	curvePoints    = 257
	curveTolerance = 5e-5
	// leastWeight is the weight of a score without records nearby.
	leastWeight = 1e-6
)

// endFactors returns the parts of the score from which the log odds of (1 + score)/2 are computed, which are infinite at 1:
// with the first a score of 1 has probability .975, with the second .9975, as where hardly a record is misclassified.
func endFactors() []float64 {
	return []float64{.95, .995}
}

// calibrationPrior is a normal distribution of curves, before the counts are read.
type calibrationPrior struct {
	identity  float64   // the log odds of (1 + score)/2 count with this factor
	ends      float64   // one of endFactors
	slope     float64   // of the log odds, in addition to that
	precision []float64 // of each coefficient: 1/variance around 0
}

// calibrationPriors are the distributions between which the counts decide: around (1 + score)/2, around a line, and between them, each
// with small and with large deviations of the line and of the slope at kinks.
func calibrationPriors() []calibrationPrior {
	var list []calibrationPrior
	for _, identity := range []float64{0, .5, 1} {
		deviations := []float64{.2, .8}
		ends := endFactors()
		if identity == 0 {
			deviations = []float64{.8, 3}
			ends = ends[:1] // has no effect
		}
		for _, line := range deviations {
			for _, kink := range []float64{.2, 1, 4} {
				precision := []float64{1 / (line * line),
					1 / (line * line * slopeDeviation * slopeDeviation)}
				for range calibrationKinks() {
					precision = append(precision, 1/(kink*kink))
				}
				for _, end := range ends {
					list = append(list, calibrationPrior{
						identity:  identity,
						ends:      end,
						slope:     (1 - identity) * usualSlope,
						precision: precision,
					})
				}
			}
		}
	}
	return list
}

// logOdds returns those of a score before any coefficient.
func (p calibrationPrior) logOdds(score float64) float64 {
	odds := (1 + p.ends*score) / (1 - p.ends*score)
	return p.identity*math.Log(odds) + p.slope*score
}

// calibrationKinks are the scores at which the slope of the log odds may change.
func calibrationKinks() []float64 {
	return []float64{-.6, -.3, 0, .3, .6}
}

// calibrationBasis returns the functions of a score whose weighted sum is the log odds.
func calibrationBasis(score float64) []float64 {
	basis := []float64{1, score}
	for _, kink := range calibrationKinks() {
		basis = append(basis, math.Abs(score-kink)/2)
	}
	return basis
}

// sigmoid returns 1/(1 + e^-x).
func sigmoid(x float64) float64 {
	return 1 / (1 + math.Exp(-x))
}

// calibration is the fit of a curve to noisy counts of both classes, one number per bin of the score.
type calibration struct {
	first, second []float64
	mass          []float64 // smoothed number of records in a bin, at least 0
	middles       []float64
	basis         [][]float64
	sigma         float64 // standard deviation of the noise of a count
}

// newCalibration prepares the fit. Bins are equal parts of [-1, 1].
func newCalibration(first, second []float64, sigma float64) *calibration {
	c := &calibration{
		first:  first,
		second: second,
		sigma:  sigma,
	}
	whole := make([]float64, len(first))
	for b := range first {
		whole[b] = first[b] + second[b]
		middle := (float64(b)+.5)*2/float64(len(first)) - 1
		c.middles = append(c.middles, middle)
		c.basis = append(c.basis, calibrationBasis(middle))
	}
	c.mass = smoothCounts(whole, sigma)
	return c
}

// smoothingWidths are the standard deviations, in bins, of the kernels among which smoothed chooses.
func smoothingWidths() []float64 {
	return []float64{.3, .7, 1, 1.5, 2, 3, 4, 6}
}

// smoothCounts returns noisy counts, each with noise of variance 2 sigma^2, after smoothing by a Gaussian kernel. The width
// is the one with the smallest unbiased estimate of the squared error (C. Stein, "Estimation of the mean of a multivariate
// normal distribution", Annals of Statistics 1981). Negative results become 0.
func smoothCounts(counts []float64, sigma float64) []float64 {
	var best []float64
	least := math.Inf(1)
	for _, width := range smoothingWidths() {
		values, trace := convolveCounts(counts, width)
		risk := 4 * sigma * sigma * trace
		for b, v := range values {
			risk += (v - counts[b]) * (v - counts[b])
		}
		if risk < least {
			least = risk
			best = values
		}
	}
	for b, v := range best {
		best[b] = max(v, 0)
	}
	return best
}

// convolveCounts returns the counts, each spread over all bins by a Gaussian kernel that keeps its sum, and the trace of the
// kernel's matrix.
func convolveCounts(
	counts []float64,
	width float64,
) (values []float64, trace float64) {
	values = make([]float64, len(counts))
	for from, n := range counts {
		kernel := make([]float64, len(counts))
		whole := 0.
		for to := range kernel {
			distance := float64(to-from) / width
			kernel[to] = math.Exp(-distance * distance / 2)
			whole += kernel[to]
		}
		for to, k := range kernel {
			values[to] += n * k / whole
		}
		trace += kernel[from] / whole
	}
	return values, trace
}

// fitCoefficients returns the likeliest coefficients of the first functions of the basis, one for each precision of the prior, starting at
// start, and the logarithm of the evidence for the prior but for a constant that is the same for all.
//
// With P and Q the noisy counts of the second and the first class in a bin and pi the probability there, e = P
// (1-pi) - Q pi has mean 0 for the true pi, for negative counts too. Its variance is v = sigma^2 ((1-pi)^2 +
// pi^2) + h with h = mass pi (1-pi), which is also the derivative of -e by the log odds. The steps are those of
// Gauss and Newton for the sum of e^2/v, with v fixed in each. With the coefficients t, their precisions D and the matrix A = sum x x^T
// h^2/v + D the evidence of a linear model with normal errors is exp(-(sum e^2/v + t^T D t)/2) sqrt(det D/det A) (D. MacKay,
// "Bayesian interpolation", Neural Computation 1992).
func (c *calibration) fitCoefficients(
	prior calibrationPrior,
	start []float64,
) (coefficients []float64, evidence float64) {
	coefficients = slices.Clone(start)
	evidence = math.Inf(-1)
	logOdds := make([]float64, len(c.middles))
	for b, middle := range c.middles {
		logOdds[b] = prior.logOdds(middle)
	}
	for range calibrationSteps {
		step, found := c.newtonStep(prior, logOdds, coefficients)
		if step == nil {
			break
		}
		evidence = found
		largest := 0.
		for _, d := range step {
			largest = max(largest, math.Abs(d))
		}
		scale := min(1, longestStep/max(largest, longestStep))
		for i := range coefficients {
			coefficients[i] += scale * step[i]
		}
		if scale*largest < smallestStep {
			break
		}
	}
	return coefficients, evidence
}

// newtonStep returns the change of the coefficients, nil if the equations cannot be solved, and the evidence before it.
// logOdds are those of the prior in the middles of the bins.
func (c *calibration) newtonStep(
	prior calibrationPrior,
	logOdds, coefficients []float64,
) (step []float64, evidence float64) {
	n := len(prior.precision)
	matrix := make([]float64, n*n) // the upper triangle
	right := make([]float64, n)
	for i, precision := range prior.precision {
		matrix[i*n+i] = precision
		right[i] = -precision * coefficients[i]
		evidence += math.Log(precision)/2 - precision*coefficients[i]*coefficients[i]/2
	}
	for b, basis := range c.basis {
		pi := sigmoid(logOdds[b] + weighted(coefficients, basis))
		h := c.mass[b] * pi * (1 - pi)
		v := c.sigma*c.sigma*((1-pi)*(1-pi)+pi*pi) + h
		e := c.second[b]*(1-pi) - c.first[b]*pi
		if !(v > 0) {
			continue
		}
		evidence -= e * e / v / 2
		for i := range n {
			right[i] += basis[i] * h * e / v
			row := matrix[i*n : (i+1)*n]
			for j := i; j < n; j++ {
				row[j] += basis[i] * basis[j] * h * h / v
			}
		}
	}
	var factors mat.Cholesky
	if !factors.Factorize(mat.NewSymDense(n, matrix)) {
		return nil, 0
	}
	var solution mat.VecDense
	if err := factors.SolveVecTo(&solution, mat.NewVecDense(n, right)); err != nil {
		return nil, 0
	}
	return solution.RawVector().Data, evidence - factors.LogDet()/2
}

// weighted returns the sum of the functions, each times its coefficient.
func weighted(coefficients, functions []float64) float64 {
	sum := 0.
	for i, t := range coefficients {
		sum += float64(t * functions[i])
	}
	return sum
}

// line returns the intercept and the slope of log odds that are a line in the score. The fit starts at the share of the second class.
func (c *calibration) line() (intercept, slope float64) {
	first := sumOf(c.first)
	second := sumOf(c.second)
	share := .5
	if whole := first + second; whole > 0 {
		share = min(max(second/whole, .01), .99)
	}
	t, _ := c.fitCoefficients(
		calibrationPrior{precision: []float64{interceptPenalty, slopePenalty}},
		[]float64{math.Log(share / (1 - share)), 1})
	return t[0], t[1]
}

// means returns the mean probabilities of the curves at scores, each curve weighted by its evidence.
func (c *calibration) means(scores []float64) []float64 {
	priors := calibrationPriors()
	coefficients := make([][]float64, len(priors))
	evidence := make([]float64, len(priors))
	for k, prior := range priors {
		coefficients[k], evidence[k] = c.fitCoefficients(prior,
			make([]float64, len(prior.precision)))
	}
	largest := slices.Max(evidence)
	values := make([]float64, len(scores))
	whole := 0.
	for k, prior := range priors {
		weight := math.Exp(evidence[k] - largest)
		if !(weight > 0) {
			continue
		}
		whole += weight
		for i, score := range scores {
			values[i] += weight *
				sigmoid(prior.logOdds(score)+weighted(coefficients[k], calibrationBasis(score)))
		}
	}
	for i := range values {
		if whole > 0 {
			values[i] /= whole
		} else {
			values[i] = (1 + scores[i]) / 2 // no fit could be made
		}
	}
	return values
}

// fittedCurve returns the mean curve, made nondecreasing: values of a decreasing part are replaced by their mean,
// weighted by the numbers of records, so that values in bins without records have no weight.
func (c *calibration) fittedCurve() *regression.Probability {
	scores := make([]float64, curvePoints)
	weights := make([]float64, curvePoints)
	for k := range scores {
		scores[k] = 2*float64(k)/(curvePoints-1) - 1
		weights[k] = leastWeight + c.mass[min(k*len(c.mass)/(curvePoints-1), len(c.mass)-1)]
	}
	p := thinCurve(scores, poolAdjacent(c.means(scores), weights))
	p.Intercept, p.Slope = c.line()
	if p.Slope < 0 {
		p.Intercept = math.Log((sumOf(c.second) + 1) / (sumOf(c.first) + 1))
		p.Slope = 0
	}
	return p
}

// poolAdjacent returns the non-decreasing values that are nearest to the given ones in the weighted sum of squares, by
// pooling adjacent violators. All weights are above 0.
func poolAdjacent(values, weights []float64) []float64 {
	type pool struct {
		mean   float64
		weight float64
		length int
	}
	var pools []pool
	for k, v := range values {
		next := pool{v, weights[k], 1}
		for len(pools) > 0 && pools[len(pools)-1].mean >= next.mean {
			last := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			whole := last.weight + next.weight
			next = pool{(last.mean*last.weight + next.mean*next.weight) / whole, whole,
				last.length + next.length}
		}
		pools = append(pools, next)
	}
	out := make([]float64, 0, len(values))
	for _, p := range pools {
		for range p.length {
			out = append(out, min(max(p.mean, 0), 1))
		}
	}
	return out
}

// thinCurve returns the curve through as few of the points as keep the others within curveTolerance of it.
func thinCurve(scores, values []float64) *regression.Probability {
	p := &regression.Probability{
		Scores: scores[:1:1],
		Values: values[:1:1],
	}
	for from := 0; from < len(scores)-1; {
		to := from + 1
		for to+1 < len(scores) && isNearlyStraight(values[from:to+2]) {
			to++
		}
		p.Scores = append(p.Scores, scores[to])
		p.Values = append(p.Values, values[to])
		from = to
	}
	return p
}

// isNearlyStraight reports whether all values are within curveTolerance of the line from the first to the last.
func isNearlyStraight(values []float64) bool {
	last := len(values) - 1
	for i, v := range values {
		line := values[0] + (values[last]-values[0])*float64(i)/float64(last)
		if math.Abs(v-line) > curveTolerance {
			return false
		}
	}
	return true
}
