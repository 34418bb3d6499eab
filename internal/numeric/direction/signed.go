package direction

import "math"

// signedFactor is that of [Signed].
const signedFactor = 2

// Signed reports whether the likelihood of a noisy histogram should read its cells as they
// are, negative ones too: with n records in cells with noise of scale 1/epsilon, where n
// epsilon >= 2 B^2. Moments of signed cells are unbiased, while the projection adds mass
// far from the curve; with less signal their variance costs more than that
// (docs/proofs/causal.md, "Settings").
func Signed(n, scale float64, b int) bool {
	return n >= signedFactor*float64(b*b)*scale
}

// signedLikelihood is the likelihood of forward with moments of the cells as they are. The
// entropy is that of the projected marginal.
func signedLikelihood(h Histogram) float64 {
	rows, columns := h.margins()
	qx := normalizeAbove(projectSimplex(rows, math.Max(sum(rows), 1)), 1e-9)
	qy := normalizeAbove(projectSimplex(columns, math.Max(sum(columns), 1)), 1e-9)
	u := standardizeMargin(qx)
	v := standardizeMargin(qy)
	w := make([]float64, h.B)
	m := make([]float64, h.B)
	for i := range w {
		w[i] = math.Max(rows[i], 0)
		if w[i] <= 1e-9 {
			continue
		}
		for j := range v {
			m[i] += h.Counts[i*h.B+j] * v[j]
		}
		m[i] /= w[i]
	}
	weights := normalizeAbove(w, 1e-9)
	for i := range weights {
		weights[i] *= float64(h.B)
		m[i] = math.Min(math.Max(m[i], v[0]), v[h.B-1])
	}
	f := smoothMean(weights, m)
	rs2 := 0.
	for i := range h.B {
		for j := range v {
			rs2 += h.Counts[i*h.B+j] * (v[j] - f[i]) * (v[j] - f[i])
		}
	}
	rs2 /= math.Max(h.Total(), 1e-9)
	return entropy(qx, u[1]-u[0]) + .5*math.Log(math.Max(rs2, 1e-3))
}
