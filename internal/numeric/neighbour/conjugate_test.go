package neighbour

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
)

// TestConjugateGradient checks, with and without a metric, that the result has fewer errors than the starting records
// and that the loss decreases with the number of iterations. The number of workers does not matter, the result has
// the requested γ², and a cancelled context returns its error.
func TestConjugateGradient(t *testing.T) {
	p := blobPoints(900)
	start := Stratified(p, 12, allIndices(900))
	before := errorsOf(p.Subset(start), p)
	for _, metric := range []bool{false, true} {
		losses := []float64{}
		for _, iterations := range []int{1, 10, 60} {
			c, err := Compress(
				t.Context(),
				p,
				start,
				Options{
					Passes:    iterations,
					Optimizer: ConjugateGradient,
					Metric:    metric,
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, c.Loss)
			q := p
			if metric {
				q.X = applyMap(p.X, c.Metric, p.Dim)
			}
			after := errorsOf(c.References, q)
			if iterations == 60 && after > before/2 {
				t.Errorf(
					"metric %t: %d errors, %d before",
					metric, after, before,
				)
			}
		}
		if !(losses[0] > losses[1] && losses[1] >= losses[2]) {
			t.Errorf("metric %t: losses %v", metric, losses)
		}
	}
	run := func(workers int, gamma2 float64) Compressed {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		c, err := Compress(
			t.Context(),
			p,
			start,
			Options{Passes: 20, Optimizer: ConjugateGradient, Gamma2: gamma2},
		)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one := run(1, .5)
	four := run(4, .5)
	if !slices.Equal(one.References.X, four.References.X) ||
		one.Gamma2 != .5 {
		t.Errorf(
			"four workers have another result than one, or γ² is %v",
			one.Gamma2,
		)
	}
	a := run(1, .5)
	b := run(1, 2)
	if slices.Equal(a.References.X, b.References.X) {
		t.Error("γ² is not read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := func([]float64) (float64, []float64, error) {
		return 0, []float64{0}, nil
	}
	err := minimizeConjugate(ctx, []float64{1}, 3, l)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestConjugateQuadratic finds the minimum of a quadratic function of two variables.
func TestConjugateQuadratic(t *testing.T) {
	at := []float64{9, -7}
	err := minimizeConjugate(t.Context(), at, 50, func(x []float64) (float64, []float64, error) {
		a := x[0] - 2
		b := x[1] + 1
		return a*a + 10*b*b, []float64{2 * a, 20 * b}, nil
	})
	if err != nil ||
		math.Abs(at[0]-2) > 1e-4 ||
		math.Abs(at[1]+1) > 1e-4 {
		t.Errorf("%v, %v", at, err)
	}
}
