package describe

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// z95 is the quantile of the normal distribution for intervals of 95%.
const z95 = 1.959964

// minSignal is the number of standard deviations of its noise that a count or a variance must reach to be used.
const minSignal = 4

// A noisyNumber is a released number with the standard deviation of its noise.
type noisyNumber struct{ value, noise float64 }

// combineMeasures returns the mean of several measures of one number, weighted by 1/variance. A measure without noise is the number.
func combineMeasures(measures ...noisyNumber) noisyNumber {
	sum := 0.
	weights := 0.
	for _, m := range measures {
		if m.noise == 0 {
			return m
		}
		w := 1 / (m.noise * m.noise)
		sum += w * m.value
		weights += w
	}
	return noisyNumber{sum / weights, 1 / math.Sqrt(weights)}
}

// fiellerInterval returns Fieller's interval of a/b, of two numbers with independent noise, for the normal quantile z. The ends are
// infinite if b may be 0.
func fiellerInterval(a, b noisyNumber, z float64) (lower, upper float64) {
	square := b.value*b.value - z*z*b.noise*b.noise
	if !(square > 0) || b.value <= 0 {
		return math.Inf(-1), math.Inf(1)
	}
	middle := a.value * b.value
	root := math.Sqrt(math.Max(middle*middle-square*(a.value*a.value-z*z*a.noise*a.noise), 0))
	return (middle - root) / square, (middle + root) / square
}

// deviationInterval returns the standard deviation of values with the given number, sum and sum of squares, and its interval, all in the units of
// the values. The noise of the three is independent.
func deviationInterval(count, sum, square noisyNumber) (value, lower, upper float64) {
	v, noise := varianceOf(count, sum, square)
	root := func(x float64) float64 {
		return math.Sqrt(math.Max(x, 0))
	}
	return root(v), root(v - z95*noise), root(v + z95*noise)
}

// varianceOf returns the variance of values and the standard deviation of its noise, by linear approximation.
func varianceOf(count, sum, square noisyNumber) (v, noise float64) {
	n := count.value
	m := min(max(sum.value/n, -1), 1)
	second := square.value / n
	v = second - m*m
	noise = math.Sqrt(square.noise*square.noise+4*m*m*sum.noise*sum.noise+
		(2*m*m-second)*(2*m*m-second)*count.noise*count.noise) / n
	return v, noise
}

// A momentPair holds the sums of two columns: their number of records, sums, sums of squares and sum of products.
type momentPair struct {
	count         noisyNumber
	product       noisyNumber
	sums, squares [2]noisyNumber
}

// correlation returns the correlation of a pair and the standard deviation of its noise, by linear approximation. ok is false
// if a variance is less than four standard deviations of its noise.
func (p momentPair) correlation() (r, noise float64, ok bool) {
	n := p.count.value
	var mean, variance, relative [2]float64
	for i := range 2 {
		m := p.sums[i].value / n
		second := p.squares[i].value / n
		v := second - m*m
		ofCount := 2*m*m - second
		spread := p.squares[i].noise * p.squares[i].noise
		spread += 4 * m * m * p.sums[i].noise * p.sums[i].noise
		spread += ofCount * ofCount * p.count.noise * p.count.noise
		sd := math.Sqrt(spread) / n
		if !(v >= minSignal*sd) || v == 0 {
			return 0, 0, false
		}
		mean[i] = m
		variance[i] = v
		relative[i] = sd / v
	}
	product := p.product.value / n
	both := variance[0] * variance[1]
	r = (product - mean[0]*mean[1]) / math.Sqrt(both)
	ofCount := product - 2*mean[0]*mean[1]
	noise = p.product.noise * p.product.noise
	noise += mean[1] * mean[1] * p.sums[0].noise * p.sums[0].noise
	noise += mean[0] * mean[0] * p.sums[1].noise * p.sums[1].noise
	noise += ofCount * ofCount * p.count.noise * p.count.noise
	cov := math.Sqrt(noise) / n
	scales := relative[0]*relative[0] + relative[1]*relative[1]
	return r, math.Sqrt(cov*cov/both + r*r/4*scales), true
}

