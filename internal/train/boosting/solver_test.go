package boosting

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestStepsConverge checks that without noise the rounds converge to least squares from the residuals of each round,
// and faster for a smaller penalty.
func TestStepsConverge(t *testing.T) {
	a := mat.NewSymDense(2, []float64{4, 1, 1, 3})
	v := mat.NewVecDense(2, []float64{1, 2})
	var want mat.VecDense
	if err := want.SolveVec(a, v); err != nil {
		t.Fatal(err)
	}
	s := newSolver(a, .5, 1) // lambda = 1
	if math.Abs(s.lambda-1) > 1e-12 {
		t.Fatalf("penalty %v", s.lambda)
	}
	error0 := math.Inf(1)
	for range 60 {
		var gradient mat.VecDense
		gradient.MulVec(a, mat.NewVecDense(2, s.theta))
		gradient.SubVec(v, &gradient)
		s.step(gradient.RawVector().Data)
		var d mat.VecDense
		d.SubVec(mat.NewVecDense(2, s.theta), &want)
		e := mat.Norm(&d, 2)
		if e > error0 {
			t.Fatalf(
				"the error grew from %v to %v",
				error0, e,
			)
		} else {
			error0 = e
		}
	}
	if error0 > 1e-12 {
		t.Errorf("error %v after 60 rounds", error0)
	}
}

// TestCovarianceOfOneRound compares the covariance with that of ridge regression with a noisy matrix, shrunk: nu^2 S
// M S, M = (sigma_b^2 + sigma_G^2/2 |a|^2) I + sigma_G^2/2 a a^T, with a = S g the solution for the gradient g.
func TestCovarianceOfOneRound(t *testing.T) {
	for _, shrinkage := range []float64{1, .8} {
		s := newSolver(
			mat.NewSymDense(
				3,
				[]float64{
					9, 2, -1, 2, 6, .5,
					-1, .5, 4,
				},
			),
			.3,
			shrinkage,
		)
		gradient := []float64{2, -1, 3}
		s.step(gradient)
		got := s.covariance(.7)
		var solution mat.VecDense
		solution.MulVec(s.inverse, mat.NewVecDense(3, gradient))
		m := mat.NewDense(3, 3, nil)
		m.RankOne(m, .3*.3/2, &solution, &solution)
		for i := range 3 {
			m.Set(
				i, i,
				m.At(i, i)+.7*.7+.3*.3/2*mat.Dot(&solution, &solution),
			)
		}
		var want mat.Dense
		want.Product(s.inverse, m, s.inverse)
		want.Scale(shrinkage*shrinkage, &want)
		if !mat.EqualApprox(got, &want, 1e-12) {
			t.Errorf(
				"shrinkage %v: got\n%v\nwant\n%v",
				shrinkage,
				mat.Formatted(got),
				mat.Formatted(&want),
			)
		}
	}
}

// TestSolverIsTotal checks that steps and variances are finite even for matrices that only noise could produce.
func TestSolverIsTotal(t *testing.T) {
	for name, values := range map[string][]float64{
		"zero":     {0, 0, 0, 0},
		"negative": {-5, 0, 0, -5},
		"huge":     {1e10, 1e10, 1e10, 1e10},
		"crossed":  {0, 9, 9, 0},
	} {
		s := newSolver(mat.NewSymDense(2, values), 1, 1)
		for range MaxRounds {
			s.step([]float64{3e10, -1})
		}
		cov := s.covariance(1)
		for i, v := range s.theta {
			if math.IsNaN(v) ||
				math.IsInf(v, 0) ||
				!(cov.At(i, i) >= 0) ||
				math.IsInf(cov.At(i, i), 0) {
				t.Errorf(
					"%s: theta %v, variance %v",
					name, s.theta,
					cov.At(i, i),
				)
			}
		}
	}
}
