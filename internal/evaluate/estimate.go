package evaluate

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// estimates are what is read from both releases, in half widths of the target's
// range. Everything here is a function of released numbers.
type estimates struct {
	n           float64 // held-out records with a target that can be read, at least 1
	countNoise  float64
	error       float64 // E: sum of squared residuals; noise may make it negative
	total       float64 // T: sum of squares of targets around their mean
	errorVar    float64 // of E: noise, and the luck of which records were held out
	totalVar    float64
	tail        float64 // what may be missing from E: records with residuals beyond the limit
	tailSize    float64 // what these may add to the mean |t-p|
	absolute    float64 // mean |t-p|
	absoluteVar float64
}

// estimate reads them.
//
// With a1..a4 the sums, each divided by its weight, n = a1, M = Ct a2/n,
// T = Ct^2 a3 - n M^2 and E = C^2 a4. Their noise is normal with known standard
// deviations; T's is linearised in a1 and a2. To it comes the luck of the draw, the
// sums of fourth powers less E^2/n, or T^2/n, as a sum of n independent terms has;
// the fourth powers are read from the sizes, each record at the upper edge of its
// bin's fourth power, three quarters of it, plus one standard deviation of their
// noise. The covariance of the luck of E and T, which is not negative, is left out:
// that widens the interval.
func estimate(sizes mechanism.Sizes, l limits, a mechanism.Squares) estimates {
	c2, ct2 := sq(l.residual), sq(l.target)
	n := max(a.Count, 1)
	mean := min(max(l.target*a.Sum/n, -l.target), l.target)
	e := estimates{n: n, countNoise: a.CountNoise, error: c2 * a.Residual, total: ct2*a.Target - n*sq(mean)}
	squares := max(e.error, 0)
	f := fourth(sizes.First, sizes.FirstNoise, l.residualBin, l.residual)
	g := fourth(sizes.Second, sizes.SecondNoise, l.targetBin, l.target)
	e.errorVar = sq(c2*a.ResidualNoise) + max(f-sq(squares)/n, 0)
	e.totalVar = sq(ct2*a.TargetNoise) + sq(2*mean*l.target*a.SumNoise) + sq(sq(mean)*a.CountNoise) + max(g-sq(e.total)/n, 0)
	e.tail = tail(n*strengthOf(sizes), sizes, l, a)
	e.tailSize = e.tail / l.residual / n
	e.absolute, e.absoluteVar = e.meanSize(sizes, l, squares)
	return e
}

// tail returns what may be missing from the sum of squares: what records with residuals beyond the limit add
// to the square of the limit, which each of them is counted with.
//
// Those that are counted there, and as many more as [hidden] says, may have squares that exceed the limit's own by
// as much: a power tail of index 4. Where more are counted than the noise explains they may be of another kind, whose squares
// are [otherKind] times that of the limit.
func tail(strength float64, sizes mechanism.Sizes, l limits, a mechanism.Squares) float64 {
	c2 := sq(l.residual)
	power := c2 * (hidden(strength)*sizes.FirstNoise + max(a.Beyond, 0))
	if a.Beyond < beyondSeen(strength)*a.BeyondNoise {
		return power
	}
	excess := min(otherKind(strength)*c2, sq(l.target+1)) - c2 // no residual is larger than the target's limit and 1
	return max(power, (a.Beyond+beyondMore*a.BeyondNoise)*excess)
}

// beyondMore is how many standard deviations of its noise more than are counted beyond the limit there may be.
const beyondMore = 1.3

// beyondSeen returns how many standard deviations of its noise the count beyond the limit must be to be seen, by n mu. Where
// there are few records a second kind of them is hard to see, and even a weak sign of it counts. Where there are many it may
// be rarer still.
func beyondSeen(strength float64) float64 { return max(min(strength/400, 1000/strength, 1), .25) }

// otherKind returns by which factor the mean square of records of another kind may exceed the square of the limit, by
// n mu: where there are many records the limit is far out, rare errors beyond are large, and allowing for them costs little.
func otherKind(strength float64) float64 { return min(max(strength/40, 8), 128) }

// hidden returns how many standard deviations of a bin's noise the records may be that are not seen, in units of records
// at the limit, by n mu: one where there are few records, and up to ten where allowing for them costs little
// (docs/methods/evaluation.md, "How often it holds").
func hidden(strength float64) float64 { return min(max(strength/hiddenStrength, 1), mostHidden) }

const (
	hiddenStrength = 500
	mostHidden     = 10
)

// fourth returns the sum of fourth powers of the sizes up to a bin, cut at a limit. Each
// count has noise sigma.
func fourth(counts []float64, sigma float64, last int, limit float64) float64 {
	total, squares := 0.0, 0.0
	for b, n := range counts[:last+1] {
		u4 := sq(sq(min(edge(b), limit)))
		total += u4 * n
		squares += sq(u4)
	}
	return .75*max(total, 0) + .75*sigma*math.Sqrt(squares)
}

// meanSize returns the mean of |t-p| and its variance. The records of a bin count as
// if they lay in it with a density that falls as 1/size: the logarithmic mean of its ends.
func (e estimates) meanSize(sizes mechanism.Sizes, l limits, squares float64) (mean, variance float64) {
	weights := 0.0
	for b, n := range sizes.First[:l.residualBin+1] {
		g := min(binMean(b), l.residual)
		mean += g * n / e.n
		weights += sq(g)
	}
	mean = max(mean, 0)
	return mean, (sq(sizes.FirstNoise)*weights+sq(mean*e.countNoise))/sq(e.n) + max(squares/e.n-sq(mean), 0)/e.n
}

// binMean returns what a record in bin b counts as.
func binMean(b int) float64 {
	switch b {
	case 0:
		return edge(0) / 2
	case lastBin:
		return edge(lastBin)
	}
	return (edge(b) - edge(b-1)) / (math.Ln2 / 2)
}

// r2 returns R² = 1 - E/T with its interval: Fieller's for the ratio, with the noise
// and the luck of the draw; for the lower end also with the tail.
func (e estimates) r2() (value, lower, upper float64) {
	squares := max(e.error, 0)
	least, _ := fieller(squares, e.total, e.errorVar, e.totalVar, widened)
	_, most := fieller(squares+e.tail, e.total, e.errorVar, e.totalVar, widened)
	value, lower, upper = floor, within(1-most), within(1-least)
	if e.total > 0 {
		value = within(1 - squares/e.total)
	}
	return min(max(value, lower), upper), lower, upper
}

// rmse returns the root of E/n with its interval, made as that of R².
func (e estimates) rmse() (value, lower, upper float64) {
	squares := max(e.error, 0)
	least, _ := fieller(squares, e.n, e.errorVar, sq(e.countNoise), widened)
	_, most := fieller(squares+e.tail, e.n, e.errorVar, sq(e.countNoise), widened)
	return math.Sqrt(squares / e.n), math.Sqrt(least), math.Sqrt(most)
}

// binDoubt is by how much the mean of the records of a bin may differ from what they count
// as: with an even density in the bin it is larger by a hundredth.
const binDoubt = .0101

// mae returns the mean absolute error with its interval.
func (e estimates) mae() (value, lower, upper float64) {
	reach := widened*math.Sqrt(e.absoluteVar) + binDoubt*e.absolute
	return e.absolute, max(e.absolute-reach, 0), e.absolute + reach + e.tailSize
}
