package tukey

import (
	"fmt"
	"math"
	"sort"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

const (
	// leastBuckets is the smallest number of buckets.
	leastBuckets = mechanism.LeastPoints
	// mostBuckets is the largest number of buckets that is considered; with more, the exact check takes longer
	// than a minute.
	mostBuckets = 100_000
	// rowsPerParameter is the required average number of records per bucket and parameter of the model.
	rowsPerParameter = 3
	// passing is the required probability that the check passes on a normally distributed cloud.
	passing = .95
	// spare is the factor by which the minimum number of buckets is multiplied if there are enough records.
	spare = 1.25
	// window is the range around the minimum number of buckets within which passing is not monotone (because of
	// the remainders of m/4 and m/2).
	window = 64
)

// largestStep is where mechanism.TukeyDepth stops sharpening the draw.
const largestStep = 20

// depthCheck is the mechanism's check for models of d parameters.
type depthCheck struct {
	d       int
	epsilon float64
	delta   float64
	split   mechanism.DepthSplit
}

// passesCheck reports whether the check of m models passes with probability at least passing if every coordinate of
// the models is at the quantiles (i-1/2)/m of a normal distribution. This is planning, in floating point; an
// error may cost a model, but not privacy.
//
// The check passes with that probability if h >= ln(1/(2 delta))/e1 + ln(1/(2 (1-passing)))/e1, and as r_k
// increases in k, h >= H is r_(H-1) <= delta. In the notation of mechanism.TukeyDepth, with volumes in
// logarithms, lv_q = d ln(x_(m-q+1) - x_q),
//
//	ln r_k = lv_(t-k-2) + e'(t+k+2) - lw(t+k+1),
//	lw(p) = ln(e^(e'p + lv_p) + sum over q > p of e^(e'(q-1)+lv_q) (e^e' - 1)).
func (c depthCheck) passesCheck(m int) bool {
	e1 := c.split.Check * c.epsilon
	e := min(c.split.Step*c.epsilon, largestStep)
	need := math.Ceil((math.Log(1/(2*c.delta)) + math.Log(1/(2*(1-passing)))) / e1)
	t := m / 4
	depths := m / 2
	if !(need <= float64(depths)) {
		return false
	}
	h := max(int(need), 1)
	outer, inner := t-h-1, t+h // t-k-2 and t+k+1 at k = h-1
	if outer < 1 || inner > depths {
		return false
	}
	logStep := math.Log(math.Expm1(e))
	terms := make([]float64, 0, depths-inner+1)
	terms = append(terms, e*float64(inner)+c.volume(m, inner))
	top := terms[0]
	for q := inner + 1; q <= depths; q++ {
		x := e*float64(q-1) + logStep + c.volume(m, q)
		terms = append(terms, x)
		top = max(top, x)
	}
	sum := 0.
	for _, x := range terms {
		sum += math.Exp(x - top)
	}
	return c.volume(m, outer)+e*float64(t+h+1)-top-math.Log(sum) <= math.Log(c.delta)
}

// volume returns lv_q of the normal quantiles, which are symmetric.
func (c depthCheck) volume(m, q int) float64 {
	return float64(c.d) * math.Log(2*math.Sqrt2*math.Erfinv(1-2*(float64(q)-.5)/float64(m)))
}

// minimumBuckets returns the smallest m0 such that every m >= m0 passes, or false if it exceeds mostBuckets. Passing is
// not monotone in m only within a few of m0, where it tests every m.
func (c depthCheck) minimumBuckets() (int, bool) {
	high := leastBuckets
	for !c.passesCheck(high) {
		if high >= mostBuckets {
			return 0, false
		}
		high = min(2*high, mostBuckets)
	}
	m := sort.Search(high, c.passesCheck) + window
	for m > leastBuckets && c.passesCheck(m-1) {
		m--
	}
	return m, m <= mostBuckets
}

// bucketCounts holds the numbers of buckets that follow from the plan.
type bucketCounts struct {
	d     int // parameters
	least int // the mechanism abstains with fewer buckets
	most  int // maximum number of buckets
}

// bucketCounts computes the numbers of buckets of the plan.
func (t Tukey) bucketCounts(f method.Facts) (bucketCounts, error) {
	split, err := t.depthSplit()
	if err != nil {
		return bucketCounts{}, err
	}
	c := depthCheck{parameterCount(f.Columns), f.Epsilon, f.Delta, split}
	if t.Buckets != 0 && (t.Buckets < leastBuckets || t.Buckets > mostBuckets) {
		return bucketCounts{},
			fmt.Errorf("%w: %d, must be between %d and %d", ErrBuckets, t.Buckets, leastBuckets,
				mostBuckets)
	}
	least, ok := c.minimumBuckets()
	switch {
	case !ok:
		return bucketCounts{},
			fmt.Errorf(
				"%w: no number of buckets up to %d passes the check for %d parameters at epsilon %.4g and delta %.4g; use a larger budget or fewer columns",
				ErrInfeasible, mostBuckets, c.d, f.Epsilon, f.Delta)
	case t.Buckets == 0:
		return bucketCounts{c.d, least, int(math.Ceil(spare * float64(least)))}, nil
	case t.Buckets < least && !c.passesCheck(t.Buckets):
		return bucketCounts{},
			fmt.Errorf(
				"%w: %d are too few for the check at epsilon %.4g and delta %.4g with %d parameters, which needs %d; omit it, or use a larger budget or fewer columns",
				ErrBuckets, t.Buckets, f.Epsilon, f.Delta, c.d, least)
	}
	return bucketCounts{c.d, t.Buckets, t.Buckets}, nil
}

// requiredRecords returns the number of records that gives the minimum number of buckets.
func (z bucketCounts) requiredRecords() int {
	return rowsPerParameter * z.d * z.least
}

// bucketCount returns the number of buckets for at least atLeast records, or false if there are too few records.
func (z bucketCounts) bucketCount(atLeast int) (int, bool) {
	if atLeast < z.requiredRecords() {
		return 0, false
	}
	return min(z.most, max(z.least, atLeast/(rowsPerParameter*z.d))), true
}
