package linear

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestGroupsHaveTheirOwnPriors checks that a column with large effects and one without any get
// different priors, and that the effects are found far better than with one penalty for all.
func TestGroupsHaveTheirOwnPriors(t *testing.T) {
	const (
		levels = 30
		sigma  = 40
	)
	exact, effects := manyRows(6000, levels)
	b := blocksOf(manyColumns(levels))
	first := levels + 4
	error2 := func(fit Solution) float64 {
		var mean, sum float64
		for v, x := range effects {
			mean += (fit.Theta[1+v] - x) / levels
		}
		for v, x := range effects { // up to a common shift
			sum += square(fit.Theta[1+v]-x-mean) / levels
		}
		return sum
	}
	var grouped, ridge, claimed float64
	for draw := range 5 {
		noisy := withNoise(exact, sigma, uint64(draw)+50)
		fits, ok := b.solve(b.denoise(noisy, sigma), first, sigma)
		if !ok {
			t.Fatal("no fit")
		}
		grouped += error2(fits[0])
		claimed += fits[0].Cov.At(1, 1)
		ridge += error2(noisy.SolveAll(
			first,
			sigma,
			NewSpectrum(noisy.Features(first)),
		)[0])
	}
	if !(grouped < ridge/2) {
		t.Errorf(
			"mean square error %v, with one penalty %v",
			grouped/5, ridge/5,
		)
	}
	// The claimed variance covers noise only, and the error also has the bias of the prior.
	ratio := grouped / claimed
	if ratio < .3 || ratio > 5 {
		t.Errorf("the error is %v times the claimed variance", ratio)
	}
}

// TestGroupFitIsThePosterior compares the mapping with the posterior mean written with inverses: (A
// S^-1 A + D^-1)^-1 A S^-1 v.
func TestGroupFitIsThePosterior(t *testing.T) {
	a := mat.NewSymDense(
		3,
		[]float64{9, 2, 1, 2, 7, 3, 1, 3, 5},
	)
	noise := []float64{2, 3, 4}
	f := newGroupFit(a, []int{0, 1, 2})
	f.prior = []float64{.5, .25, 4}
	got, ok := f.mapping(noise)
	if !ok {
		t.Fatal("no mapping")
	}
	var weighted, precision, want mat.Dense
	weighted.Apply(func(_, j int, x float64) float64 {
		return x / noise[j]
	}, a)
	precision.Mul(&weighted, a)
	for i, p := range f.prior {
		precision.Set(i, i, precision.At(i, i)+1/p)
	}
	if err := want.Solve(&precision, &weighted); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for j := range 3 {
			d := got.At(i, j) - want.At(i, j)
			if math.Abs(d) > 1e-12 {
				t.Errorf(
					"entry %d, %d: off by %v",
					i, j, d,
				)
			}
		}
	}
}

// TestGroupStepsRaiseTheLikelihood checks that the estimated variances are those of highest
// marginal likelihood.
func TestGroupStepsRaiseTheLikelihood(t *testing.T) {
	exact, _ := manyRows(6000, 20)
	g := withNoise(exact, 30, 4)
	a := g.Features(24)
	noise := make([]float64, 25)
	for i := range noise {
		noise[i] = 450
	}
	v := g.Against(24, 24)
	f := newGroupFit(a, blocksOf(manyColumns(20)).groups(25))
	likelihood := func() float64 {
		l, ok := f.factorize(noise)
		if !ok {
			t.Fatal("no factor")
		}
		var u mat.Dense
		if err := l.SolveTo(&u, false, v); err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for i := range 25 {
			sum -= math.Log(l.At(i, i)) + square(u.At(i, 0))/2
		}
		return sum
	}
	before := likelihood()
	for range 30 {
		if !f.step([]*mat.VecDense{v}, noise) {
			t.Fatal("no step")
		}
		after := likelihood()
		if after < before-1e-9 {
			t.Fatalf(
				"the likelihood falls from %v to %v",
				before, after,
			)
		}
		before = after
	}
	if !(f.prior[0] > 20*f.prior[1]) {
		t.Errorf(
			"variances %v: the first column has effects and the second none",
			f.prior,
		)
	}
}

// TestGroupFitIsTotal checks that no finite matrix gives a fit that is not finite.
func TestGroupFitIsTotal(t *testing.T) {
	exact, _ := manyRows(50, 20)
	for name, scale := range map[string]float64{
		"zero":     0,
		"negative": -1,
		"tiny":     1e-300,
		"large":    1e150,
		"huge":     1e300,
	} {
		for _, sigma := range []float64{1, 1e6} {
			g := Packed{P: exact.P}
			for _, x := range exact.Values {
				g.Values = append(g.Values, scale*x)
			}
			m := &Moments{
				columns: manyColumns(20),
				Sums:    g,
				sigma:   sigma,
				blocks:  blocksOf(manyColumns(20)),
			}
			m.clean = m.blocks.denoise(g, sigma)
			theta, cov := m.SolveLifted()
			for i, x := range theta {
				if math.IsNaN(x) ||
					math.IsInf(x, 0) ||
					!(cov.At(i, i) >= 0) {
					t.Errorf(
						"%s, noise %v: theta %v, variance %v",
						name,
						sigma,
						x,
						cov.At(i, i),
					)
					break
				}
			}
		}
	}
}
