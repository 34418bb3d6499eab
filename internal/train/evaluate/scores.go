package evaluate

import "math"

// Scores holds the metrics from the table of scores. All of it is public.
type Scores struct {
	Bins Bins
	// Counts has two rows of one noisy, rounded number a bin: of two classes the
	// records of the first and those of the second; of more the records that are
	// predicted wrongly and those predicted rightly, by their largest score.
	Counts [2][]int
	// Reliability has for every bin the share of its second row; nil where the noise hides
	// the bin.
	Reliability []*Estimate

	// What follows is of two classes only.

	// AUC is the probability that a record of the second class has a larger score than
	// one of the first. Of equal bins it is read from how the share of the second class
	// changes from bin to bin.
	AUC *Share
	// LogLoss is the mean of -ln of the probability that the model gives to the true
	// class, at the bins' [Bins.Chance] within [.001, .999]; nil if the model has no
	// probabilities or the noise hides a class.
	LogLoss *Loss
	// Thresholds holds the effect of predicting the second class above each edge.
	Thresholds []Threshold
}

// An Estimate is a number with its standard deviation, of noise and of the luck of the
// draw.
type Estimate struct{ Value, StdError float64 }

// A Loss is a mean loss of fresh records, in nats, with its interval.
type Loss struct {
	Value float64
	Lower float64
	Upper float64
	Level float64
	Sigma float64 // standard deviation of the noise in Value
}

// A Threshold is the effect of predicting the second class above an edge.
type Threshold struct {
	Edge float64
	// Recall is the share of the records of the second class that are predicted so,
	// FirstRecall that of the first, and Precision the share of the second class
	// among the records that are predicted so.
	Recall, FirstRecall, Precision Share
}

// nearlyAll is the area above which that matters.
const nearlyAll = .98

// smallestChance is the smallest probability that the log loss is computed with.
const smallestChance = .001

// reliableAt is the number of standard deviations of the noise of a cell that a bin must hold.
const reliableAt = 3

// readScores reads the two rows of the table of scores, whose cells have noise of
// variance v.
func readScores(
	classes int,
	bins Bins,
	first, second []int,
	v float64,
) *Scores {
	out := &Scores{
		Bins:   bins,
		Counts: [2][]int{first, second},
	}
	q := toFloats(first)
	p := toFloats(second)
	for b := range p {
		var e *Estimate
		if m := p[b] + q[b]; m > reliableAt*math.Sqrt(v) {
			e = &Estimate{min(max(p[b]/m, 0), 1),
				math.Sqrt(shareVariance(noisy{value: p[b], variance: v}, noisy{value: q[b], variance: v}))}
		}
		out.Reliability = append(out.Reliability, e)
	}
	if classes > 2 {
		return out
	}
	area := orderedWithin(areaUnderCurve(p, q, v), p, q)
	out.AUC = &area
	out.LogLoss = logLoss(p, q, bins.Chance, v)
	for b, edge := range bins.Edges {
		above := sumPart(p[b+1:], v)
		below := sumPart(p[:b+1], v)
		falseAbove := sumPart(q[b+1:], v)
		falseBelow := sumPart(q[:b+1], v)
		out.Thresholds = append(out.Thresholds, Threshold{
			Edge:        edge,
			Recall:      portionOf(above, below, Level),
			FirstRecall: portionOf(falseBelow, falseAbove, Level),
			Precision:   portionOf(above, falseAbove, Level),
		})
	}
	return out
}

// sumPart adds up cells with noise of variance v.
func sumPart(cells []float64, v float64) noisy {
	out := noisy{value: 0, variance: float64(len(cells)) * v}
	for _, x := range cells {
		out.value += x
	}
	return out
}

func toFloats(cells []int) []float64 {
	out := make([]float64, len(cells))
	for i, n := range cells {
		out[i] = float64(n)
	}
	return out
}

// areaUnderCurve returns the area under the curve of noisy counts of the second class, p, and
// the first, q, in bins of increasing score. With P and N their sums, F_b the share of
// the first class below bin b plus half of that in it, and S_b the share of the second one
// above plus half of that in it,
//
//	A = sum p_b F_b / P,
//
// whose derivatives are (F_b - A)/P and (S_b - A)/N: the variance of the noise. That of the
// luck of the draw is DeLong's, on the bins (E. R. DeLong, D. M. DeLong and D. L.
// Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
// characteristic curves", Biometrics 1988). It is unknown where the noise hides a class.
func areaUnderCurve(p, q []float64, v float64) Share {
	if !sumPart(p, v).isKnown() || !sumPart(q, v).isKnown() {
		return unknownShare(Level)
	}
	area, noise, luck := aucVariance(p, q, v)
	if area > nearlyAll {
		// Near 1 the sample underestimates its own sampling error: if no two records are in the wrong order,
		// the estimate is 0. The error is then taken to be at least that of a share of the smaller class, at
		// Agresti and Coull's estimate.
		m := min(sumPart(p, v).value, sumPart(q, v).value)
		a := (min(area, 1)*m + 1.92) / (m + 3.84)
		luck = max(luck, a*(1-a)/m)
	}
	reach := normalDeviations(Level) * math.Sqrt(noise+luck)
	return limitShare(Share{
		Value: area,
		Lower: area - reach,
		Upper: area + reach,
		Level: Level,
	})
}

