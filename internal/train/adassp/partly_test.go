package adassp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// partlyTable is like linearTable with the named columns private, on ranges so wide that no private part of a row is
// shortened.
func partlyTable(
	t testing.TB, n int, noise float64, private ...string,
) (*dataset.Table, []dataset.Column, []scaling.Range) {
	t.Helper()
	tab, columns, ranges := linearTable(t, n, noise)
	columns = append([]dataset.Column(nil), columns...)
	ranges = append([]scaling.Range(nil), ranges...)
	columns[0].Lower = -4
	columns[0].Upper = 4
	columns[1].Lower = -3
	columns[1].Upper = 5
	for j := range 2 {
		ranges[j].Lower = columns[j].Lower
		ranges[j].Upper = columns[j].Upper
	}
	for j := range columns {
		for _, name := range private {
			columns[j].Private = columns[j].Private || columns[j].Name == name
		}
	}
	return tab, columns, ranges
}

// TestPartlyRecoversCoefficients checks that the coefficients come out in the right places whichever columns are
// private: first or last, numeric or a category.
func TestPartlyRecoversCoefficients(t *testing.T) {
	for _, private := range [][]string{
		{"a"},
		{"b", "c"},
		{"c"},
		{"a", "b", "c"},
		nil,
	} {
		tab, columns, ranges := partlyTable(t, 60000, .1, private...)
		f := fitJointGram(t, 20, budget.SubstitutePrivateColumns, tab, columns, ranges)
		m := f.Linear()
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{2, -1} {
			term := m.Terms[i]
			if math.Abs(term.Coefficient-want) > .12 ||
				(term.StdError == 0) != (len(private) == 0) {
				t.Errorf(
					"%v private: coefficient of %s: %v +- %v, want %v",
					private,
					m.Columns[term.Column].Name,
					term.Coefficient,
					term.StdError,
					want,
				)
			}
		}
		d := m.Terms[2].Coefficient - m.Terms[3].Coefficient
		if math.Abs(d-.5) > .1 {
			t.Errorf(
				"%v private: category effect %v, want .5",
				private, d,
			)
		}
		sum := 0.0
		for _, y := range tab.Float(3) {
			sum += y
		}
		mean := sum / 60000
		if math.Abs(f.TargetMean-mean) > 1e-3 { // exact but for the grid
			t.Errorf(
				"%v private: target mean %v, want %v",
				private, f.TargetMean, mean,
			)
		}
	}
}

// TestPartlyStdErrors checks over 300 fits that the spread of a coefficient is within a fifth of its standard error.
// The spread of 300 normal draws is further off with probability below 1e-6. Public coefficients carry noise too,
// through the private ones. A private category column together with the constant is a singular block, where the floor
// of the eigenvalues removes part of the noise: its standard errors are too large by less than two fifths.
func TestPartlyStdErrors(t *testing.T) {
	for _, c := range []struct {
		private []string
		least   float64
	}{
		{[]string{"b"}, .8},
		{[]string{"b", "c"}, .6},
	} {
		tab, columns, ranges := partlyTable(t, 20000, .1, c.private...)
		const fits = 300
		sums := make([]float64, 4)
		squares := make([]float64, 4)
		claimed := make([]float64, 4)
		for range fits {
			m := fitJointGram(
				t,
				3,
				budget.SubstitutePrivateColumns,
				tab,
				columns,
				ranges,
			).Linear()
			for i, term := range m.Terms[:4] {
				sums[i] += term.Coefficient / fits
				squares[i] += term.Coefficient * term.Coefficient / fits
				claimed[i] += term.StdError / fits
			}
		}
		for i := range sums {
			ratio := math.Sqrt(squares[i]-sums[i]*sums[i]) / claimed[i]
			if !(ratio > c.least &&
				ratio < 1.2) {
				t.Errorf(
					"%v private, term %d: the spread is %.3f of %v",
					c.private,
					i,
					ratio,
					claimed[i],
				)
			}
		}
	}
}

// TestPartlyIsMoreExact checks that the coefficient of a public column is more exact than under plain substitution.
func TestPartlyIsMoreExact(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 20000, .1, "b")
	part := fitJointGram(
		t,
		1,
		budget.SubstitutePrivateColumns,
		tab,
		columns,
		ranges,
	).Linear()
	all := fitJointGram(t, 1, budget.Substitute, tab, columns, ranges).Linear()
	if part.Terms[0].StdError >= all.Terms[0].StdError/2 {
		t.Errorf(
			"%v, under substitution %v",
			part.Terms[0].StdError,
			all.Terms[0].StdError,
		)
	}
}

// TestPartlyLayout checks that the private entries have a limit of their own, that the target and the constant are
// public and come last, and that the target has the largest weight.
func TestPartlyLayout(t *testing.T) {
	l := newLayout(
		[]dataset.Column{
			{Name: "u"},
			{Name: "z", Private: true},
			{Name: "y"},
		},
		nil,
	)
	if len(l.public) != 3 ||
		len(l.private) != 1 ||
		l.private[0] != 1 ||
		l.limit != scaling.NumericNorm {
		t.Errorf("%+v", l)
	}
	if l.weights[1] <= l.weights[0] ||
		l.weights[2] != l.weights[0] {
		t.Errorf(
			"weights %v: the target's is the largest",
			l.weights,
		)
	}
}

// TestPartlyPrivateTarget checks that a private target leaves no block of the matrix public, so that the trainer
// falls back to releasing the whole matrix.
func TestPartlyPrivateTarget(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 20000, .1, "b", "y")
	m := fitJointGram(
		t,
		5,
		budget.SubstitutePrivateColumns,
		tab,
		columns,
		ranges,
	).Linear()
	if m.Terms[0].StdError == 0 ||
		math.Abs(m.Terms[0].Coefficient-2) > .5 {
		t.Errorf("%+v", m.Terms[0])
	}
	if protectsFeaturesOnly(columns, budget.SubstitutePrivateColumns) {
		t.Error("blocks of a private target count as public")
	}
}

// TestPartlyIsTotal checks that unusual tables yield a valid model.
func TestPartlyIsTotal(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for name, x := range map[string][]float64{
		"none":     {},
		"one":      {2},
		"missing":  {nan, nan},
		"infinite": {inf, -inf},
		"constant": {1, 1, 1},
	} {
		_, columns, ranges := partlyTable(t, 0, 0, "b")
		tab, err := dataset.NewTable(
			dataset.Schema{Columns: columns},
			[]dataset.ColumnData{
				{Floats: x},
				{Floats: x},
				{Codes: make([]int32, len(x))},
				{Floats: x},
			},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			m := fitJointGram(
				t,
				.1,
				budget.SubstitutePrivateColumns,
				tab,
				columns,
				ranges,
			).Linear()
			if err := m.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func partlySession(t *testing.T) *mechanism.Session {
	t.Helper()
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.GaussianLeaf("gram", 1, 1)),
		budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: budget.SubstitutePrivateColumns,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPartlyCancels checks that a cancelled run returns the error of its context and makes no release.
func TestPartlyCancels(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 100, 0, "b")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := (JointGram{}).Fit(
		ctx,
		partlySession(t),
		dataOf(columns, tab.View(), ranges),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
