package published

import (
	"math"
	"slices"
)

// A TukeyCheck computes the distance of models from an unsafe configuration, by lemma 8.4 (K. Amin and others, "Easy
// differentially private linear regression", 2023, lemma 3.6) or by lemma 8.5 of the Kendall paper. The formula of
// lemma 8.4 is missing in the available text; we use the one that lemma 8.5 replaces, with the volume of an inner
// region as the lower bound of its weight.
type TukeyCheck struct {
	epsilon float64
	delta   float64
	t       int       // a quarter of the models
	volume  []float64 // logarithm of the volume of depth at least q, at q-1
	weight  []float64 // logarithm of the integral of exp(epsilon T) over it
}

// NewTukeyCheck returns the check of models with a budget. There must be at least two models, all of one length.
func NewTukeyCheck(models [][]float64, epsilon, delta float64) TukeyCheck {
	m := len(models)
	c := TukeyCheck{
		epsilon: epsilon,
		delta:   delta,
		t:       m / 4,
		volume:  make([]float64, m/2),
		weight:  make([]float64, m/2),
	}
	for j := range models[0] {
		column := make([]float64, m)
		for i, model := range models {
			column[i] = model[j]
		}
		slices.Sort(column)
		for q := range c.volume {
			c.volume[q] += math.Log(column[m-1-q] - column[q])
		}
	}
	// The weight is the sum over deeper regions: exp(epsilon p) V_p plus
	// exp(epsilon (q-1)) (exp(epsilon) - 1) V_q for every q above p.
	sum := math.Inf(-1)
	for q := len(c.volume); q >= 1; q-- {
		c.weight[q-1] = logAdd(epsilon*float64(q)+c.volume[q-1], sum)
		sum = logAdd(sum, epsilon*float64(q-1)+math.Log(math.Expm1(epsilon))+c.volume[q-1])
	}
	return c
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// limit returns the logarithm of delta/(8 exp(epsilon)).
func (c TukeyCheck) limit() float64 {
	return math.Log(c.delta/8) - c.epsilon
}

// Distance84 returns the largest k for which some g > 0 has V_(t-k-1)/V_(t+k+g+1) exp(-epsilon g) <= delta/(8
// exp(epsilon)), or -1 if no k does.
func (c TukeyCheck) Distance84() int {
	return c.largest(func(k int) bool {
		for g := 1; c.t+k+g+1 <= len(c.volume); g++ {
			if c.volume[c.t-k-2]-c.volume[c.t+k+g]-c.epsilon*float64(g) <= c.limit() {
				return true
			}
		}
		return false
	})
}

// Distance85 returns the largest k for which V_(t-k-1) exp(epsilon (t+k+1)) over the weight of depth at least t+k-1
// is at most delta/(8 exp(epsilon)), or -1 if no k does.
func (c TukeyCheck) Distance85() int {
	return c.largest(func(k int) bool {
		from := c.t + k - 1
		return from >= 1 && from <= len(c.weight) &&
			c.volume[c.t-k-2]+c.epsilon*float64(c.t+k+1)-c.weight[from-1] <= c.limit()
	})
}

func (c TukeyCheck) largest(holds func(k int) bool) int {
	for k := c.t - 2; k >= 0; k-- {
		if holds(k) {
			return k
		}
	}
	return -1
}

// NormalModels returns m models of d coefficients at the quantiles of a normal distribution.
func NormalModels(m, d int) [][]float64 {
	out := make([][]float64, m)
	for i := range out {
		v := math.Sqrt2 * math.Erfinv(2*(float64(i)+.5)/float64(m)-1)
		for range d {
			out[i] = append(out[i], v)
		}
	}
	return out
}

// LeastModels returns the smallest number of normal models for which a distance reaches the
// threshold ln(1/(2 delta))/epsilon.
func LeastModels(
	d int,
	epsilon, delta float64,
	distance func(TukeyCheck) int,
) int {
	for m := 8; ; m++ {
		if float64(
			distance(NewTukeyCheck(NormalModels(m, d), epsilon, delta))) >= math.Log(1/(2*delta))/
			epsilon {
			return m
		}
	}
}
