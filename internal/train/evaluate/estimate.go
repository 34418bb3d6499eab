package evaluate

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// estimates is everything that is computed from both releases, in half widths of the target's
// range. All of it is a function of released numbers.
type estimates struct {
	limits     limits
	top        float64 // the largest residual there is
	cut        float64 // the limit at which residuals count, C_K; at least limits.residual
	seenBeyond bool    // K > 0: residuals beyond limits.residual are seen

	n          float64 // held-out records with a readable target, at least 1
	countNoise float64
	error      float64 // E: sum of squared residuals, each cut at cut; noise may make it negative
	total      float64 // T: sum of squares of targets around their mean

	errorNoise      float64 // variances of the noise
	totalNoise      float64
	noiseCovariance float64
	errorLuck       float64 // variances of the sampling error: which records were held out
	totalLuck       float64
	luckCovariance  float64
	// luckFactor is the variance of the sampling error of E/T, in units of what the three numbers above make of it. In
	// intervals of R² they count times this factor.
	luckFactor float64

	rest        float64 // contribution of residuals beyond cut to E, as far as it is counted; at least 0
	restNoise   float64 // standard deviation of its noise
	largestRest float64 // maximum contribution of one residual: top^2 - cut^2
	hasRest     bool    // residuals beyond cut are possible

	absolute       float64 // mean |t-p|, each cut at cut
	absoluteVar    float64
	absoluteExcess float64 // excess kurtosis of its noise and sampling error

	// parts are the independent noises of E and T, for Laplace noise only. Gaussian noise needs no more than its variances.
	parts []noisePart
}

// A noisePart is one of the independent Laplace noises in both sums: its standard deviation in each, with the sign.
type noisePart struct{ ofError, ofTotal float64 }

// laplaceParts returns the noises of E and T: those of the sums of e - a q, of b q, of t and of 1, and of the nodes.
func (e *estimates) laplaceParts(a mechanism.Squares, mean float64) []noisePart {
	if !a.Laplace {
		return nil
	}
	c := square(e.limits.residual)
	ct := square(e.limits.target)
	shared := a.SharedNoise / a.TargetNoise // of b q in the sum of e
	parts := []noisePart{
		{ofError: c * math.Sqrt(max(square(a.ResidualNoise)-square(shared), 0))},
		{c * shared, ct * a.TargetNoise},
		{ofTotal: -2 * mean * e.limits.target * a.SumNoise},
		{ofTotal: square(mean) * a.CountNoise},
	}
	levels := e.limits.residualNodes()
	for j := range a.Nodes {
		level := min(e.limits.residual*levels.Level(j+1), e.cut)
		parts = append(parts, noisePart{ofError: (square(level) - c) * a.NodeNoise})
	}
	return parts
}

// excess returns the excess kurtosis of E - rho T, whose variance is given.
func (e estimates) excess(rho, variance float64) float64 {
	fourth := 0.
	for _, p := range e.parts {
		fourth += laplaceExcess * square(square(p.ofError-float64(rho*p.ofTotal)))
	}
	return fourth / square(variance)
}

// nodeSeen is the number of standard deviations of their noise that the nodes of a window must exceed for
// residuals to count as present. A limit raised by one octave makes the noise of E several times larger, and is raised
// most often where noise pushed the nodes up, so that R² appears too low. Residuals that remain undetected count as
// at the limit in R², and in full in the bound for all errors.
const nodeSeen = 5

// seenNodes returns the number of nodes, from the first on, in which residuals are detected: it proceeds by one
// node as long as the next node, the next two or all further ones, w nodes, hold more than threshold √w.
func seenNodes(nodes []float64, threshold float64) int {
	k := 0
	for k < len(nodes) {
		seen := false
		for _, w := range []int{1, 2, len(nodes)} {
			window := nodes[k:min(k+w, len(nodes))]
			seen = seen || sumOf(window) > threshold*math.Sqrt(float64(len(window)))
		}
		if !seen {
			break
		}
		k++
	}
	return k
}

