package linear

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// TestScoreIsTrainings checks that the SVM's score of a row, which its model computes in original units, is the
// weights times the scaled and shortened row, for long and short rows.
func TestScoreIsTrainings(t *testing.T) {
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -2,
			Upper:  2,
		},
		{
			Name:   "b",
			Ranged: true,
			Lower:  100,
			Upper:  300,
		},
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
			Other:      true,
		},
		{
			Name:       "class",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
	}
	ranges := []scaling.Range{
		{Lower: -2, Upper: 2, Declared: true},
		{Lower: 100, Upper: 300, Declared: true},
		{},
		{},
	}
	f, err := NewClassFrame(columns, ranges)
	if err != nil {
		t.Fatal(err)
	}
	limit := f.Encoder.NormLimit(0)
	theta := []float64{.5, -1.25, 2, .25, -.5, 3} // a, b, x, y, other, constant
	m := f.clippedScores(theta, .01, limit)[0]
	rows := regression.Rows{
		N: 3,
		Numeric: map[string][]float64{
			"a": {2, 0, -9},
			"b": {300, 210, math.NaN()},
		},
		Labels: map[string][]string{"c": {"x", "y", "?"}},
	}
	got, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	long := math.Sqrt(limit / 3) // (1, 1, 1) has norm sqrt(3) > B
	end := math.Sqrt(limit / 2)
	for i, want := range []float64{
		1.5*math.Sqrt(limit) + long*(.5-1.25+2),
		1.5*math.Sqrt(limit) - .125 + .25,
		1.5*math.Sqrt(limit) + end*(-.5-.5),
	} {
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf(
				"row %d: %v, want %v",
				i, got[i], want,
			)
		}
	}
	l := m.(*regression.ClippedLinear)
	se := l.Terms[0].StdError
	if math.Abs(se-.005) > 1e-12 {
		t.Errorf(
			"standard error %v of a, want .01 in half widths of 2",
			se,
		)
	}
	want := .01 * math.Sqrt(limit/4+4)
	if math.Abs(l.InterceptStdError-want) > 1e-12 {
		t.Errorf(
			"standard error %v of the intercept, want %v",
			l.InterceptStdError, want,
		)
	}
}

// TestDefaultLambda checks the rule, and that only its arguments determine the result.
func TestDefaultLambda(t *testing.T) {
	for _, c := range []struct {
		n     int
		noise float64
		want  float64
	}{
		{0, 1, 1},
		{-5, 1, 1},
		{1000, 4, .5 * 10 * math.Cbrt(16)},
		{8000, 1, 10},
		{math.MaxInt32, 1e300, MostLambda},
		{1000, math.Inf(1), MostLambda},
	} {
		got := DefaultLambda(c.n, c.noise)
		if math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf(
				"%d records, noise %v: %v, want %v",
				c.n, c.noise, got, c.want,
			)
		}
	}
	got := (PerturbedMinimizer{Lambda: 7}).ridgePenalty(500, 1)
	if got != 7 {
		t.Errorf("lambda %v, want 7", got)
	}
}
