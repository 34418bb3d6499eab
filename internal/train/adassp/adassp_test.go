package adassp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// linearTable returns n records of y = 3 + 2a - b + .5 [c is x] + noise on declared ranges.
func linearTable(
	t testing.TB, n int, noise float64,
) (*dataset.Table, []dataset.Column, []scaling.Range) {
	t.Helper()
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
			Lower:  0,
			Upper:  2,
		},
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  -6,
			Upper:  12,
		},
	}
	return testrows.Linear(t, columns, n, noise), columns, testrows.Ranges(columns)
}

// sessionFor prices a trainer alone at delta 1e-6 and opens a session for it.
func sessionFor(
	t testing.TB,
	trainer method.Trainer,
	columns []dataset.Column,
	epsilon float64,
	rel budget.Relation,
) *mechanism.Session {
	t.Helper()
	node, err := trainer.Plan(method.Facts{Columns: columns, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	return testrows.Session(t, node, epsilon, rel)
}

// dataOf returns the records of a view. Only their ranges are public.
func dataOf(columns []dataset.Column, v dataset.View, ranges []scaling.Range) method.Data {
	return method.Data{
		Facts:   method.Facts{Columns: columns},
		Records: memory.NewRecords(v),
		Ranges:  ranges,
	}
}

func fitJointGram(
	t testing.TB,
	epsilon float64,
	rel budget.Relation,
	tab *dataset.Table,
	columns []dataset.Column,
	ranges []scaling.Range,
) *method.Fit {
	t.Helper()
	trainer := JointGram{}
	out, err := trainer.Fit(
		context.Background(),
		sessionFor(t, trainer, columns, epsilon, rel),
		dataOf(columns, tab.View(), ranges),
	)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecoversCoefficients checks that with wide declared ranges and a large budget the fit recovers the
// least-squares coefficients in original units, within their standard errors.
func TestRecoversCoefficients(t *testing.T) {
	tab, columns, ranges := linearTable(t, 60000, .1)
	m := fitJointGram(t, 20, budget.AddRemove, tab, columns, ranges).Linear()
	// There are an intercept and indicators of both levels of c, so only differences of c's coefficients are
	// identified.
	for i, want := range []float64{2, -1} {
		term := m.Terms[i]
		if math.Abs(term.Coefficient-want) > .05 ||
			!(term.StdError > 0 && term.StdError < .05) {
			t.Errorf(
				"coefficient of %s: %v +- %v, want %v",
				m.Columns[term.Column].Name,
				term.Coefficient,
				term.StdError,
				want,
			)
		}
	}
	d := m.Terms[2].Coefficient - m.Terms[3].Coefficient
	if math.Abs(d-.5) > .05 {
		t.Errorf("category effect %v, want .5", d)
	}
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
	if m.Lower != -6 ||
		m.Upper != 12 ||
		m.Columns[0].Missing != 0 ||
		m.Columns[1].Missing != 1 {
		t.Errorf(
			"clamps %v %v, substitutes %v %v",
			m.Lower,
			m.Upper,
			m.Columns[0].Missing,
			m.Columns[1].Missing,
		)
	}
}

// TestTargetMean checks that the target mean is accurate when the noise is small.
func TestTargetMean(t *testing.T) {
	tab, columns, ranges := linearTable(t, 20000, .1)
	sum := 0.0
	for _, y := range tab.Float(3) {
		sum += y
	}
	got := fitJointGram(t, 20, budget.AddRemove, tab, columns, ranges).TargetMean
	want := sum / 20000
	if math.Abs(got-want) > .1 {
		t.Errorf(
			"target mean %v, want about %v",
			got, want,
		)
	}
}

func TestNoiseMatchesStandardErrors(t *testing.T) {
	tab, columns, ranges := linearTable(t, 20000, .5)
	checkStandardErrors(t, func() *regression.Linear {
		return fitJointGram(t, 2, budget.AddRemove, tab, columns, ranges).Linear()
	})
}

// checkStandardErrors checks over repeated fits of one table that the spread of a coefficient matches its standard
// error. With 200 fits the ratio of variances is in [.55, 1.7] with probability above 1-1e-6 (chi-square with 199
// degrees of freedom), not counting the first-order error of the standard error.
func checkStandardErrors(t *testing.T, fit func() *regression.Linear) {
	t.Helper()
	const fits = 200
	var sum, squares, claimed [3]float64
	for range fits {
		m := fit()
		for i, v := range []struct{ value, se float64 }{
			{m.Terms[0].Coefficient, m.Terms[0].StdError},
			{m.Terms[1].Coefficient, m.Terms[1].StdError},
			{m.Intercept, m.InterceptStdError},
		} {
			sum[i] += v.value
			squares[i] += v.value * v.value
			claimed[i] += v.se * v.se / fits
		}
	}
	for i := range sum {
		variance := (squares[i] - sum[i]*sum[i]/fits) / (fits - 1)
		ratio := variance / claimed[i]
		if ratio < .5 || ratio > 1.8 {
			t.Errorf(
				"number %d: observed variance is %.2f times the claimed one",
				i, ratio,
			)
		}
	}
}

// TestSubstitutionNoise checks that the Gram noise grows by sqrt2 under substitution.
func TestSubstitutionNoise(t *testing.T) {
	scale := func(rel budget.Relation) float64 {
		tab, columns, ranges := linearTable(t, 10, 0)
		trainer := JointGram{}
		s := sessionFor(t, trainer, columns, 1, rel)
		_, err := trainer.Fit(
			context.Background(),
			s,
			dataOf(columns, tab.View(), ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		return s.Scale("gram")
	}
	ratio := scale(budget.Substitute) /
		scale(budget.AddRemove)
	if math.Abs(ratio-math.Sqrt2) > 1e-6 {
		t.Errorf("ratio %v", ratio)
	}
}

// TestDegenerateTables covers tables without rows, with one row, and with more columns than rows.
func TestDegenerateTables(t *testing.T) {
	for _, n := range []int{0, 1, 2} {
		tab, columns, ranges := linearTable(t, n, 0)
		f := fitJointGram(t, 1, budget.AddRemove, tab, columns, ranges)
		if err := f.Linear().Validate(); err != nil {
			t.Errorf("%d rows: %v", n, err)
		}
		if !(f.TargetMean >= f.Linear().Lower && f.TargetMean <= f.Linear().Upper) {
			t.Errorf(
				"%d rows: target mean %v outside the range",
				n, f.TargetMean,
			)
		}
	}
}

func TestTooWide(t *testing.T) {
	_, err := (JointGram{}).Plan(
		method.Facts{Columns: make([]dataset.Column, linear.MaxSlots)})
	if !errors.Is(err, linear.ErrTooWide) {
		t.Errorf("got %v", err)
	}
}

// TestPredictionsUseTrainingClamps checks that the model predicts within the range of the target for any input.
func TestPredictionsUseTrainingClamps(t *testing.T) {
	tab, columns, ranges := linearTable(t, 3000, .1)
	m := fitJointGram(t, 5, budget.AddRemove, tab, columns, ranges).Linear()
	out, err := m.Predict(nil, regression.Rows{
		N: 3,
		Numeric: map[string][]float64{
			"a": {1e300, math.NaN(), math.Inf(-1)},
			"b": {-1e300, 1, math.NaN()},
		},
		Labels: map[string][]string{"c": {"x", "unseen", ""}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range out {
		if !(v >= m.Lower && v <= m.Upper) {
			t.Errorf(
				"prediction %v outside [%v, %v]",
				v, m.Lower, m.Upper,
			)
		}
	}
}
