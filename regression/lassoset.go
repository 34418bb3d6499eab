package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// dualityGap returns the primal objective P(w) = 1/2 ||y - Xw||^2 + sum p_j |w_j|
// and how far at most it is above the optimum, from second moments alone.
//
// With the residual r = y - Xw and gradient g = X'r, the scaled residual c r,
// c = min(1, 1 / max_j (|g_j| / p_j)), satisfies every constraint |X_j'(cr)| <=
// p_j of the dual, whose objective is 1/2 ||y||^2 - 1/2 ||y - cr||^2 =
// c y'r - c^2/2 ||r||^2. Their difference is the gap. Moments give
// y'r = y'y - w'X'y and ||r||^2 = y'r - w'g.
func dualityGap(yy float64, w, xy, gradient, penalty []float64) (primal, gap float64) {
	l1, worst := 0.0, 0.0
	for j, v := range w {
		l1 += penalty[j] * math.Abs(v)
		if g := math.Abs(gradient[j]); g > 0 {
			worst = max(worst, g/penalty[j])
		}
	}
	yr := yy - floats.Dot(w, xy)
	rr := max(0, yr-floats.Dot(w, gradient))
	c := 1.0
	if worst > 1 {
		c = 1 / worst
	}
	return rr/2 + l1, max(0, rr/2*(1+c*c)+l1-c*yr)
}

// newWorkingSet returns, in increasing order, the coefficients that are not 0
// and the worst of those whose gradient exceeds the penalty: at most twice as
// many as the former, or 64, so that few columns of a wide table enter.
func newWorkingSet(w, gradient, penalty []float64) []int {
	var set, violators []int
	for j, v := range w {
		switch {
		case v != 0:
			set = append(set, j)
		case math.Abs(gradient[j]) > penalty[j]:
			violators = append(violators, j)
		}
	}
	if most := max(64, 2*len(set)); len(violators) > most {
		slices.SortStableFunc(violators, func(a, b int) int {
			excessA, excessB := math.Abs(gradient[a])/penalty[a], math.Abs(gradient[b])/penalty[b]
			switch {
			case excessA > excessB:
				return -1
			case excessA < excessB:
				return 1
			}
			return 0
		})
		violators = violators[:most]
	}
	set = append(set, violators...)
	slices.Sort(set)
	return set
}

// restricted is the problem in the coefficients of a working set alone.
type restricted struct {
	gram                     [][]float64
	w, xy, gradient, penalty []float64
}

func (s *LassoSolver) restrict(set []int, penalty []float64) *restricted {
	k := len(set)
	r := &restricted{
		gram: make([][]float64, k), w: make([]float64, k), xy: make([]float64, k),
		gradient: make([]float64, k), penalty: make([]float64, k),
	}
	block := make([]float64, k*k)
	for i, j := range set {
		r.gram[i] = block[i*k : (i+1)*k]
		for l, m := range set {
			r.gram[i][l] = s.gram[j][m]
		}
		r.w[i], r.xy[i], r.gradient[i], r.penalty[i] = s.w[j], s.xy[j], s.gradient[j], penalty[j]
	}
	return r
}

// sweep minimises over each coefficient in turn, keeping the gradient.
func (r *restricted) sweep() {
	for i, old := range r.w {
		square := r.gram[i][i]
		w := softThreshold(r.gradient[i]+square*old, r.penalty[i]) / square
		if w != old {
			r.w[i] = w
			floats.AddScaled(r.gradient, old-w, r.gram[i])
		}
	}
}

// softThreshold returns the v nearest to z in the sense of
// 1/2 (v - z)^2 + p |v|.
func softThreshold(z, p float64) float64 {
	switch {
	case z > p:
		return z - p
	case z < -p:
		return z + p
	}
	return 0
}
