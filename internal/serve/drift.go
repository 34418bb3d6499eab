package serve

import (
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"sync/atomic"

	"github.com/dptrain/dptrain/regression"
)

// A Histogram is the released histogram of a numeric input on the training records: noisy counts of equal bins over
// [Lower, Upper]. The outermost bins also count everything beyond. Each count has noise of standard deviation Scale.
type Histogram struct {
	Column       string
	Lower, Upper float64
	Counts       []float64
	Scale        float64
}

// usable reports whether a histogram is well-formed and its total is clearly more than its noise.
func (h *Histogram) usable() bool {
	total := 0.
	for _, n := range h.Counts {
		total += n
	}
	return h.Lower < h.Upper && !math.IsInf(h.Upper-h.Lower, 0) && len(h.Counts) > 1 &&
		total > 4*h.Scale*math.Sqrt(float64(len(h.Counts)))
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
		for k := range histograms {
			if h := &histograms[k]; h.Column == c.Name && !c.Text() && h.usable() {
				out = append(out, newValueCount(h))
				break
			}
		}
	}
	return out
}

func newValueCount(h *Histogram) *valueCount {
	k := len(h.Counts)
	c := &valueCount{column: h.Column, bins: make([]atomic.Int64, k)}
	total := 0.
	for b, n := range h.Counts {
		if b > 0 {
			c.edges = append(c.edges, h.Lower+(h.Upper-h.Lower)*float64(b)/float64(k))
		}
		total += max(n, 0)
	}
	for _, n := range h.Counts {
		c.shares = append(c.shares, max(n, 0)/total)
	}
	// Half the sum of k noises of mean size Scale √(2/π), relative to the records.
	c.floor = min(float64(k)*h.Scale*math.Sqrt(2/math.Pi)/2/total, 1)
	return c
}

// add counts numbers. Missing ones are not counted.
func (c *valueCount) add(values []float64) {
	n := make([]int64, len(c.bins))
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			n[sort.Search(len(c.edges), func(b int) bool { return x < c.edges[b] })]++
		}
	}
	for b, count := range n {
		if count > 0 {
			c.bins[b].Add(count)
		}
	}
}

// distance returns the total variation distance between the numbers counted so far and the training records: the
// share of the numbers that would have to be in another bin. It is NaN if there are no numbers.
func (c *valueCount) distance() float64 {
	total := int64(0)
	for b := range c.bins {
		total += c.bins[b].Load()
	}
	sum := 0.
	for b := range c.bins {
		sum += math.Abs(float64(c.bins[b].Load())/float64(total)-c.shares[b]) / 2
	}
	return sum
}

// edge returns the upper end of a bin as the value of a label.
func (c *valueCount) edge(b int) string {
	if b == len(c.edges) {
		return "+Inf"
	}
	return strconv.FormatFloat(c.edges[b], 'g', 6, 64)
}

// writeValues writes the counts in the Prometheus text format. Buckets are cumulative, as those of all histograms
// there.
func writeValues(w io.Writer, counts []*valueCount) {
	if len(counts) == 0 {
		return
	}
	cumulative := func(name, kind, help string, of func(c *valueCount, b int) float64) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		for _, c := range counts {
			sum := 0.
			for b := range c.bins {
				sum += of(c, b)
				fmt.Fprintf(w, "%s{column=\"%s\",le=\"%s\"} %s\n", name, labelValue.Replace(c.column),
					c.edge(b), strconv.FormatFloat(sum, 'g', -1, 64))
			}
		}
	}
	cumulative("dptrain_input_values_bucket", "counter",
		"Numbers of predicted records up to an edge of the released histogram, since the model was loaded.",
		func(c *valueCount, b int) float64 { return float64(c.bins[b].Load()) })
	cumulative("dptrain_training_values_share", "gauge",
		"Share of the training records up to an edge, from the noisy histogram of the report.",
		func(c *valueCount, b int) float64 { return c.shares[b] })
	gauge := func(name, help string, of func(c *valueCount) float64) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
		for _, c := range counts {
			fmt.Fprintf(w, "%s{column=\"%s\"} %s\n", name, labelValue.Replace(c.column),
				strconv.FormatFloat(of(c), 'g', 6, 64))
		}
	}
	gauge("dptrain_input_drift",
		"Share of the numbers that would have to be in another bin to be distributed as the training records.",
		(*valueCount).distance)
	gauge("dptrain_input_drift_noise",
		"Drift to expect without any change, because the histogram of the training records is noisy.",
		func(c *valueCount) float64 { return c.floor })
}
