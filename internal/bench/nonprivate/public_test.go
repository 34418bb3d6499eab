package nonprivate_test

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/regression"
)

// TestOLSOnPublicTables compares the in-sample R2 with that of scikit-learn's LinearRegression on tables with
// complete sets of indicators (diamonds, soil) and with columns of very different scales (elevators, whose columns
// were first divided by their standard deviations).
func TestOLSOnPublicTables(t *testing.T) {
	for file, want := range map[string]float64{
		"361096_diamonds.csv.gz":                0.970068672849,
		"361074_elevators.csv.gz":               0.813472946238,
		"361094_visualizing_soil_onehot.csv.gz": 0.833591313321,
	} {
		d := readPublic(t, "regression", file)
		m, err := nonprivate.OLS(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		rows := regression.Rows{
			N:       len(d.Y),
			Numeric: map[string][]float64{},
		}
		for j, name := range d.Names {
			rows.Numeric[name] = d.X[j]
		}
		pred, err := m.Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		got := regression.R2(pred, d.Y)
		if math.Abs(got-want) > 1e-9 {
			t.Errorf(
				"%s: R2 %.12f, want %.12f",
				file, got, want,
			)
		}
	}
}

// readPublic reads a public set of numeric columns, the target last.
func readPublic(t *testing.T, kind, file string) regression.Design {
	t.Helper()
	lines := testkit.PublicLines(t, kind, file)
	last := len(lines[0]) - 1
	d := regression.Design{
		Names:  lines[0][:last],
		X:      make([][]float64, last),
		Target: lines[0][last],
	}
	for _, line := range lines[1:] {
		for j, cell := range line {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal("a cell of public data is not a number")
			}
			if j == last {
				d.Y = append(d.Y, v)
			} else {
				d.X[j] = append(d.X[j], v)
			}
		}
	}
	return d
}
