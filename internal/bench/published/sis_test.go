package published

import (
	"context"
	"math"
	"slices"
	"testing"
)

// halfTable returns y = x1 = +1, -1, ... and x2 = y on half of the rows, and the same table with the record x1 = 1e6, x2 =
// 0, y = 1.
func halfTable(n int) (x [][]float64, y []float64, x2 [][]float64, y2 []float64) {
	x = make([][]float64, 2)
	for i := range n {
		v := 1 - 2*float64(i%2)
		y = append(y, v)
		x[0] = append(x[0], v)
		x[1] = append(x[1], 0)
		if i < n/2 {
			x[1][i] = v
		}
	}
	return x, y, withRecord(x, 1e6, 0), append(slices.Clone(y), 1)
}

// clampedScores returns the score of this project: |sum x y| of cells clamped to [-1, 1], here with the identity as the public
// map. It changes by at most 1 either way.
func clampedScores(x [][]float64, y []float64) []float64 {
	clamp := func(v float64) float64 {
		return min(max(v, -1), 1)
	}
	scores := make([]float64, len(x))
	for j := range x {
		sum := 0.0
		for i, v := range x[j] {
			sum += clamp(v) * clamp(y[i])
		}
		scores[j] = math.Abs(sum)
	}
	return scores
}

// TestSISWitness shows that one record determines the centre and the scale of all records.
func TestSISWitness(t *testing.T) {
	const epsilon = 1.0
	x, y, x2, y2 := halfTable(100)
	before := SISScores(x, y)
	after := SISScores(x2, y2)
	checkNear(t, "score of x1", before[0], 100, 1e-9)
	checkNear(t, "score of x2", before[1], 50, 1e-9)
	checkNear(t, "score of x1 with the record", after[0], .990, .0005)
	checkNear(t, "score of x2 with the record", after[1], 49.51, .005)

	m := SIS{K: 1, Peeling: true}
	checkNear(
		t,
		"log ratio",
		Loss(
			must(m.Law(x, y, epsilon)),
			must(m.Law(x2, y2, epsilon)),
		),
		25.0,
		.05,
	)
	got := Loss(
		must(SIS{K: 1}.Law(x, y, epsilon)),
		must(SIS{K: 1}.Law(x2, y2, epsilon)),
	)
	if got < 10 {
		t.Errorf(
			"by the canonical Lipschitz mechanism the loss is %v only",
			got,
		)
	}
	sound := func(x [][]float64, y []float64) Law {
		return must(peelOnce(clampedScores(x, y), 1, 2/epsilon).listOutcomes())
	}
	if got := Loss(sound(x, y), sound(x2, y2)); got > epsilon {
		t.Errorf(
			"plain sums: loss %v above %v",
			got, epsilon,
		)
	}

	x, y, x2, y2 = halfTable(1000)
	checkNear(
		t,
		"log ratio at n = 1000",
		Loss(
			must(m.Law(x, y, epsilon)),
			must(m.Law(x2, y2, epsilon)),
		),
		250,
		1,
	)
	if got := Loss(sound(x, y), sound(x2, y2)); got > epsilon {
		t.Errorf(
			"plain sums, n = 1000: loss %v above %v",
			got, epsilon,
		)
	}
}

// TestSISScores checks that the unit and the origin of a column do not matter, that a constant column has score 0,
// and that no finite cell overflows.
func TestSISScores(t *testing.T) {
	y := []float64{1, 4, 2, 8, 5}
	x := [][]float64{
		{1, 4, 2, 8, 5},
		{-10, -40, -20, -80, -50},
		{3, 3, 3, 3, 3},
		{-1e308, 1e308, -1e308, 1e308, 0},
		{0, 0, 0, 0, 0},
	}
	s := SISScores(x, y)
	// Centred y is (-3, 0, -2, 4, 1) with the largest value 4: sum of squares 30/16.
	checkNear(t, "y with itself", s[0], 30.0/16, 1e-12)
	checkNear(t, "y in other units", s[1], 30.0/16, 1e-12)
	checkNear(t, "constant", s[2], 0, 0)
	checkNear(
		t, "huge", s[3],
		(3+2+4)/4.0,
		1e-12,
	)
	checkNear(t, "zero", s[4], 0, 0)
}

func TestSISDrawsItsLaw(t *testing.T) {
	x := rearrangedColumns(19, 7, 11, 5, 2)
	y := rearrangedColumns(19, 12)[0]
	v, target := newView(t, x, y)
	m := SIS{K: 2, Peeling: true}
	checkFrequencies(t, "peeling", must(m.Law(x, y, 3)), 20000, func(src Source) []int {
		return m.newRounds(SISScores(x, y), 3).drawRounds(dice{src})
	})
	m.Peeling = false
	checkFrequencies(t, "lipschitz", must(m.Law(x, y, 3)), 20000, func(src Source) []int {
		got, err := m.Fit(context.Background(), src, v, target, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got.Columns
	})
	m.Peeling = true
	got, err := m.Fit(
		context.Background(), fixedSource(1), v,
		target, 3, 0,
	)
	if err != nil || len(got.Columns) != 2 {
		t.Errorf("peeling fit: %v, %v", got, err)
	}
}