// computeEstimates computes the estimates.
//
// With a1..a4 the sums of release 2, each divided by its weight, n = a1, M = Ct a2/n, T = Ct^2 a3 - n M^2. With
// C_j the levels of nodes in units of the target, N_j the nodes and K the number of nodes in which residuals
// are detected, the sum of squares of residuals clamped at C_K is
//
//	E = C^2 a4 + sum_j (min(C_j, C_K)^2 - C^2) N_j,
//
// exactly except for the noise (docs/proofs/evaluation.md, "Nodes"). The noise of all of these is normal with
// known standard deviations; that of T is linearised in a1 and a2.
func computeEstimates(
	sizes mechanism.Sizes,
	l limits,
	a mechanism.Squares,
) estimates {
	mean := min(max(l.target*a.Sum/max(a.Count, 1), -l.target), l.target)
	e := estimates{
		limits:     l,
		top:        l.largestResidual(),
		n:          max(a.Count, 1),
		countNoise: a.CountNoise,
		error:      square(l.residual) * a.Residual,
		errorNoise: square(square(l.residual) * a.ResidualNoise),
		total:      square(l.target)*a.Target - max(a.Count, 1)*square(mean),
		totalNoise: square(square(l.target)*a.TargetNoise) + square(2*mean*l.target*a.SumNoise) +
			square(square(mean)*a.CountNoise),
	}
	fourths := e.addNodes(l.residualNodes(), a)
	e.errorLuck = l.errorLuck(sizes, e.error, e.n, fourths)
	e.totalLuck = l.totalLuck(
		sizes,
		e.total,
		e.n,
		max(math.Abs(mean)-l.target*a.SumNoise/e.n, 0),
	)
	e.luckCovariance = l.luckCovariance(e.errorLuck, e.totalLuck)
	e.noiseCovariance = square(l.residual*l.target) * a.SharedNoise
	e.luckFactor = l.luckFactor(sizes, a)
	if e.seenBeyond {
		e.luckFactor = max(e.luckFactor, 1) // the release does not measure the sampling error of residuals beyond C
	}
	e.parts = e.laplaceParts(a, mean)
	e.absolute, e.absoluteVar, e.absoluteExcess = e.meanSize(sizes)
	return e
}

// noisySum is a noisy number with the variance of its noise.
type noisySum struct{ value, variance float64 }

// addNodes adds the contribution of the detected nodes to E, and bounds that of the others. It returns the sum,
// over residuals beyond C, of their fourth powers minus C^4, clamped at C_K.
func (e *estimates) addNodes(
	levels mechanism.Nodes,
	a mechanism.Squares,
) (fourths noisySum) {
	c := e.limits.residual
	threshold := nodeSeen * a.NodeNoise
	if a.Laplace {
		threshold = laplaceBound(nodeSeen) * a.NodeNoise
	}
	seen := seenNodes(a.Nodes, threshold)
	e.seenBeyond = seen > 0
	e.cut = c * levels.Level(seen)
	e.hasRest = seen < len(a.Nodes)
	e.largestRest = square(e.top) - square(e.cut)
	restSquares := 0.
	for j, n := range a.Nodes {
		level := c * levels.Level(j+1)
		capped := square(min(level, e.cut)) - square(c)
		rest := square(level) - square(c) - capped
		e.error += capped * n
		e.errorNoise += square(capped * a.NodeNoise)
		e.rest += rest * n
		restSquares += square(rest)
		if j < seen {
			fourth := square(square(level)) - square(square(c))
			fourths.value += fourth * n
			fourths.variance += square(fourth * a.NodeNoise)
		}
	}
	e.rest = max(e.rest, 0)
	e.restNoise = a.NodeNoise * math.Sqrt(restSquares)
	fourths.value = max(fourths.value, 0)
	return fourths
}

// The rules by which sampling error is estimated.
const (
	// fourthOfBin is the mean of the fourth powers of the sizes in a bin, in units of that of its upper edge:
	// between an even density in the logarithm of the size (.541) and in the size (.562).
	fourthOfBin = .56
	// luckMargin is the number of standard deviations of their noise added to sums of fourth powers.
	luckMargin = .25
	// The least sampling error of E and of T, in units of E^2/n and T^2/n. A normal error has 2.
	leastErrorLuck = .8
	leastTotalLuck = .3
	// sharedLuck is the covariance of the sampling errors of E and T, relative to the smaller of their
	// variances, and sharedWithoutSignal the value for a model without signal. If errors are normal and
	// independent of the prediction, it is 1.
	sharedLuck          = .5
	sharedWithoutSignal = .7
	// ruleDoubt is the standard deviation of what these rules make of the sampling error of a ratio, in units of it, and
	// doubtMargin the number of standard deviations that are added to what the release and the rules make of it together.
	ruleDoubt   = .8
	doubtMargin = .25
	// The factor by which the release may correct the rules.
	leastFactor   = .5
	largestFactor = 4
	// nearBins is the number of bins beyond a limit whose records are counted at the limit.
	nearBins = 4
)

// errorLuck estimates the variance of the sampling error of E, a sum of squares of n residuals: the sum of their fourth powers
// less E^2/n, as a sum of n independent terms has it. fourths is the part of residuals beyond C.
func (l limits) errorLuck(
	sizes mechanism.Sizes,
	squares, n float64,
	fourths noisySum,
) float64 {
	limit := square(square(l.residual))
	last := int(sizeBin(l.residual))
	weights := 0.
	for b, count := range sizes.First[:last+1] {
		fourth := min(fourthOfBin*square(square(upperEdge(b))), limit)
		fourths.value += fourth * count
		weights += square(fourth)
	}
	fourths.value += limit * recordsNearby(sizes.First, last)
	noise := math.Sqrt(square(sizes.FirstNoise)*weights + fourths.variance)
	mean := square(max(squares, 0)) / n
	return max(fourths.value+luckMargin*noise-mean, leastErrorLuck*mean)
}

