package evaluate

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// ReleasedSums are the released numbers from which the metrics of a regression are computed by group: sums over the records of
// each group, and numbers that are estimated from all records.
type ReleasedSums struct {
	Unit        float64 // the half width of the target's range, in units of the target: that of the limits
	TargetLimit float64 // targets and predictions are cut at this distance from the centre; t is in units of it
	ErrorLimit  float64 // errors are cut here; r is in units of it
	// ErrorKurtosis and TargetKurtosis are n sum x⁴/(sum x²)² of all records' errors and targets, each with a margin for its
	// noise. They determine the sampling error.
	ErrorKurtosis  float64
	TargetKurtosis float64
	Scale          float64 // standard deviation of the noise in a sum of weight 1; see [mechanism.GroupNoise]
	Sums           []mechanism.GroupSquares
}

// The rules by which the sampling error of a group is estimated from that of all records.
const (
	// groupLuckMargin is the factor of the fourth powers: that of a group may be larger than that of all records.
	groupLuckMargin = 1.25
	// leastAbsoluteLuck is the least sampling error of the sum A of absolute errors, in units of A²/n. Normal errors have .57.
	leastAbsoluteLuck = .3
)

// releasedSums collects the numbers of groups. a has the sums over all records, from both halves.
func releasedSums(
	half float64,
	sizes mechanism.Sizes,
	l limits,
	a mechanism.Squares,
	groups mechanism.GroupedSquares,
) *ReleasedSums {
	errors := noisySum{}
	limit := square(square(l.residual))
	last := int(sizeBin(l.residual))
	for b, n := range sizes.First[:last+1] {
		fourth := min(fourthOfBin*square(square(upperEdge(b))), limit)
		errors.value += fourth * n
		errors.variance += square(fourth * sizes.FirstNoise)
	}
	errors.value += limit * recordsNearby(sizes.First, last)

	targets := noisySum{}
	limit = square(square(l.target))
	last = int(sizeBin(l.target))
	for b, n := range sizes.Second[:last+1] {
		fourth := min(fourthOfBin*square(square(upperEdge(b))), limit)
		targets.value += fourth * n
		targets.variance += square(fourth * sizes.SecondNoise)
	}
	if l.target < 1 {
		targets.value += limit * recordsNearby(sizes.Second, last)
	}
	n := max(a.Count, 1)
	return &ReleasedSums{
		Unit:           half,
		TargetLimit:    l.target,
		ErrorLimit:     l.residual,
		Scale:          groups.Unit,
		Sums:           groups.Groups,
		ErrorKurtosis:  kurtosis(errors, square(l.residual)*a.Residual, n),
		TargetKurtosis: kurtosis(targets, square(l.target)*a.Target, n),
	}
}

// kurtosis returns n fourths/squares² with the margin for the noise of fourths, in [1, n].
func kurtosis(fourths noisySum, squares, n float64) float64 {
	k := n * (fourths.value + luckMargin*math.Sqrt(fourths.variance)) / square(squares)
	if !(squares > 0 && k < n) {
		return n
	}
	return max(k, 1)
}

// RegressionGroups computes the metrics of every group from released numbers. names are those of all groups but the last.
func RegressionGroups(column string, names []string, x *ReleasedSums) *ByGroup {
	out := newByGroup(column, names)
	out.Sums = x
	out.ErrorLimit = clampFinite(x.Unit * x.ErrorLimit)
	noise := mechanism.GroupNoise(x.Scale)
	for k := range out.Groups {
		g := &out.Groups[k]
		if !g.setRecords(Count{x.Sums[k].Count, noise.Count}) {
			continue
		}
		e := x.estimate(k)
		r2 := e.r2(Level)
		g.R2 = &Quality{r2.value, r2.lower, r2.upper, Level}
		mae, rmse := makeConsistent(e.mae(x), e.rmse(x))
		bias := e.bias(x)
		g.MAE = &mae
		g.RMSE = &rmse
		g.Bias = &bias
	}
	// Differences from an R² that is nearly unknown are given as well: to leave them out by the width of its interval would
	// leave too many wrong ones among the others.
	out.compare(func(group int, level float64) groupMetric {
		return x.estimate(group).r2(level)
	})
	return out
}

// groupEstimates are the estimates of one group, in half widths of the target's range.
type groupEstimates struct {
	n, countVariance                float64 // records with a target
	error, errorNoise, errorLuck    float64 // sum of squared errors, with the variances of noise and sampling error
	total, totalNoise, totalLuck    float64 // sum of squares of targets around their mean, likewise
	signed, absolute, errorVariance float64 // sums of errors and of their sizes, with the variance of the noise in either
}

