package suite

import "math"

// The synthetic set of "Feature Selection from Differentially Private
// Correlations", section 5, after Fan and Lv, "Sure Independence Screening for
// Ultrahigh Dimensional Feature Space", 2008, section 3.3.1: X ~ N(0, I) of
// syntheticRows x syntheticColumns, y = X w + e, e ~ N(0, 1.5 I), and eight
// non-zero weights (-1)^u (a + |z|), u ~ Bernoulli(.4), z ~ N(0, 1),
// a = 4 ln n / √n. We read 1.5 as a variance, like the I beside it.
const (
	syntheticRows     = 100
	syntheticColumns  = 2000
	syntheticNonZero  = 8
	syntheticVariance = 1.5
)

// newSyntheticSet draws a table. It also returns the columns with nonzero weights by decreasing |w|.
func newSyntheticSet(g *generator) (x [][]float64, y []float64, truth []int) {
	offset := 4 * math.Log(syntheticRows) / math.Sqrt(syntheticRows)
	weights := make([]float64, syntheticColumns)
	for _, j := range g.permutation(syntheticColumns)[:syntheticNonZero] {
		weights[j] = offset + math.Abs(g.normal())
		if g.uniform() < .4 {
			weights[j] = -weights[j]
		}
	}
	x, y = linearTable(g, syntheticRows, weights, syntheticVariance)
	return x, y, byMagnitude(weights)
}

// linearTable draws n rows of y = x w + e with independent standard normal x and e of the given variance.
func linearTable(
	g *generator,
	n int,
	weights []float64,
	variance float64,
) (x [][]float64, y []float64) {
	x, y = make([][]float64, len(weights)), g.normals(n)
	for i := range y {
		y[i] *= math.Sqrt(variance)
	}
	for j, w := range weights {
		x[j] = g.normals(n)
		if w == 0 {
			continue
		}
		for i, v := range x[j] {
			y[i] += w * v
		}
	}
	return x, y
}