// totalLuck estimates the variance of the sampling error of T, a sum of squares of n targets, from the fourth powers of
// distances from the mean, which is at least off away from the middle of the frame.
func (l limits) totalLuck(
	sizes mechanism.Sizes,
	squares, n, off float64,
) float64 {
	last := int(sizeBin(l.target))
	fourths := 0.
	weights := 0.
	for b, count := range sizes.Second[:last+1] {
		size := min(math.Sqrt(math.Sqrt(fourthOfBin))*upperEdge(b), l.target)
		fourth := square(square(size + off))
		fourths += fourth * count
		weights += square(fourth)
	}
	if l.target < 1 {
		fourths += square(square(l.target+off)) * recordsNearby(sizes.Second, last)
	}
	mean := square(squares) / n
	return max(fourths+luckMargin*sizes.SecondNoise*math.Sqrt(weights)-mean, leastTotalLuck*mean)
}

// luckCovariance returns the covariance of the sampling errors of E and T that is assumed, given their variances.
func (l limits) luckCovariance(errorLuck, totalLuck float64) float64 {
	return (sharedLuck + l.noSignal*(sharedWithoutSignal-sharedLuck)) * min(errorLuck, totalLuck)
}

// luckFactor compares the variance of the sampling error of E - rho T with what the rules make of it, where rho is the ratio of
// both that release 1 suggests, residuals are cut at C, and targets count from the middle of the frame.
//
// The release has the sum of squares of the terms of E - rho T. Less the square of their sum over n it is that variance, whatever the
// distribution, and has noise with a known standard deviation. The rules read E and T from half octaves and guess
// how both vary together: their result is trusted to within ruleDoubt of itself. The two are weighted by 1/variance.
func (l limits) luckFactor(sizes mechanism.Sizes, a mechanism.Squares) float64 {
	if a.Laplace { // not measured
		return 1 + doubtMargin*ruleDoubt
	}
	squares := square(l.residual) * a.Residual
	total := square(l.target) * a.Target
	n := max(a.Count, 1)
	rho := l.unexplained
	scale := square(square(l.residual) * max(1, l.ratio()))
	measured := Count{scale*a.Contrast - square(squares-rho*total)/n, scale * a.ContrastNoise}

	errorLuck := l.errorLuck(sizes, squares, n, noisySum{})
	totalLuck := l.totalLuck(sizes, total, n, 0)
	rule := errorLuck + square(rho)*totalLuck - 2*rho*l.luckCovariance(errorLuck, totalLuck)
	if !(rule > 0) {
		return 1
	}
	both := combineCounts(measured, Count{rule, ruleDoubt * rule})
	return min(max((both.Value+doubtMargin*both.Sigma)/rule, leastFactor), largestFactor)
}

// recordsNearby returns the noisy number of records in the bins just beyond bin last, at least 0.
func recordsNearby(counts []float64, last int) float64 {
	from := min(last+1, len(counts))
	return max(sumOf(counts[from:min(from+nearBins, len(counts))]), 0)
}

// meanSize returns the mean of |t-p|, clamped at the limit, and its variance. Neither t nor p is clamped, so
// sizes above the largest residual occur; they are counted up to nearBins beyond it. The records of a bin are
// represented by the mean of a density proportional to 1/size: the logarithmic mean of the bin's ends.
func (e estimates) meanSize(sizes mechanism.Sizes) (mean, variance, excess float64) {
	weights := 0.
	fourths := 0.
	last := min(int(sizeBin(e.top))+nearBins, lastBin)
	for b, n := range sizes.First[:last+1] {
		size := min(binMean(b), e.cut)
		mean += size * n / e.n
		weights += square(size)
		fourths += square(square(size))
	}
	mean = max(mean, 0)
	noise := square(sizes.FirstNoise)*weights + square(mean*e.countNoise)
	luck := max(max(e.error, 0)/e.n-square(mean), 0) * e.n
	if sizes.Laplace {
		fourths = square(square(sizes.FirstNoise))*fourths + square(square(mean*e.countNoise))
		excess = laplaceExcess * fourths / square(noise+luck)
	}
	return mean, (noise + luck) / square(e.n), excess
}

// binMean returns the size that a record in bin b counts as.
func binMean(b int) float64 {
	switch b {
	case 0:
		return upperEdge(0) / 2
	case lastBin:
		return upperEdge(lastBin)
	}
	return (upperEdge(b) - upperEdge(b-1)) / (math.Ln2 / 2)
}