// estimate computes the estimates of a group as [computeEstimates] does for all records. The sampling errors are those of all records,
// scaled: with the same kurtosis, the fourth powers of n errors with the sum of squares E add up to E²/n times it.
func (x *ReleasedSums) estimate(group int) groupEstimates {
	a := x.Sums[group]
	noise := mechanism.GroupNoise(x.Scale)
	n := max(a.Count, 1)
	limit := x.TargetLimit
	mean := min(max(limit*a.Sum/n, -limit), limit)
	e := groupEstimates{
		n:             n,
		countVariance: square(noise.Count),
		error:         max(square(x.ErrorLimit)*a.Residual, 0),
		errorNoise:    square(square(x.ErrorLimit) * noise.Residual),
		total:         square(limit)*a.Target - n*square(mean),
		totalNoise: square(square(limit)*noise.Target) + square(2*mean*limit*noise.Sum) +
			square(square(mean)*noise.Count),
		signed:        x.ErrorLimit * a.Signed,
		absolute:      max(x.ErrorLimit*a.Absolute, 0),
		errorVariance: square(x.ErrorLimit * noise.Signed),
	}
	e.errorLuck = max(groupLuckMargin*x.ErrorKurtosis-1, leastErrorLuck) * square(e.error) / n
	squares := max(square(limit)*a.Target, 0)
	e.totalLuck = max(groupLuckMargin*x.TargetKurtosis*square(squares)-square(e.total),
		leastTotalLuck*square(e.total)) / n
	return e
}

// r2 returns R² with Fieller's interval.
func (e groupEstimates) r2(level float64) groupMetric {
	covariance := sharedLuck * min(e.errorLuck, e.totalLuck)
	least, most := fiellerInterval(
		e.error,
		e.total,
		e.errorNoise+e.errorLuck,
		e.totalNoise+e.totalLuck,
		covariance,
		normalDeviations(level),
	)
	lower := clampR2(1 - most)
	upper := clampR2(1 - least)
	value := float64(floor)
	if e.total > 0 {
		value = clampR2(1 - e.error/e.total)
	}
	return groupMetric{
		value: min(max(value, lower), upper),
		lower: lower,
		upper: upper,
		known: true,
	}
}

// mae returns the mean absolute error, in units of the target.
func (e groupEstimates) mae(x *ReleasedSums) Quality {
	mean := square(e.absolute) / e.n
	luck := max(e.error-mean, leastAbsoluteLuck*mean)
	lower, upper := fiellerInterval(
		e.absolute,
		e.n,
		e.errorVariance+luck,
		e.countVariance,
		0,
		twoSided,
	)
	return x.inUnits(e.absolute/e.n, lower, upper)
}

// rmse returns the root of the mean squared error, in units of the target.
func (e groupEstimates) rmse(x *ReleasedSums) Quality {
	lower, upper := fiellerInterval(
		e.error,
		e.n,
		e.errorNoise+e.errorLuck,
		e.countVariance,
		0,
		twoSided,
	)
	return x.inUnits(math.Sqrt(e.error/e.n), math.Sqrt(lower), math.Sqrt(upper))
}

// inUnits returns an error in units of the target. No error counts as more than the limit.
func (x *ReleasedSums) inUnits(value, lower, upper float64) Quality {
	upper = min(upper, x.ErrorLimit)
	value = min(max(value, lower), upper)
	return Quality{clampFinite(value * x.Unit), clampFinite(min(lower, value) * x.Unit),
		clampFinite(upper * x.Unit), Level}
}

// bias returns the mean error with its sign, in units of the target. The sampling error is at most that of errors with mean 0.
func (e groupEstimates) bias(x *ReleasedSums) Quality {
	lower, upper := signedFieller(
		e.signed,
		e.n,
		e.errorVariance+e.error,
		e.countVariance,
	)
	lower = max(lower, -x.ErrorLimit)
	upper = min(upper, x.ErrorLimit)
	value := min(max(e.signed/e.n, lower), upper)
	return Quality{clampFinite(value * x.Unit), clampFinite(lower * x.Unit),
		clampFinite(upper * x.Unit), Level}
}

// signedFieller is [fiellerInterval] at the level [Level] without covariance for a ratio of either sign. n is positive.
func signedFieller(e, n, varE, varN float64) (lower, upper float64) {
	a := n*n - square(twoSided)*varN
	b := e * n
	disc := b*b - a*(e*e-square(twoSided)*varE)
	if !(a > 0 && disc >= 0) {
		return math.Inf(-1), math.Inf(1)
	}
	root := math.Sqrt(disc)
	return (b - root) / a, (b + root) / a
}