// orderedWithin returns the area plus the contribution of the order of scores within bins.
func orderedWithin(s Share, p, q []float64) Share {
	if !s.Known() {
		return s
	}
	more := withinBins(p, q)
	bend := math.Abs(more) / 2
	out := Share{
		Value: s.Value + more,
		Lower: s.Lower + more - bend,
		Upper: s.Upper + more + bend,
		Level: s.Level,
	}
	if s.Value > nearlyAll {
		// Few bins hold both classes, and the missing contribution may be entirely in them.
		out.Upper = max(out.Upper, s.Upper+tiedShare(p, q)/2)
	}
	return limitShare(out)
}

// tiedShare returns the share of the pairs of two classes that are in one bin.
func tiedShare(p, q []float64) float64 {
	total := 0.
	for b := range p {
		total += max(p[b], 0) * max(q[b], 0)
	}
	return total / (sumPart(p, 0).value * sumPart(q, 0).value)
}

// withinBins returns the contribution of the order of scores within bins to an area that counts equal bins
// half. Let records be numbered by their scores, w of them in a bin, and let the share s of the second class
// change by d, linearly, over the bin. A record of the second class is then above one of the first with
// probability 1/2 + d/(12 s (1-s)), and there are w^2 s (1-s) such pairs: the area grows by the sum of w^2 d/12
// divided by the number of all pairs. The change d is estimated by the neighbouring bins. If the share is not
// linear, the estimate is inexact: half of the sum is added to the interval at both ends.
func withinBins(p, q []float64) float64 {
	last := len(p) - 1
	if last < 1 {
		return 0
	}
	w := make([]float64, len(p))
	s := make([]float64, len(p))
	for b := range p {
		w[b] = max(p[b]+q[b], 0)
		if w[b] > 0 {
			s[b] = min(max(p[b]/w[b], 0), 1)
		}
	}
	total := 0.
	for b := range w {
		from, to := max(b-1, 0), min(b+1, last)
		apart := (w[from] + w[to]) / 2 // between the middles of the bins on both sides
		if to == from+2 {
			apart += w[b]
		}
		if w[b] == 0 || apart == 0 {
			continue
		}
		most := 2 * min(s[b], 1-s[b]) // a share stays within [0, 1]
		total += square(w[b]) * min(max(w[b]*(s[to]-s[from])/apart, -most), most) / 12
	}
	return total / (sumPart(p, 0).value * sumPart(q, 0).value)
}

// aucVariance returns the area with the variances of noise and of luck.
func aucVariance(p, q []float64, v float64) (area, noise, luck float64) {
	inP := sumPart(p, v).value
	inQ := sumPart(q, v).value
	f := make([]float64, len(p))
	s := make([]float64, len(p))
	below := 0.
	above := 0.
	for b := range p {
		f[b] = (below + q[b]/2) / inQ
		below += q[b]
	}
	for b := len(p) - 1; b >= 0; b-- {
		s[b] = (above + p[b]/2) / inP
		above += p[b]
	}
	for b := range p {
		area += p[b] * f[b] / inP
	}
	for b := range p {
		noise += v * (square((f[b]-area)/inP) + square((s[b]-area)/inQ))
	}
	return area, noise, weightedSpread(f, p, area)/inP + weightedSpread(s, q, area)/inQ
}

// weightedSpread is the mean squared distance from center of values, within [0, 1], weighted by
// the counts that are positive.
func weightedSpread(values, counts []float64, center float64) float64 {
	total := 0.
	weight := 0.
	for b, n := range counts {
		n = max(n, 0)
		total += n * square(min(max(values[b], 0), 1)-center)
		weight += n
	}
	if weight == 0 {
		return 0
	}
	return total / weight
}

// logLoss returns the mean loss of counts p and q with the probabilities of the
// second class. The derivatives by the cells are (-ln pi_b - l)/n and (-ln(1 - pi_b) - l)/n.
func logLoss(p, q, chance []float64, v float64) *Loss {
	n := sumPart(p, v).value + sumPart(q, v).value
	if chance == nil || !sumPart(p, v).isKnown() || !sumPart(q, v).isKnown() {
		return nil
	}
	total := 0.
	squares := 0.
	costs := make([][2]float64, len(p))
	for b, pi := range chance {
		pi = min(max(pi, smallestChance), 1-smallestChance)
		costs[b] = [2]float64{-math.Log(1 - pi), -math.Log(pi)}
		total += q[b]*costs[b][0] + p[b]*costs[b][1]
		squares += max(q[b], 0)*square(costs[b][0]) + max(p[b], 0)*square(costs[b][1])
	}
	l := total / n
	noise := 0.
	for _, c := range costs {
		noise += v * (square(c[0]-l) + square(c[1]-l)) / (n * n)
	}
	luck := max(squares/n-l*l, 0) / n
	reach := normalDeviations(Level) * math.Sqrt(noise+luck)
	return &Loss{
		Value: max(l, 0),
		Lower: max(l-reach, 0),
		Upper: max(l+reach, 0),
		Level: Level,
		Sigma: math.Sqrt(noise),
	}
}
