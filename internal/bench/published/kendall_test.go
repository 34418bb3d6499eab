package published

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// soundKendall is the selection of this project: tau-a, where ties count 0, in the exponential mechanism of width 5/2
// and later 5, with epsilon/k per round.
func soundKendall(x [][]float64, y []float64, k int, epsilon float64) Law {
	tau := func(a, b []float64) float64 {
		return math.Abs(float64(kendall.S(
			kendall.Rank(a, nil),
			kendall.Rank(b, nil),
			nil,
		))) /
			float64(len(a)-1)
	}
	return must(peel{
		k: k,
		d: len(x),
		round: func(picked []int) ([]float64, float64) {
			scores := make([]float64, len(x))
			width := 2.5
			for j := range x {
				scores[j] = tau(x[j], y)
				for _, p := range picked {
					scores[j] -= tau(x[j], x[p]) / float64(len(picked))
					width = 5
				}
			}
			for _, p := range picked {
				scores[p] = math.Inf(-1)
			}
			return scores, width / (epsilon / float64(k))
		},
	}.listOutcomes())
}

// rareBinary returns x = y = (0, ..., 0, 1) together with two columns unrelated to y, and the same table with the
// record (0, 1) added.
func rareBinary(n int) (x [][]float64, y []float64, x2 [][]float64, y2 []float64) {
	y = append(make([]float64, n-1), 1)
	x = append([][]float64{slices.Clone(y)}, rearrangedColumns(n, 7, 11)...)
	x[1][n-1] = float64(n) / 2
	x[2][n-1] = float64(n) / 2
	return x, y, withRecord(
		x, 0, float64(n)/2,
		float64(n)/2,
	), append(slices.Clone(y), 1)
}

// TestKendallWitnessTies shows that one record moves tau-b by 146, while the mechanism accounts for 3/2.
func TestKendallWitnessTies(t *testing.T) {
	const (
		n       = 1000
		epsilon = 1.0
	)
	x, y, x2, y2 := rareBinary(n)
	score := func(x [][]float64, y []float64) []float64 {
		return newTauB(context.Background(), x).tauWith(
			kendall.Rank(y, nil),
			untiedPairs(y),
		)
	}
	checkNear(t, "score", score(x, y)[0], n/2, 1e-9)
	checkNear(
		t, "score with the record",
		score(x2, y2)[0], 353.73,
		.005,
	)

	// There are two rounds at epsilon 1, 1/2 each, so the noise of the first has scale 6.
	a := must(Kendall{K: 2}.Law(x, y, epsilon))
	b := must(Kendall{K: 2}.Law(x2, y2, epsilon))
	loss := max(
		firstPickLogP(b, 1)-firstPickLogP(a, 1),
		firstPickLogP(b, 2)-firstPickLogP(a, 2),
	)
	checkNear(t, "log ratio of the first pick", loss, 24.4, .1)
	if got := Loss(a, b); got < loss || loss <= epsilon {
		t.Errorf(
			"loss %v of both picks, %v of the first; the claim is %v",
			got, loss, epsilon,
		)
	}

	got := Loss(
		soundKendall(x, y, 2, epsilon),
		soundKendall(x2, y2, 2, epsilon),
	)
	if got > epsilon {
		t.Errorf(
			"tau-a: loss %v above %v",
			got, epsilon,
		)
	}
}

// TestKendallWitnessConstant shows that a constant column is picked with certainty until one record varies it.
func TestKendallWitnessConstant(t *testing.T) {
	const (
		n       = 40
		epsilon = 1.0
	)
	x := append([][]float64{make([]float64, n)}, rearrangedColumns(n, 7, 11)...)
	y := rearrangedColumns(n, 7)[0]
	x2 := withRecord(x, 1, 3, 5)
	y2 := append(slices.Clone(y), 3)
	a := must(Kendall{K: 1}.Law(x, y, epsilon))
	b := must(Kendall{K: 1}.Law(x2, y2, epsilon))
	if len(a) != 1 || a.LogP(0) != 0 {
		t.Errorf(
			"law with a constant column %v, want column 0 with probability 1",
			a,
		)
	}
	if b.LogP(0) > math.Log(.1) ||
		!math.IsInf(Loss(a, b), 1) {
		t.Errorf(
			"probability %v once it varies, loss %v",
			math.Exp(b.LogP(0)),
			Loss(a, b),
		)
	}
	// In the next rounds every score is NaN, and the last column is always picked.
	if a := must(Kendall{K: 2}.Law(x, y, epsilon)); len(a) != 1 || a.LogP(0, 2) != 0 {
		t.Errorf("two rounds: %v", a)
	}
	x[2] = make([]float64, n)
	if a := must(Kendall{K: 2}.Law(x, y, epsilon)); len(a) != 1 || a.LogP(2, 2) != 0 {
		t.Errorf("two rounds, last column constant: %v", a)
	}
	v, target := newView(t, x, y)
	got, err := (Kendall{K: 2}).Fit(
		context.Background(),
		fixedSource(1),
		v,
		target,
		epsilon,
		0,
	)
	if err != nil || !slices.Equal(got.Columns, []int{2}) {
		t.Errorf("fit: %v, %v", got, err)
	}
	x[2] = rearrangedColumns(n, 11)[0]
	for _, k := range []int{1, 2} {
		got := Loss(
			soundKendall(x, y, k, epsilon),
			soundKendall(x2, y2, k, epsilon),
		)
		if got > epsilon {
			t.Errorf(
				"tau-a, %d rounds: loss %v above %v",
				k, got, epsilon,
			)
		}
	}
}

// TestKendallScores compares tau-b with its definition on columns with ties.
func TestKendallScores(t *testing.T) {
	x := [][]float64{
		{1, 1, 2, 3, 3, 0},
		{0, 1, 0, 1, 0, 1},
		{-1, 5, 2, 2, 2, 7},
	}
	y := []float64{1, 2, 2, 3, 1, 0}
	got := newTauB(context.Background(), x).tauWith(
		kendall.Rank(y, nil), untiedPairs(y),
	)
	for j := range x {
		s := 0.0
		inX := 0.0
		inY := 0.0
		for i := range y {
			for h := range i {
				a := sign(x[j][i] - x[j][h])
				b := sign(y[i] - y[h])
				s += a * b
				inX += a * a
				inY += b * b
			}
		}
		checkNear(
			t, "n/2 |tau-b|",
			got[j],
			3*math.Abs(s)/math.Sqrt(inX*inY),
			1e-12,
		)
	}
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func TestKendallDrawsItsLaw(t *testing.T) {
	x := rearrangedColumns(19, 7, 11, 5, 2)
	y := rearrangedColumns(19, 12)[0]
	x[1][3] = x[1][4]
	v, target := newView(t, x, y)
	m := Kendall{K: 2}
	p, _, err := m.newRounds(context.Background(), x, y, 3)
	if err != nil {
		t.Fatal(err)
	}
	checkFrequencies(t, "kendall", must(m.Law(x, y, 3)), 20000, func(src Source) []int {
		return p.drawRounds(dice{src})
	})
	got, err := m.Fit(
		context.Background(), fixedSource(2), v,
		target, 3, 0,
	)
	want := p.drawRounds(dice{fixedSource(2)})
	slices.Sort(want)
	if err != nil || !slices.Equal(got.Columns, want) {
		t.Errorf(
			"fit %v %v, the rounds give %v",
			got.Columns, err, want,
		)
	}
}
