package linear

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLiftConstant checks the step on the constant. A ridge solution leaves a residual sum of lambda times the
// constant; the step reduces it by the factor lambda/(A_ll + lambda) and never moves it past 0.
func TestLiftConstant(t *testing.T) {
	const lambda = 30.
	a := mat.NewSymDense(2, []float64{400, -120, -120, 900})
	v := mat.NewVecDense(2, []float64{90, -700})
	var system, theta mat.Dense
	system.Add(a, mat.NewDiagDense(2, []float64{lambda, lambda}))
	if err := theta.Solve(&system, v); err != nil {
		t.Fatal(err)
	}
	x := Solution{
		[]float64{theta.At(0, 0), theta.At(1, 0)},
		mat.NewSymDense(2, []float64{2, 1, 1, 3}),
	}
	residual := func() float64 {
		return v.AtVec(1) - a.At(1, 0)*x.Theta[0] - a.At(1, 1)*x.Theta[1]
	}
	before := residual()
	if math.Abs(before-lambda*x.Theta[1]) > 1e-9 {
		t.Fatalf(
			"residual %v, lambda theta %v",
			before, lambda*x.Theta[1],
		)
	}
	again := []float64{x.Theta[0], x.Theta[1]}
	x.LiftConstant(900, lambda)
	want := before * lambda / (900 + lambda)
	if math.Abs(residual()-want) > 1e-9 {
		t.Errorf(
			"residual %v after the step, want %v",
			residual(), want,
		)
	}
	factor := 1 + lambda/(900+lambda)
	got, want := x.Cov.At(1, 1), 3*factor*factor
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("variance %v, want %v", got, want)
	}
	got = x.Cov.At(0, 1)
	if math.Abs(got-factor) > 1e-12 ||
		x.Cov.At(0, 0) != 2 {
		t.Errorf("covariance %v", got)
	}
	cov := mat.NewSymDense(2, []float64{2, 1, 1, 3})
	LiftConstant(again, cov, before, 2, 900, lambda)
	if math.Abs(again[1]-x.Theta[1]) > 1e-12 ||
		math.Abs(cov.At(1, 1)-3-4/(930.*930)) > 1e-12 {
		t.Errorf(
			"coefficient %v, want %v; variance %v",
			again[1], x.Theta[1],
			cov.At(1, 1),
		)
	}
	for _, weight := range []float64{-1e300, -5, 0, math.Inf(1)} { // possible noisy weights of a few records
		y := Solution{[]float64{0, 1}, mat.NewSymDense(2, nil)}
		y.LiftConstant(weight, lambda)
		if !(y.Theta[1] >= 1 && y.Theta[1] <= 2) {
			t.Errorf(
				"weight %v: %v",
				weight, y.Theta[1],
			)
		}
	}
}
