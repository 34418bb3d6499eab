package scaling

import "math"

// Evaluation of the counts other than for ranges. All of it is post-processing.
const (
	// fullBin is the least share of its records that a column full of numbers is
	// reckoned to have in its fullest exponent bin: one of normal numbers around 0
	// has .15, of uniform ones .25 to .5, of log-normal ones with a deviation of 1
	// in the logarithm .27.
	fullBin = .125
	// doubt is the number of standard deviations of noise by which a column must be clearly unreadable rather
	// than faint.
	doubt = 2
	// leastMedian is the number of standard deviations of its noise that the number of records must reach for a
	// median to be computed.
	leastMedian = 3
)

// leaveUnread marks the columns in which no bin passed as unread, and returns the others.
func leaveUnread(
	open []int,
	rough []magnitudes,
	out []Range,
) ([]int, []magnitudes) {
	var left []int
	var seen []magnitudes
	for i, j := range open {
		if c := rough[i]; c.unseen {
			out[j] = Range{
				Lower:   c.lower,
				Upper:   c.upper,
				Unread:  true,
				Faint:   c.faint,
				Numbers: c.numbers.count(),
			}
			continue
		}
		left = append(left, j)
		seen = append(seen, rough[i])
	}
	return left, seen
}

// recordsAtLeast returns a lower bound of the number of records from the counts of
// several columns: the largest of their totals, each less its doubt.
func recordsAtLeast(columns []noisyCounts) float64 {
	most := 0.0
	for _, c := range columns {
		total, sigma := c.totalCount()
		most = max(most, total-doubt*sigma)
	}
	return most
}

// totalCount returns the sum of all counts, with the standard deviation of its noise.
func (c noisyCounts) totalCount() (sum, sigma float64) {
	for _, n := range c.counts {
		sum += n
	}
	return sum, c.sigma * math.Sqrt(float64(len(c.counts)))
}

// countMean is the mean of noisy totals of the same records, weighted by 1/variance.
type countMean struct{ sum, weight float64 }

func (m *countMean) add(c noisyCounts) {
	total, sigma := c.totalCount()
	m.sum += total / (sigma * sigma)
	m.weight += 1 / (sigma * sigma)
}

func (m *countMean) count() Count {
	if !(m.weight > 0) || math.IsInf(m.weight, 1) { // noise that float64 does not hold
		return Count{}
	}
	return Count{m.sum / m.weight, 1 / math.Sqrt(m.weight)}
}

// median computes the median from the noisy counts of equal bins over an interval, whose outermost bins also
// count values outside. It is the point where the running sum of the counts, including negative ones, first
// reaches half the total, by linear interpolation in that bin. It reports false if the total is not clearly
// above its noise.
func median(c noisyCounts, in interval) (float64, bool) {
	total, sigma := c.totalCount()
	if !(total >= leastMedian*sigma) {
		return 0, false
	}
	width := (in.Upper - in.Lower) / float64(len(c.counts))
	below := 0.0
	for b, n := range c.counts {
		if below+n >= total/2 {
			share := min(max((total/2-below)/n, 0), 1)
			if share != share { // no records and no noise
				share = 0
			}
			return in.Lower + width*(float64(b)+share), true
		}
		below += n
	}
	return 0, false // only by rounding
}
