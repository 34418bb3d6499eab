package lasso

import "math"

// mostDrops bounds the linear systems of one jump.
const mostDrops = 8

// jumpToSolution minimises over all non-zero coefficients at once with their signs fixed: with the signs s and the Gram matrix G
// of these columns the minimum is a step h with G h = gradient - penalty s. If the step would turn a sign it ends at
// the first such coefficient, which becomes 0, and the rest jump again; the objective is a convex quadratic as long as
// signs stay, so it falls either way.
//
// Sweeps converge slowly for columns that are nearly multiples of each other; jump solves them exactly. If G is
// singular to working precision, no coefficient moves: sweeps then divide a coefficient among equal columns.
func (r *restricted) jumpToSolution() {
	var active []int
	for i, w := range r.w {
		if w != 0 {
			active = append(active, i)
		}
	}
	for drops := 0; len(active) > 0 && drops < mostDrops; drops++ {
		h := make([]float64, len(active))
		for a, i := range active {
			h[a] = r.gradient[i] - math.Copysign(r.penalty[i], r.w[i])
		}
		if !r.solveActive(active, h) {
			return
		}
		part := 1.0
		last := -1
		for a, i := range active {
			if to := r.w[i] + h[a]; to == 0 || math.Signbit(to) != math.Signbit(r.w[i]) {
				if share := -r.w[i] / h[a]; share < part || last < 0 {
					part = share
					last = a
				}
			}
		}
		for a, i := range active {
			r.stepCoordinate(i, part*h[a])
		}
		if last < 0 {
			return
		}
		r.w[active[last]] = 0
		active = append(active[:last], active[last+1:]...)
	}
}

// solveActive replaces h by the solution of G x = h by a Cholesky decomposition, where G is the Gram matrix of the active
// columns. It returns false, with h undefined, if a column is to working precision a combination of those before it.
func (r *restricted) solveActive(active []int, h []float64) bool {
	const singular = 1e-11 // share of a column's square that is left
	k := len(active)
	l := make([][]float64, k)
	block := make([]float64, k*k)
	for a, i := range active {
		l[a] = block[a*k : (a+1)*k]
		for b := 0; b <= a; b++ {
			v := r.gram[i][active[b]]
			for c, u := range l[a][:b] {
				v -= u * l[b][c]
			}
			if b < a {
				l[a][b] = v / l[b][b]
				continue
			}
			if !(v > singular*r.gram[i][i]) {
				return false
			}
			l[a][a] = math.Sqrt(v)
		}
	}
	for a := range k {
		for b, u := range l[a][:a] {
			h[a] -= u * h[b]
		}
		h[a] /= l[a][a]
	}
	for a := k - 1; a >= 0; a-- {
		h[a] /= l[a][a]
		for b, u := range l[a][:a] {
			h[b] -= u * h[a]
		}
	}
	return true
}
