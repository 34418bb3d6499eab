package adassp

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/scaling"
)

// partlyTable is linearTable with the named columns private.
func partlyTable(t testing.TB, n int, noise float64, private ...string) (*dataset.Table, []dataset.Column, []scaling.Range) {
	t.Helper()
	tab, columns, ranges := linearTable(t, n, noise)
	columns = append([]dataset.Column(nil), columns...)
	for j := range columns {
		for _, name := range private {
			columns[j].Private = columns[j].Private || columns[j].Name == name
		}
	}
	return tab, columns, ranges
}

// TestPartlyRecoversCoefficients: whichever columns are private, first or last,
// numeric or a category, the coefficients come out in the right places.
func TestPartlyRecoversCoefficients(t *testing.T) {
	for _, private := range [][]string{{"a"}, {"b", "c"}, {"c"}, {"a", "b", "c"}, nil} {
		tab, columns, ranges := partlyTable(t, 60000, .1, private...)
		f := fit(t, 20, budget.SubstitutePrivateColumns, tab, columns, ranges)
		m := f.Linear
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{2, -1} {
			if term := m.Terms[i]; math.Abs(term.Coefficient-want) > .12 || (term.StdError == 0) != (len(private) == 0) {
				t.Errorf("%v private: coefficient of %s: %v +- %v, want %v", private, m.Columns[term.Column].Name, term.Coefficient, term.StdError, want)
			}
		}
		if d := m.Terms[2].Coefficient - m.Terms[3].Coefficient; math.Abs(d-.5) > .1 {
			t.Errorf("%v private: category effect %v, want .5", private, d)
		}
		sum := 0.0
		for _, y := range tab.Float(3) {
			sum += y
		}
		if mean := sum / 60000; math.Abs(f.TargetMean-mean) > 1e-3 { // exact but for the grid
			t.Errorf("%v private: target mean %v, want %v", private, f.TargetMean, mean)
		}
	}
}

// TestPartlyStdErrors: over 300 fits the spread of a coefficient is its
// standard error within a fifth; a spread of 300 normal draws is further off
// with probability below 1e-6. Public coefficients carry noise too, through the
// private ones.
func TestPartlyStdErrors(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 20000, .1, "b", "c")
	const fits = 300
	sums, squares, claimed := make([]float64, 4), make([]float64, 4), make([]float64, 4)
	for range fits {
		m := fit(t, 3, budget.SubstitutePrivateColumns, tab, columns, ranges).Linear
		for i, term := range m.Terms {
			sums[i] += term.Coefficient / fits
			squares[i] += term.Coefficient * term.Coefficient / fits
			claimed[i] += term.StdError / fits
		}
	}
	for i := range sums {
		if spread := math.Sqrt(squares[i] - sums[i]*sums[i]); math.Abs(spread/claimed[i]-1) > .2 {
			t.Errorf("term %d: spread %v, claimed %v", i, spread, claimed[i])
		}
	}
}

// TestPartlyIsMoreExact: what is public makes the rest more exact than under
// plain substitution, for every coefficient.
func TestPartlyIsMoreExact(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 20000, .1, "b")
	part := fit(t, 1, budget.SubstitutePrivateColumns, tab, columns, ranges).Linear
	all := fit(t, 1, budget.Substitute, tab, columns, ranges).Linear
	for i := range part.Terms {
		if part.Terms[i].StdError >= all.Terms[i].StdError {
			t.Errorf("term %d: %v, under substitution %v", i, part.Terms[i].StdError, all.Terms[i].StdError)
		}
	}
}

// TestPartlyPrivateTarget: a private target makes no block of it public; the
// trainer falls back to the release of the whole matrix.
func TestPartlyPrivateTarget(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 20000, .1, "b", "y")
	if m := fit(t, 5, budget.SubstitutePrivateColumns, tab, columns, ranges).Linear; m.Terms[0].StdError == 0 || math.Abs(m.Terms[0].Coefficient-2) > .5 {
		t.Errorf("%+v", m.Terms[0])
	}
	if (JointGram{Columns: columns}).partly(budget.SubstitutePrivateColumns) {
		t.Error("blocks of a private target count as public")
	}
}

// TestPartlyIsTotal: odd tables give a valid model.
func TestPartlyIsTotal(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, x := range map[string][]float64{"none": {}, "one": {2}, "missing": {nan, nan}, "infinite": {inf, -inf}, "constant": {1, 1, 1}} {
		_, columns, ranges := partlyTable(t, 0, 0, "b")
		tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, []dataset.ColumnData{{Floats: x}, {Floats: x}, {Codes: make([]int32, len(x))}, {Floats: x}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			m := fit(t, .1, budget.SubstitutePrivateColumns, tab, columns, ranges).Linear
			if err := m.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestPartlyCancels.
func TestPartlyCancels(t *testing.T) {
	tab, columns, ranges := partlyTable(t, 100, 0, "b")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (JointGram{Columns: columns}).runPartly(ctx, nil, tab.All(), ranges); err == nil {
		t.Error("a cancelled run returned a model")
	}
}
