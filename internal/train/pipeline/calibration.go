package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/regression"
)

// The probability of the second class is a curve in the score, fitted to the noisy counts from which the
// cutoff is read: the log odds are linear between kinks, whose sizes are penalised. It is post-processing of
// released counts.
const (
	// kinkPenalty is the penalty on the squared change of slope at a kink; interceptPenalty and slopePenalty only keep the
	// equations solvable.
	kinkPenalty      = .05
	interceptPenalty = 1e-6
	slopePenalty     = 1e-4
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

// calibrationKinks are the scores at which the slope of the log odds may change.
func calibrationKinks() []float64 { return []float64{-.6, -.3, 0, .3, .6} }

// calibrationBasis returns the functions of a score whose weighted sum is the log odds.
func calibrationBasis(score float64) []float64 {
	basis := []float64{1, score}
	for _, kink := range calibrationKinks() {
		basis = append(basis, math.Abs(score-kink)/2)
	}
	return basis
}

// sigmoid returns 1/(1 + e^-x).
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// calibration is the fit of a curve to noisy counts of both classes, one number per bin of the score.
type calibration struct {
	first, second []float64
	mass          []float64 // smoothed number of records in a bin, at least 0
	basis         [][]float64
	sigma         float64 // standard deviation of the noise of a count
}

// newCalibration prepares the fit. Bins are equal parts of [-1, 1].
func newCalibration(first, second []float64, sigma float64) *calibration {
	c := &calibration{first: first, second: second, sigma: sigma}
	whole := make([]float64, len(first))
	for b := range first {
		whole[b] = first[b] + second[b]
		middle := (float64(b)+.5)*2/float64(len(first)) - 1
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
func convolveCounts(counts []float64, width float64) (values []float64, trace float64) {
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

// fitCoefficients returns the coefficients of the first len(start) functions of the basis.
//
// With P and Q the noisy counts of the second and the first class in a bin and pi the probability there, e = P
// (1-pi) - Q pi has mean 0 for the true pi, for negative counts too. Its variance is v = sigma^2 ((1-pi)^2 +
// pi^2) + h with h = mass pi (1-pi), which is also the derivative of -e by the log odds. The steps are those of
// Gauss and Newton for the sum of e^2/v, with v fixed in each.
func (c *calibration) fitCoefficients(start []float64) []float64 {
	coefficients := append([]float64(nil), start...)
	n := len(coefficients)
	for range calibrationSteps {
		step := c.newtonStep(coefficients)
		if step == nil {
			break
		}
		largest := 0.
		for _, d := range step {
			largest = max(largest, math.Abs(d))
		}
		scale := min(1, longestStep/max(largest, longestStep))
		for i := range n {
			coefficients[i] += scale * step[i]
		}
		if scale*largest < smallestStep {
			break
		}
	}
	return coefficients
}

// newtonStep returns the change of the coefficients; nil if the equations cannot be solved.
func (c *calibration) newtonStep(coefficients []float64) []float64 {
	n := len(coefficients)
	matrix := mat.NewSymDense(n, nil)
	right := mat.NewVecDense(n, nil)
	for i := range n {
		penalty := calibrationPenalty(i)
		matrix.SetSym(i, i, penalty)
		right.SetVec(i, -penalty*coefficients[i])
	}
	for b, basis := range c.basis {
		odds := 0.
		for i, t := range coefficients {
			odds += t * basis[i]
		}
		pi := sigmoid(odds)
		h := c.mass[b] * pi * (1 - pi)
		v := c.sigma*c.sigma*((1-pi)*(1-pi)+pi*pi) + h
		e := c.second[b]*(1-pi) - c.first[b]*pi
		if !(v > 0) {
			continue
		}
		for i := range n {
			right.SetVec(i, right.AtVec(i)+basis[i]*h*e/v)
			for j := i; j < n; j++ {
				matrix.SetSym(i, j, matrix.At(i, j)+basis[i]*basis[j]*h*h/v)
			}
		}
	}
	var factors mat.Cholesky
	if !factors.Factorize(matrix) {
		return nil
	}
	var step mat.VecDense
	if err := factors.SolveVecTo(&step, right); err != nil {
		return nil
	}
	return step.RawVector().Data
}

// calibrationPenalty returns the penalty on the square of coefficient i.
func calibrationPenalty(i int) float64 {
	switch i {
	case 0:
		return interceptPenalty
	case 1:
		return slopePenalty
	}
	return kinkPenalty
}

// coefficients returns those of all functions of the basis. The fit starts at a line, whose fit starts at the share
// of the second class.
func (c *calibration) coefficients() (line, all []float64) {
	first := sumOf(c.first)
	second := sumOf(c.second)
	share := .5
	if whole := first + second; whole > 0 {
		share = min(max(second/whole, .01), .99)
	}
	line = c.fitCoefficients([]float64{math.Log(share / (1 - share)), 1})
	return line, c.fitCoefficients(append(append([]float64(nil), line...), make([]float64, len(calibrationKinks()))...))
}

// fittedCurve returns the fitted curve, made nondecreasing: values of a decreasing part are replaced by their mean,
// weighted by the numbers of records, so that values in bins without records have no weight.
func (c *calibration) fittedCurve() *regression.Probability {
	line, coefficients := c.coefficients()
	scores := make([]float64, curvePoints)
	values := make([]float64, curvePoints)
	weights := make([]float64, curvePoints)
	for k := range scores {
		scores[k] = 2*float64(k)/(curvePoints-1) - 1
		odds := 0.
		for i, x := range calibrationBasis(scores[k]) {
			odds += coefficients[i] * x
		}
		values[k] = sigmoid(odds)
		weights[k] = leastWeight + c.mass[min(k*len(c.mass)/(curvePoints-1), len(c.mass)-1)]
	}
	p := thinCurve(scores, poolAdjacent(values, weights))
	p.Intercept = line[0]
	p.Slope = line[1]
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
		mean, weight float64
		length       int
	}
	var pools []pool
	for k, v := range values {
		next := pool{v, weights[k], 1}
		for len(pools) > 0 && pools[len(pools)-1].mean >= next.mean {
			last := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			whole := last.weight + next.weight
			next = pool{(last.mean*last.weight + next.mean*next.weight) / whole, whole, last.length + next.length}
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
	p := &regression.Probability{Scores: scores[:1:1], Values: values[:1:1]}
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
