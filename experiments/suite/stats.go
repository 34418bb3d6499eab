package suite

import (
	"math"
	"slices"
)

// z95 is the 97.5% quantile of the standard normal distribution.
const z95 = 1.959963984540054

// A Distribution describes the values of the trials of a cell. All numbers but Count are NaN if no trial returned a
// value.
type Distribution struct {
	Count  int
	Min    float64
	Q25    float64
	Median float64
	Q75    float64
	Max    float64
	Mean   float64
	// Low and High are the 95% confidence interval of the mean. By default it is the normal one, Mean ± 1.96
	// s/√Count: its width is 0 if all values are equal, and it is NaN for a single value.
	Low, High float64
}

// indicators lists the metrics that are 0 or 1 in a trial; the intervals of their means are Wilson's. The other
// metrics in [0, 1] are shares, and their intervals are clamped to [0, 1].
func indicators() []string {
	return []string{metricRight, metricTop, metricGreat, metricGood}
}
func shares() []string {
	return []string{metricGroups, metricOverlap}
}

// describeMetric is [Describe] with the interval that suits the metric.
func describeMetric(metric string, values []float64) Distribution {
	d := Describe(values)
	switch {
	case d.Count == 0:
	case slices.Contains(indicators(), metric):
		d.Low, d.High = wilson(d.Mean, d.Count)
	case slices.Contains(shares(), metric):
		d.Low = math.Max(d.Low, 0)
		d.High = math.Min(d.High, 1)
	}
	return d
}

// Describe returns the distribution of values. Quantiles interpolate linearly
// between the order statistics, at position p (Count-1) from 0.
func Describe(values []float64) Distribution {
	n := len(values)
	if n == 0 {
		nan := math.NaN()
		return Distribution{0, nan, nan, nan, nan, nan, nan, nan, nan}
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	d := Distribution{
		Count:  n,
		Min:    sorted[0],
		Max:    sorted[n-1],
		Q25:    quantile(sorted, .25),
		Median: quantile(sorted, .5),
		Q75:    quantile(sorted, .75),
	}
	sum := 0.
	for _, v := range values {
		sum += v
	}
	d.Mean = sum / float64(n)
	half := z95 * standardError(values, d.Mean)
	d.Low = d.Mean - half
	d.High = d.Mean + half
	return d
}

// standardError returns s/√n, where s² is the unbiased variance, or NaN for a single value.
func standardError(values []float64, mean float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return math.Sqrt(sum / (n - 1) / n)
}

// quantile interpolates between sorted values, at least one.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// wilson returns the 95% confidence interval of a probability, given its frequency p in n trials (Wilson, "Probable
// Inference, the Law of Succession, and Statistical Inference", 1927).
func wilson(p float64, n int) (low, high float64) {
	m := float64(n)
	scale := 1 / (1 + z95*z95/m)
	center := scale * (p + z95*z95/(2*m))
	half := scale * z95 * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	low, high = center-half, center+half
	if p == 0 { // exact, without rounding
		low = 0
	}
	if p == 1 {
		high = 1
	}
	return low, high
}

// ranks returns the rank of each value, with rank 1 for the largest. Equal values share their mean rank, and so do
// NaNs, which come last.
func ranks(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		above := 0
		level := 0
		for _, w := range values {
			switch {
			case w == v || math.IsNaN(w) && math.IsNaN(v):
				level++
			case w > v || math.IsNaN(v):
				above++
			}
		}
		out[i] = float64(above) + float64(level+1)/2
	}
	return out
}

// A Summary describes the results of the trials of one cell for one metric.
type Summary struct {
	Cell
	Metric string // empty if no trial of the cell returned a value
	Distribution
	Abstained     int
	NotApplicable int
	Failed        int
	Unavailable   int
	Reason        string // of the first trial without a value
}

// Summarise returns one summary for each cell and metric, cells in the order of
// the records and metrics in that of their names.
func Summarise(records []Record) []Summary {
	type group struct {
		summary Summary
		values  map[string][]float64
	}
	places := map[Cell]int{}
	var groups []group
	for _, r := range records {
		i, ok := places[r.Cell]
		if !ok {
			i = len(groups)
			places[r.Cell] = i
			groups = append(groups, group{Summary{Cell: r.Cell}, map[string][]float64{}})
		}
		g := &groups[i]
		g.summary.count(r)
		for metric, v := range r.Values {
			g.values[metric] = append(g.values[metric], v)
		}
	}
	var out []Summary
	for _, g := range groups {
		var metrics []string
		for m := range g.values {
			metrics = append(metrics, m)
		}
		slices.Sort(metrics)
		if len(metrics) == 0 {
			metrics = []string{""}
		}
		for _, m := range metrics {
			s := g.summary
			s.Metric, s.Distribution = m, describeMetric(m, g.values[m])
			out = append(out, s)
		}
	}
	return out
}

// count records the status of a trial.
func (s *Summary) count(r Record) {
	switch r.Status {
	case Abstained:
		s.Abstained++
	case NotApplicable:
		s.NotApplicable++
	case Failed:
		s.Failed++
	case Unavailable:
		s.Unavailable++
	default:
		return
	}
	if s.Reason == "" {
		s.Reason = r.Reason
	}
}

// index finds summaries by cell and metric.
type index map[indexKey]Summary

type indexKey struct {
	cell   Cell
	metric string
}

func newIndex(records []Record) index {
	x := index{}
	for _, s := range Summarise(records) {
		x[indexKey{s.Cell, s.Metric}] = s
	}
	return x
}

// summary returns the summary of a metric of a cell. If there is none, it returns that of the cell as a whole,
// with an empty distribution.
func (x index) summary(c Cell, metric string) Summary {
	if s, ok := x[indexKey{c, metric}]; ok {
		return s
	}
	s := x[indexKey{c, ""}]
	s.Cell, s.Metric, s.Distribution = c, metric, Describe(nil)
	return s
}
