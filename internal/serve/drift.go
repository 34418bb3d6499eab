package serve

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync/atomic"

	"github.com/dptrain/dptrain/regression"
)

// A Histogram is the released histogram of a numeric input on the training records: noisy counts of
// equal bins over [Lower, Upper]. The outermost bins also count everything beyond. Each count has
// noise of standard deviation Scale.
type Histogram struct {
	Column       string
	Lower, Upper float64
	Counts       []float64
	Scale        float64
}

// usable reports whether a histogram is well-formed and its total is clearly more than its noise.
func (h *Histogram) usable() bool {
	width := h.Upper - h.Lower
	if !(width > 0) || math.IsInf(width, 0) || len(h.Counts) < 2 {
		return false
	}
	total := 0.
	for _, n := range h.Counts {
		total += n
	}
	noise := h.Scale * math.Sqrt(float64(len(h.Counts)))
	return total > 4*noise
}

// edges returns the values between the bins.
func (h *Histogram) edges() []float64 {
	bins := len(h.Counts)
	out := make([]float64, bins-1)
	for b := range out {
		out[b] = h.Lower + (h.Upper-h.Lower)*float64(b+1)/float64(bins)
	}
	return out
}

// A valueCount counts the numbers of one input by the bins of its histogram.
type valueCount struct {
	column string
	edges  []float64 // between the bins
	shares []float64 // of the training records by bin, without negative ones
	floor  float64   // the expected distance that the noise of the shares alone makes
	bins   []atomic.Int64
}

// newValueCounts returns a count for each numeric input of a model with a usable histogram.
func newValueCounts(m regression.Model, histograms []Histogram) []*valueCount {
	var out []*valueCount
	for _, c := range m.Inputs() {
		if c.Text() {
			continue
		}
		k := slices.IndexFunc(histograms, func(h Histogram) bool {
			return h.Column == c.Name && h.usable()
		})
		if k >= 0 {
			out = append(out, newValueCount(&histograms[k]))
		}
	}
	return out
}

// newValueCount returns a count without numbers for a usable histogram.
func newValueCount(h *Histogram) *valueCount {
	bins := len(h.Counts)
	total := 0.
	for _, n := range h.Counts {
		total += max(n, 0)
	}
	shares := make([]float64, bins)
	for b, n := range h.Counts {
		shares[b] = max(n, 0) / total
	}
	// The distance is half the sum over the bins, whose noise has the mean size Scale √(2/π).
	noise := float64(bins) * h.Scale * math.Sqrt(2/math.Pi) / 2
	return &valueCount{
		column: h.Column,
		edges:  h.edges(),
		shares: shares,
		floor:  min(noise/total, 1),
		bins:   make([]atomic.Int64, bins),
	}
}

// add counts numbers. Missing ones are not counted.
func (c *valueCount) add(values []float64) {
	counts := make([]int64, len(c.bins))
	for _, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		counts[c.binOf(x)]++
	}
	for b, n := range counts {
		if n > 0 {
			c.bins[b].Add(n)
		}
	}
}

// binOf returns the bin of a number: how many edges are at most x.
func (c *valueCount) binOf(x float64) int {
	return sort.Search(len(c.edges), func(b int) bool {
		return x < c.edges[b]
	})
}

// distance returns the total variation distance between the numbers counted so far and the training
// records: the share of the numbers that would have to be in another bin. It is NaN if there are no
// numbers.
func (c *valueCount) distance() float64 {
	total := int64(0)
	for b := range c.bins {
		total += c.bins[b].Load()
	}
	sum := 0.
	for b := range c.bins {
		share := float64(c.bins[b].Load()) / float64(total)
		sum += math.Abs(share-c.shares[b]) / 2
	}
	return sum
}

// upperLabel returns the upper end of a bin as the value of a label.
func (c *valueCount) upperLabel(b int) string {
	if b == len(c.edges) {
		return "+Inf"
	}
	return strconv.FormatFloat(c.edges[b], 'g', 6, 64)
}

// writeValues writes the counts in the Prometheus text format.
func writeValues(w io.Writer, counts []*valueCount) {
	if len(counts) == 0 {
		return
	}
	writeCumulative(w, counts, "dptrain_input_values_bucket", "counter",
		"Numbers of predicted records up to an edge of the released histogram, "+
			"since the model was loaded.",
		func(c *valueCount, b int) float64 {
			return float64(c.bins[b].Load())
		})
	writeCumulative(w, counts, "dptrain_training_values_share", "gauge",
		"Share of the training records up to an edge, from the noisy histogram of the report.",
		func(c *valueCount, b int) float64 {
			return c.shares[b]
		})
	writeGauge(w, counts, "dptrain_input_drift",
		"Share of the numbers that would have to be in another bin "+
			"to be distributed as the training records.",
		(*valueCount).distance)
	writeGauge(w, counts, "dptrain_input_drift_noise",
		"Drift to expect without any change, "+
			"because the histogram of the training records is noisy.",
		func(c *valueCount) float64 { return c.floor })
}

// writeCumulative writes a metric with the sum of size over the bins up to each edge, as Prometheus
// counts the buckets of its histograms.
func writeCumulative(
	w io.Writer,
	counts []*valueCount,
	name, kind, help string,
	size func(c *valueCount, b int) float64,
) {
	writeMetricHead(w, name, kind, help)
	for _, c := range counts {
		column := labelValue.Replace(c.column)
		sum := 0.
		for b := range c.bins {
			sum += size(c, b)
			value := strconv.FormatFloat(sum, 'g', -1, 64)
			fmt.Fprintf(
				w,
				"%s{column=\"%s\",le=\"%s\"} %s\n",
				name,
				column,
				c.upperLabel(b),
				value,
			)
		}
	}
}

// writeGauge writes a metric with one value per column.
func writeGauge(
	w io.Writer,
	counts []*valueCount,
	name, help string,
	value func(c *valueCount) float64,
) {
	writeMetricHead(w, name, "gauge", help)
	for _, c := range counts {
		column := labelValue.Replace(c.column)
		fmt.Fprintf(w, "%s{column=\"%s\"} %s\n", name, column,
			strconv.FormatFloat(value(c), 'g', 6, 64))
	}
}

// writeMetricHead writes the description and the type of a metric.
func writeMetricHead(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}
