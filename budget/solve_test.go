package budget

import (
	"math"
	"testing"
)

// TestThresholdBisectsAsBisection checks that a threshold search returns the same result as plain bisection, to the
// last bit, with fewer evaluations.
func TestThresholdBisectsAsBisection(t *testing.T) {
	plain := 0
	quick := 0
	compare := func(
		name string, f func(float64) float64, level float64, rises bool, lo, hi, tol float64,
	) {
		t.Helper()
		count := func(n *int) func(float64) float64 {
			return func(x float64) float64 {
				*n++
				return f(x)
			}
		}
		slow := newThreshold(count(&plain), level, rises)
		wantLo, wantHi := bisect(lo, hi, tol, func(x float64) bool {
			holds, _ := slow.evaluateAt(x)
			return holds
		})
		gotLo, gotHi := newThreshold(count(&quick), level, rises).bisect(lo, hi, tol)
		if gotLo != wantLo || gotHi != wantHi {
			t.Errorf(
				"%s: [%v, %v], plain bisection [%v, %v]",
				name,
				gotLo,
				gotHi,
				wantLo,
				wantHi,
			)
		}
	}
	for _, tol := range []float64{1e-7, 1e-12, 1e-15} {
		for epsilon := 1e-3; epsilon < 50; epsilon *= 1.7 {
			for delta := 1e-12; delta < .9; delta *= 19 {
				mu := GaussianMu(epsilon, delta)
				compare(
					"mu",
					func(x float64) float64 {
						return gaussianDelta(x, epsilon)
					},
					delta,
					true,
					mu*.51,
					mu*1.03,
					tol,
				)
				if gaussianDelta(mu, 0) > delta {
					compare(
						"epsilon",
						func(x float64) float64 {
							return gaussianDelta(mu, x)
						},
						delta,
						false,
						0,
						epsilon*1.3,
						tol,
					)
					compare(
						"epsilon at the end",
						func(x float64) float64 {
							return gaussianDelta(mu, x)
						},
						delta,
						false,
						epsilon/2,
						math.Nextafter(epsilon, 0),
						tol,
					)
				}
			}
		}
	}
	compare(
		"a level that is met exactly",
		func(x float64) float64 {
			return 1 / x
		},
		.5,
		false,
		1,
		2,
		1e-12,
	)
	compare(
		"a step",
		func(x float64) float64 {
			return math.Max(1e-9, math.Floor(9-x))
		},
		3.5,
		false,
		0,
		10,
		1e-12,
	)
	compare(
		"beyond float64",
		func(x float64) float64 {
			return math.Exp(-1e4 * x)
		},
		1e-6,
		false,
		0,
		1,
		1e-12,
	)
	compare(
		"flat beside the level",
		func(x float64) float64 {
			return math.Max(1, 2-x)
		},
		1,
		false,
		0,
		4,
		1e-12,
	)
	if quick*2 > plain {
		t.Errorf("%d evaluations, plain bisection %d", quick, plain)
	}
	t.Log(plain, quick)
}

// TestMillsSideBySide checks that two interleaved divisions return the same as two in sequence, to the last bit.
func TestMillsSideBySide(t *testing.T) {
	for x := .5; x < 60; x *= 1.01 {
		for _, y := range []float64{
			x, x + 1e-3,
			x + .5, x + 7,
			9 * x,
		} {
			a, b := millsRatioPair(x, y)
			if a != millsRatio(x) || b != millsRatio(y) {
				t.Fatalf(
					"millsRatioPair(%v, %v) is %v, %v; want %v, %v",
					x,
					y,
					a,
					b,
					millsRatio(x),
					millsRatio(y),
				)
			}
		}
	}
}