// twoSidedQuantile returns the normal quantile of two-sided intervals that miss with the given probability.
func twoSidedQuantile(miss float64) float64 {
	return -mathext.NormalQuantile(miss / 2)
}

// noiseNormQuantile returns the value that the root of the sum of c_k x_k² exceeds with probability miss, for independent standard
// normal x_k, by Satterthwaite's approximation.
func noiseNormQuantile(c []float64, miss float64) float64 {
	sum := 0.
	squares := 0.
	for _, x := range c {
		sum += x
		squares += x * x
	}
	if sum == 0 {
		return 0
	}
	scale := squares / sum
	freedom := sum * sum / squares
	return math.Sqrt(scale * distuv.ChiSquared{K: freedom}.Quantile(1-miss))
}

// etaSums holds, by category, the number of records and the sum of a numeric column, and the sum of squares of that column about its
// mean.
type etaSums struct {
	counts     []float64
	sums       []float64
	countNoise float64
	sumNoise   float64
	total      noisyNumber
}

// The probabilities with which the noise norm and the total exceed their bounds in an interval of eta.
const (
	normMiss  = .04
	totalMiss = .01
)

// poolCategories returns the categories with at least four standard deviations of noise, and one that pools all others, if their total
// reaches four standard deviations of its noise. members holds the number of categories in each.
func (e etaSums) poolCategories() (counts, sums, members []float64) {
	var rest, restSum, number float64
	for k, n := range e.counts {
		if n >= minSignal*e.countNoise {
			counts = append(counts, n)
			sums = append(sums, e.sums[k])
			members = append(members, 1)
			continue
		}
		rest += n
		restSum += e.sums[k]
		number++
	}
	if len(counts) >= 2 && number > 0 && rest >= minSignal*e.countNoise*math.Sqrt(number) {
		counts = append(counts, rest)
		sums = append(sums, restSum)
		members = append(members, number)
	}
	return counts, sums, members
}

// interval returns the correlation ratio of a numeric and a category column and an interval that misses it with probability
// miss. ok is false if fewer than two categories or no variance were seen.
//
// With delta_k = S_k - m N_k the ratio is sqrt(U/T), U the sum of delta_k²/N_k and T the total. By the triangle inequality the
// root of U moves by at most the norm of the noise of delta_k/sqrt(N_k), whose variances are c_k.
func (e etaSums) interval(miss float64) (value, lower, upper float64, ok bool) {
	counts, sums, members := e.poolCategories()
	share := miss / (normMiss + totalMiss)
	z := math.Ceil(1000*twoSidedQuantile(totalMiss*share)) / 1000
	least := e.total.value - z*e.total.noise
	most := e.total.value + z*e.total.noise
	if len(counts) < 2 || !(least > 0) {
		return 0, 0, 1, false
	}
	records := 0.
	all := 0.
	for k := range counts {
		records += counts[k]
		all += sums[k]
	}
	m := min(max(all/records, -1), 1)
	between := 0.
	var noise []float64
	for k, n := range counts {
		d := sums[k] - m*n
		between += d * d / n
		noise = append(noise, members[k]*(e.sumNoise*e.sumNoise+m*m*e.countNoise*e.countNoise)/n)
	}
	q := noiseNormQuantile(noise, normMiss*share)
	root := math.Sqrt(between)
	lower = min(max(root-q, 0)/math.Sqrt(most), 1)
	upper = min((root+q)/math.Sqrt(least), 1)
	sum := 0.
	for _, c := range noise {
		sum += c
	}
	value = math.Sqrt(math.Max(between-sum, 0) / e.total.value) // noise adds sum to the expectation of U
	return min(max(value, lower), upper), lower, upper, true
}