// r2 returns R² = 1 - E/T with its interval at the level [Level]: Fieller's for the
// ratio, with noise and sampling error.
func (e estimates) r2() (value, lower, upper float64) {
	lower, upper = e.r2Interval(max(e.error, 0))
	value = floor
	if e.total > 0 {
		value = clampR2(1 - max(e.error, 0)/e.total)
	}
	return min(max(value, lower), upper), lower, upper
}

// r2Interval returns the interval of 1 - squares/T, where squares has the noise and the sampling error of E.
func (e estimates) r2Interval(squares float64) (lower, upper float64) {
	ofError := e.errorNoise + e.luckFactor*e.errorLuck
	ofTotal := e.totalNoise + e.luckFactor*e.totalLuck
	covariance := e.noiseCovariance + e.luckFactor*e.luckCovariance
	z := twoSided
	if len(e.parts) > 0 && e.total > 0 {
		rho := squares / e.total
		z = deviationsWithin(Level, e.excess(rho, ofError+square(rho)*ofTotal-2*rho*covariance))
	}
	least, most := fiellerInterval(squares, e.total, ofError, ofTotal, covariance, z)
	return clampR2(1 - most), clampR2(1 - least)
}

// noiseShare returns the share of noise in the variance of R², in [0, 1], which a larger budget could reduce.
// The rest is sampling error.
func (e estimates) noiseShare() float64 {
	squares := max(e.error, 0)
	variance := func(ofError, ofTotal, covariance float64) float64 {
		return max(ofError*square(e.total)+ofTotal*square(squares)-2*covariance*squares*e.total, 0)
	}
	noise := variance(e.errorNoise, e.totalNoise, e.noiseCovariance)
	luck := e.luckFactor * variance(e.errorLuck, e.totalLuck, e.luckCovariance)
	if whole := noise + luck; whole > 0 && !math.IsInf(whole, 1) {
		return noise / whole
	}
	return 1
}

// rare is -ln(.025), rounded up: the exponent of a probability of 2.5%.
const rare = 3.69

// mostRest returns an upper bound, at the level 97.5%, on the sum by which the same number of new records would
// exceed E because of residuals beyond the limit. It holds for every distribution of the residuals.
//
// The part W = sum (r^2 - C_K^2)+ of the held-out records is the sum of rest_j u_j, exactly, and e.rest
// estimates it with normal noise. Each term is in [0, v], v = e.largestRest. For n independent terms in [0, 1]
// with the expected sum m, Chernoff's bound is P(sum <= w) <= exp(-(m - w + w ln(w/m))), and the exponent is at
// least L = -ln .025 at m = w + sqrt(2 L w) + L. So with 97.5% confidence the expected sum is at most W +
// sqrt(2 L W v) + L v. Noise and sampling error are independent and are added in squares.
func (e estimates) mostRest() float64 {
	if !e.hasRest {
		return 0
	}
	z := twoSided
	if len(e.parts) > 0 {
		z = laplaceBound(twoSided)
	}
	return e.rest + math.Sqrt(square(z*e.restNoise)+2*rare*e.rest*e.largestRest) +
		rare*e.largestRest
}

// allErrorsLower returns the lowest R² of all errors, however large those beyond the limit are, at the
// level 97.5%.
func (e estimates) allErrorsLower() float64 {
	lower, _ := e.r2Interval(max(e.error, 0) + e.mostRest())
	_, headline, _ := e.r2()
	return min(lower, headline)
}

// rmse returns the root of E/n with its interval, made as that of R².
func (e estimates) rmse() (value, lower, upper float64) {
	squares := max(e.error, 0)
	z := twoSided
	if len(e.parts) > 0 {
		ofCount := squares / e.n * e.countNoise
		z = deviationsWithin(Level, e.excess(0, e.errorNoise+e.errorLuck+square(ofCount)))
	}
	least, most := fiellerInterval(
		squares,
		e.n,
		e.errorNoise+e.errorLuck,
		square(e.countNoise),
		0,
		z,
	)
	return math.Sqrt(squares / e.n), math.Sqrt(least), math.Sqrt(most)
}

// binDoubt is the relative deviation allowed between the mean of the records of a bin and their representative:
// with a uniform density in the bin the mean is larger by one percent.
const binDoubt = .0101

// mae returns the mean absolute error with its interval.
func (e estimates) mae() (value, lower, upper float64) {
	z := twoSided
	if e.absoluteExcess > 0 {
		z = deviationsWithin(Level, e.absoluteExcess)
	}
	reach := z*math.Sqrt(e.absoluteVar) + binDoubt*e.absolute
	return e.absolute, max(e.absolute-reach, 0), e.absolute + reach
}
