package direction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// pairOf returns the example of the specification.
func pairOf(n int) (x, y []float64) {
	for i := 1; i <= n; i++ {
		t := float64(i)
		v := math.Sin(1.7 * t)
		x = append(x, v)
		y = append(
			y,
			.6*v*v*v+.25*v+.12*math.Sin(2.9*t+.3*t*t),
		)
	}
	return x, y
}

// TestSpecifiedBaseline reproduces the values of the specification.
func TestSpecifiedBaseline(t *testing.T) {
	x, y := pairOf(200)
	checkNear(t, "x", x[0], .991664810)
	checkNear(t, "y", y[0], .826032672)
	r := make([]float64, len(x))
	for i := range r {
		r[i] = y[i] - .85*x[i]
	}
	checkNear(t, "spearman", SpearmanRho(x, r), .550999775)
	checkNear(t, "kendall", KendallTau(x, r), .341005025)
	checkNear(t, "hsic", HSICOf(x, r, .5), .017632231)
	train := make([]bool, len(x))
	for i := range 100 {
		train[i] = true
	}
	ridge := Ridge{.05, .5}
	f := FitRecords(x, y, train, ridge)
	for i, want := range []float64{.600689993, -.334412929, -.493115864} {
		checkNear(t, "prediction", f.Y[i]-f.ResidualY[i], want)
	}
	s := f.Score(HSIC)
	checkNear(t, "hsic of y given x", s.Forward, .001166781)
	checkNear(t, "hsic of x given y", s.Backward, .005723532)
	checkNear(t, "eta", ridge.ResidualBound(500), .665964426)
	checkNear(
		t,
		"bound of hsic by eta",
		slope/ResidualWidth*ridge.ResidualBound(500)*math.Pow(500./499, 2),
		.811095946,
	)
	checkNear(
		t, "bound of hsic",
		HSICBound(ridge, 500, 500),
		.25*math.Pow(500./499, 2),
	)
	checkNear(t, "bound of hsic for a test record", TestBound(HSIC, 500), .0080321)
}

