package scaling

import "math"

// Settings of [twoValues].
const (
	// apart is the smallest distance of the two bins, in bins.
	apart = 4
	// elsewhere is the largest share of the records in all other bins, beyond the noise.
	elsewhere = .02
)

// twoValues reports whether nearly all records are in two bins that are not neighbours, by the noisy counts of equal bins over
// an interval, and returns a round number in each.
func twoValues(c noisyCounts, whole interval) ([2]float64, bool) {
	first, second := -1, -1 // the bins with the largest counts
	total := 0.
	for b, n := range c.counts {
		total += n
		switch {
		case first < 0 || n > c.counts[first]:
			first, second = b, first
		case second < 0 || n > c.counts[second]:
			second = b
		}
	}
	low, high := min(first, second), max(first, second)
	if low < 0 || high-low < apart || !(c.counts[second] > 2*beside*c.sigma) {
		return [2]float64{}, false
	}
	others := total - c.counts[low] - c.counts[high]
	if math.Abs(others) > elsewhere*total+beside*c.sigma*math.Sqrt(float64(len(c.counts)-2)) {
		return [2]float64{}, false
	}
	width := (whole.Upper - whole.Lower) / float64(len(c.counts))
	valueIn := func(bin int) float64 {
		from := whole.Lower + float64(width*float64(bin)) // the conversion forbids fusing
		return roundNumber(from, from+width)
	}
	return [2]float64{valueIn(low), valueIn(high)}, true
}

// roundNumber returns a number in [lower, upper] with as few digits as possible. lower < upper, both finite.
func roundNumber(lower, upper float64) float64 {
	if lower <= 0 && upper >= 0 {
		return 0
	}
	for power := math.Ceil(math.Log10(max(-lower, upper))); power > -400; power-- {
		unit := math.Pow(10, power)
		if x := math.Ceil(lower/unit) * unit; x >= lower && x <= upper {
			return x
		}
	}
	return lower
}
