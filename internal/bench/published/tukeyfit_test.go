package published

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestTukeyFit checks that a line is found with many records and that there is no model with few.
func TestTukeyFit(t *testing.T) {
	line := func(n int) ([][]float64, []float64) {
		x := rearrangedColumns(n, 7)
		y := make([]float64, n)
		for i := range y {
			y[i] = 3*x[0][i]/float64(n) + 1 + .01*float64(i%5)
		}
		return x, y
	}
	x, y := line(5003)
	v, target := newView(t, x, y)
	got, err := Tukey{}.Fit(
		t.Context(), fixedSource(1), v,
		target, 2, 1e-5,
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Model.Validate(); err != nil || got.Columns != nil {
		t.Fatal(err, got.Columns)
	}
	checkNear(t, "slope", got.Model.Terms[0].Coefficient*5003, 3, .1)
	checkNear(t, "intercept", got.Model.Intercept, 1.02, .05)

	x, y = line(60)
	v, target = newView(t, x, y)
	_, err = (Tukey{Models: 20}).Fit(
		t.Context(), fixedSource(1), v,
		target, 1, 1e-5,
	)
	if !errors.Is(
		err, ErrAbstained) {
		t.Errorf("20 models: %v", err)
	}
	for _, m := range []int{7, 31} {
		_, err := (Tukey{Models: m}).Fit(
			t.Context(), fixedSource(1), v,
			target, 1, 1e-5,
		)
		if !errors.Is(
			err, ErrTooFew) {
			t.Errorf("%d models: %v", m, err)
		}
	}
	v, target = newView(t, [][]float64{{}}, nil)
	_, err = (Tukey{}).Fit(
		t.Context(), fixedSource(1), v,
		target, 1, 1e-5,
	)
	if !errors.Is(err, ErrTooFew) {
		t.Errorf("no records: %v", err)
	}
}

// TestTukeyLeastSquares checks that a batch is fitted exactly, that the solution of least norm is chosen among
// several, and that models are finite for cells of any size.
func TestTukeyLeastSquares(t *testing.T) {
	x := [][]float64{
		{0, 1, 2, 3},
		{0, 1, 2, 3},
	}
	got := leastSquares(
		x,
		[]float64{1, 3, 5, 7},
		[]int{3, 0, 1},
	)
	for j, want := range []float64{1, 1, 1} {
		checkNear(t, fmt.Sprint("coefficient ", j), got[j], want, 1e-12)
	}
	for _, big := range []float64{1e300, math.MaxFloat64} {
		for _, c := range leastSquares(
			[][]float64{{big, -big, 1e-300}},
			[]float64{big, big, -big},
			[]int{0, 1, 2},
		) {
			if !isFinite(c) {
				t.Errorf("cells of %v: coefficient %v", big, c)
			}
		}
	}
}