// eachPermutation calls do with each permutation of 0..m-1.
func eachPermutation(m int, do func([]float64)) {
	p := make([]float64, m)
	var fill func(k int, left []float64)
	fill = func(k int, left []float64) {
		if k == m {
			do(p)
			return
		}
		for i, v := range left {
			p[k] = v
			fill(k+1, slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	all := make([]float64, m)
	for i := range all {
		all[i] = float64(i)
	}
	fill(0, all)
}

// TestRankBounds searches all replacements of a record without ties. Spearman's bound is 6/(m+1) and Kendall's 4/m,
// signed, and both are attained.
func TestRankBounds(t *testing.T) {
	signed := func(a, b []float64) (rho, tau float64) {
		m := float64(len(a))
		d := 0.
		s := 0.
		x := averageRanks(a)
		y := averageRanks(b)
		for i := range a {
			d += (x[i] - y[i]) * (x[i] - y[i])
			for j := range i {
				s += math.Copysign(1, a[i]-a[j]) * math.Copysign(1, b[i]-b[j])
			}
		}
		return 1 - 6*d/(m*(m*m-1)), s / (m * (m - 1) / 2)
	}
	for _, m := range []int{4, 5} {
		far := [2]float64{}
		base := make([]float64, m)
		for i := range base {
			base[i] = float64(i)
		}
		eachPermutation(m, func(p []float64) {
			rho, tau := signed(base, p)
			for k := range m {
				for u := range m + 1 {
					for v := range m + 1 {
						a := slices.Clone(base)
						b := slices.Clone(p)
						a[k] = float64(u) - .5
						b[k] = float64(v) - .5
						r, q := signed(a, b)
						far[0] = max(far[0], math.Abs(r-rho))
						far[1] = max(far[1], math.Abs(q-tau))
						d := math.Abs(SpearmanRho(a, b) -
							SpearmanRho(base, p))
						if d > TestBound(Spearman, m)+1e-12 {
							t.Fatalf("spearman moves by %v", d)
						}
					}
				}
			}
		})
		for i, name := range []string{Spearman, Kendall} {
			if math.Abs(far[i]-TestBound(name, m)) > 1e-12 {
				t.Errorf(
					"%s, m = %d: the farthest is %v, the bound %v",
					name,
					m,
					far[i],
					TestBound(name, m),
				)
			}
		}
	}
}

// TestHSICBound searches replacements of a test record and checks that they stay within the bound.
func TestHSICBound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ends := []float64{-8, 0, 8, 16}
	for _, m := range []int{6, 10, 20} {
		far := 0.
		for range 2000 {
			a := make([]float64, m)
			b := make([]float64, m)
			for i := range a {
				a[i] = ends[r.IntN(3)]
				b[i] = a[i]
				if r.IntN(2) == 0 {
					b[i] = ends[r.IntN(3)]
				}
			}
			before := HSICOf(a, b, .5)
			k := r.IntN(m)
			a[k] = ends[r.IntN(4)]
			b[k] = ends[r.IntN(4)]
			far = max(far, math.Abs(HSICOf(a, b, .5)-before))
		}
		bound := TestBound(HSIC, m)
		if far > bound || far < .15*bound {
			t.Errorf(
				"m = %d: the farthest is %v, the bound %v",
				m, far, bound,
			)
		}
	}
}

// TestPublishedResidualBound shows that theorem 7 as published, 8/(n penalty^1.5), is exceeded at n = 50 and penalty
// 9, and that the corrected bound never is.
func TestPublishedResidualBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	published := func(n int, penalty float64) float64 {
		return 8 / (float64(n) * math.Pow(penalty, 1.5))
	}
	p := published(50, 9)
	if math.Abs(p-.00593) > 1e-5 {
		t.Fatalf("published bound %v", p)
	}
	at := make([]float64, 41)
	for i := range at {
		at[i] = float64(i-20) / 20
	}
	for _, c := range []struct {
		n        int
		ridge    Ridge
		exceeded bool
	}{
		{50, Ridge{9, .5}, true},
		{50, Ridge{.05, .5}, false},
		{200, Ridge{.5, .5}, false},
	} {
		far := 0.
		for range 60 {
			x := make([]float64, c.n)
			y := make([]float64, c.n)
			for i := range x {
				x[i] = float64(r.IntN(3) - 1)
				y[i] = 1
				if r.IntN(2) == 0 {
					y[i] = float64(2*r.IntN(2) - 1)
				}
			}
			if r.IntN(2) == 0 { // all records alike but the worst one
				for i := range x {
					x[i] = 0
					y[i] = 1
				}
			}
			before := c.ridge.Regress(x, y, at)
			k := r.IntN(c.n)
			y[k] = -y[k]
			for i, v := range c.ridge.Regress(x, y, at) {
				far = max(far, math.Abs(v-before[i]))
			}
		}
		if far > c.ridge.ResidualBound(c.n) {
			t.Errorf(
				"%+v: moved by %v, the bound is %v",
				c, far,
				c.ridge.ResidualBound(c.n),
			)
		}
		if (far > published(c.n, c.ridge.Penalty)) != c.exceeded {
			t.Errorf(
				"%+v: moved by %v, published %v",
				c, far,
				published(c.n, c.ridge.Penalty),
			)
		}
	}
}

// TestPublishedThreshold analyses the check of a propose-test-release step. With the published threshold 1 +
// ln(1/delta), data at distance 0 from unstable pass with probability .158 at epsilon .1 and delta 1e-5. With 1 +
// ln(1/(2 delta))/epsilon they pass with probability at most delta.
func TestPublishedThreshold(t *testing.T) {
	const epsilon, delta = .1, 1e-5
	// The data are one step from unstable, so the released distance is 1 + Lap(1/epsilon).
	passes := func(threshold float64) float64 {
		return .5 * math.Exp(-(threshold-1)*epsilon)
	}
	checkNear(
		t, "published",
		math.Round(1000*passes(1+math.Log(1/delta)))/1000,
		.158,
	)
	p := passes(1 + math.Log(1/(2*delta))/epsilon)
	if p > delta*(1+1e-9) {
		t.Errorf("the right threshold passes with probability %v", p)
	}
	// This audits the published check: for a private check the event "passed" has probability at most delta, but its
	// frequency in 10,000 runs is above .1.
	r := rand.New(rand.NewPCG(5, 6))
	passed := 0
	for range 10000 {
		noise := r.ExpFloat64() / epsilon
		if r.IntN(2) == 0 {
			noise = -noise
		}
		if 1+noise > 1+math.Log(1/delta) {
			passed++
		}
	}
	if passed < 1000 {
		t.Errorf("passed %d times of 10000", passed)
	}
}

// TestPublishedChances verifies theorems 4 and 6, the probability that noise preserves the order of two scores. 10^6
// draws agree within 5 standard deviations of .0005 each.
func TestPublishedChances(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	noise := func(scale float64) float64 {
		x := r.ExpFloat64() * scale
		if r.IntN(2) == 0 {
			return x
		}
		return -x
	}
	const g4, s4, g6, s6 = .3, .2, .9, .3
	four := 1 - (g4+2*s4)/(4*s4)*math.Exp(-g4/s4)
	six := 1 - math.Exp(-g6/s6)*(48*s6*s6*s6+33*s6*s6*g6+9*s6*g6*g6+g6*g6*g6)/(96*s6*s6*s6)
	checkNear(t, "theorem 4", math.Round(1e5*four)/1e5, .80476)
	checkNear(t, "theorem 6", math.Round(1e5*six)/1e5, .86775)
	const draws = 1e6
	kept := [2]float64{}
	for range int(draws) {
		if noise(s4) < g4+noise(s4) {
			kept[0] += 1 / draws
		}
		if noise(s6)+noise(s6) < g6+noise(s6)+noise(s6) {
			kept[1] += 1 / draws
		}
	}
	for i, want := range []float64{four, six} {
		if math.Abs(kept[i]-want) > 5*math.Sqrt(want*(1-want)/draws) {
			t.Errorf(
				"theorem %d: %v of the draws, %v claimed",
				4+2*i, kept[i], want,
			)
		}
	}
}
