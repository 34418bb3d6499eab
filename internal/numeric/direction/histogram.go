package direction

import (
	"math"
	"slices"
)

// A Histogram holds B x B counts by rows: the count of bin i of the first column and bin j
// of the second is Counts[i*B+j]. Counts with noise may be negative.
type Histogram struct {
	B      int
	Counts []float64
}

// Total returns the sum of the counts.
func (h Histogram) Total() float64 {
	return sum(h.Counts)
}

// transposed returns the histogram with its columns exchanged.
func (h Histogram) transposed() Histogram {
	out := Histogram{h.B, make([]float64, len(h.Counts))}
	for i := range h.B {
		for j := range h.B {
			out.Counts[j*h.B+i] = h.Counts[i*h.B+j]
		}
	}
	return out
}

// Projected returns the nearest histogram, in Euclidean distance, with counts of at least 0
// and the sum max(total, 1).
func (h Histogram) Projected() Histogram {
	return Histogram{h.B, projectSimplex(h.Counts, math.Max(h.Total(), 1))}
}

// projectSimplex returns the Euclidean projection of v on the vectors with entries of at least 0
// and the sum total > 0: max(v - t, 0) for the one t that fits (J. Duchi and others,
// "Efficient projections onto the l1-ball for learning in high dimensions", 2008).
func projectSimplex(v []float64, total float64) []float64 {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	t := 0.
	above := 0.
	for k, x := range sorted {
		above += x
		if next := (above - total) / float64(k+1); x > next {
			t = next
		}
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Max(x-t, 0)
	}
	return out
}

// margins returns the sums of the rows and of the columns.
func (h Histogram) margins() (rows, columns []float64) {
	rows = make([]float64, h.B)
	columns = make([]float64, h.B)
	for i := range h.B {
		for j, x := range h.Counts[i*h.B : (i+1)*h.B] {
			rows[i] += x
			columns[j] += x
		}
	}
	return rows, columns
}

// centers returns the centres of b equal bins of [-1, 1].
func centers(b int) []float64 {
	out := make([]float64, b)
	for i := range out {
		out[i] = float64(2*i+1-b) / float64(b)
	}
	return out
}

// standardizeMargin returns the centres of the bins in standard deviations from the mean of the
// distribution p.
func standardizeMargin(p []float64) []float64 {
	c := centers(len(p))
	mean := 0.
	variance := 0.
	for i, x := range c {
		mean += p[i] * x
	}
	for i, x := range c {
		variance += p[i] * (x - mean) * (x - mean)
	}
	sd := math.Sqrt(math.Max(variance, 1e-12))
	for i := range c {
		c[i] = (c[i] - mean) / sd
	}
	return c
}

// normalizeAbove returns v divided by its sum, or by least if that is larger.
func normalizeAbove(v []float64, least float64) []float64 {
	total := math.Max(sum(v), least)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x / total
	}
	return out
}

// entropy returns the differential entropy of a distribution over bins of equal width.
func entropy(p []float64, width float64) float64 {
	h := 0.
	for _, x := range p {
		h -= x * math.Log(math.Max(x, 1e-12)/width)
	}
	return h
}

func sum(v []float64) float64 {
	total := 0.
	for _, x := range v {
		total += x
	}
	return total
}
