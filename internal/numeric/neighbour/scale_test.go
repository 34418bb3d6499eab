package neighbour

import (
	"math"
	"testing"
)

func TestStandard(t *testing.T) {
	p := Points{
		Dim:   3,
		X:     sineTable(50, 3),
		Class: make([]int32, 50),
	}
	for i := range 50 {
		p.X[3*i] = 7 + 100*p.X[3*i]
		p.X[3*i+2] = 4 // constant
	}
	q := Standard(p).Apply(p)
	for k, want := range []float64{1, 1, 0} {
		mean := 0.
		square := 0.
		for i := range 50 {
			mean += q.Row(i)[k] / 50
			square += q.Row(i)[k] * q.Row(i)[k] / 50
		}
		checkNear(t, "mean", mean, 0)
		checkNear(t, "variance", square, want)
	}
}

// TestComponents checks that the components are uncorrelated and of decreasing variance, and that all
// together preserve distances up to a common scale.
func TestComponents(t *testing.T) {
	p := Points{
		Dim:   4,
		X:     sineTable(80, 4),
		Class: make([]int32, 80),
	}
	s, err := Components(p, 9)
	if err != nil {
		t.Fatal(err)
	}
	q := s.Apply(p)
	if q.Dim != 4 {
		t.Fatalf("%d components of 4 columns", q.Dim)
	}
	var moments [4][4]float64
	for i := range 80 {
		for a := range 4 {
			for b := range 4 {
				moments[a][b] += q.Row(i)[a] * q.Row(i)[b] / 80
			}
		}
	}
	trace := 0.
	for a := range 4 {
		trace += moments[a][a]
		for b := range a {
			checkNear(t, "covariance", moments[a][b], 0)
		}
		if a > 0 &&
			moments[a][a] > moments[a-1][a-1] {
			t.Errorf("variances %v", moments)
		}
	}
	checkNear(t, "mean variance", trace/4, 1)
	scale := squaredDistance(q.Row(0), q.Row(1)) / squaredDistance(p.Row(0), p.Row(1))
	for i := range 79 {
		checkNear(
			t,
			"distance",
			squaredDistance(q.Row(i), q.Row(i+1)),
			scale*squaredDistance(p.Row(i), p.Row(i+1)),
		)
	}
}

// TestEncode checks that numbers are clipped, missing values replaced and levels spread over entries.
func TestEncode(t *testing.T) {
	p := Encode(
		[]Column{
			{Lower: -1, Upper: 1, Missing: 5},
			{Category: true, Levels: 2},
		},
		[]Cells{
			{Numbers: []float64{
				9, .5, math.NaN(),
				math.Inf(1), -9,
			}},
			{Codes: []int32{9, 0, 1, 2, -1}},
		},
		1,
		4,
	)
	want := []float64{
		.5, 1, 0, 1, 0, 1, 1,
		0, 0, -1, 0, 0,
	}
	for k, v := range p.X {
		if v != want[k] {
			t.Fatalf("%v, want %v", p.X, want)
		}
	}
	if p.Dim != 3 || p.Len() != 4 {
		t.Errorf(
			"%d × %d",
			p.Len(), p.Dim,
		)
	}
}
