package lasso

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// dualityGap returns the primal objective P(w) = 1/2 r'r + sum p_j |w_j|, with
// the residual r = y - Xw, and how far at most it is above the optimum.
//
// With the gradient g = X'r, the scaled residual c r, c = min(1, 1 / max_j
// (|g_j| / p_j)), satisfies every constraint |X_j'(cr)| <= p_j of the dual,
// whose objective is 1/2 y'y - 1/2 (y - cr)'(y - cr) = c y'r - c^2/2 r'r. As
// y'r = r'r + w'g, the difference is
//
//	1/2 (1-c)^2 r'r + sum_j (p_j |w_j| - c w_j g_j),
//
// in which no term is negative: the gap is exact to a relative rounding error
// of the gradient, however small it is.
func dualityGap(
	rr float64,
	w, gradient, penalty []float64,
) (primal, gap float64) {
	worst := 1.0
	for j, g := range gradient {
		if g := math.Abs(g); g > 0 {
			worst = max(worst, g/penalty[j])
		}
	}
	c := 1 / worst
	l1 := 0.0
	for j, v := range w {
		if v != 0 {
			l1 += penalty[j] * math.Abs(v)
			gap += max(0, penalty[j]*math.Abs(v)-c*v*gradient[j])
		}
	}
	return rr/2 + l1, gap + (1-c)*(1-c)*rr/2
}

// newWorkingSet returns, in increasing order, the non-zero coefficients and the worst coefficients whose gradient
// exceeds the penalty: at most twice as many as the non-zero ones, or 64, so that few columns of a wide table enter.
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
			return cmp.Compare(math.Abs(gradient[b])/penalty[b], math.Abs(gradient[a])/penalty[a])
		})
		violators = violators[:most]
	}
	set = append(set, violators...)
	slices.Sort(set)
	return set
}

// restricted is the problem in the coefficients of a working set alone.
type restricted struct {
	gram     [][]float64
	w        []float64
	gradient []float64
	penalty  []float64
	rr       float64 // square of the residual
}

func (s *Solver) restrictTo(
	set []int,
	rr float64,
	penalty []float64,
) *restricted {
	k := len(set)
	r := &restricted{
		gram:     make([][]float64, k),
		w:        make([]float64, k),
		gradient: make([]float64, k),
		penalty:  make([]float64, k),
		rr:       rr,
	}
	block := make([]float64, k*k)
	for i, j := range set {
		r.gram[i] = block[i*k : (i+1)*k]
		for l, m := range set {
			r.gram[i][l] = s.moments.product(j, m)
		}
		r.w[i], r.gradient[i], r.penalty[i] = s.w[j], s.gradient[j], penalty[j]
	}
	return r
}

// stepCoordinate adds h to coefficient i and keeps the gradient and the square of the
// residual: h along column x turns r'r into r'r - 2h x'r + h^2 x'x.
func (r *restricted) stepCoordinate(i int, h float64) {
	r.w[i] += h
	r.rr = max(0, r.rr-h*(2*r.gradient[i]-h*r.gram[i][i]))
	floats.AddScaled(r.gradient, -h, r.gram[i])
}

// sweepCoordinates minimises over each coefficient in turn.
func (r *restricted) sweepCoordinates() {
	for i, old := range r.w {
		square := r.gram[i][i]
		w := softThreshold(r.gradient[i]+square*old, r.penalty[i]) / square
		if w != old {
			r.stepCoordinate(i, w-old)
			r.w[i] = w
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
