package pipeline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// scaledTable returns a table with two features and a target y = 3 + x; x and y are multiplied by xScale and yScale.
func scaledTable(t *testing.T, rows int, xScale, yScale float64) *dataset.Table {
	t.Helper()
	random := sequence(11)
	columns := make([]dataset.ColumnData, 3)
	for range rows {
		x := random.next()
		z := random.next()
		for j, value := range []float64{x * xScale, z, (3 + x) * yScale} {
			columns[j].Floats = append(columns[j].Floats, value)
		}
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{Name: "x"}, {Name: "z"}, {Name: "y"}}}, columns,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestExtremeNumbersAreNamed checks that a warning, critical for the target, names exactly the columns whose numbers
// are beyond the magnitudes that the search for ranges distinguishes. 20,000 records at epsilon 3 are at least 20
// standard deviations of a bin's noise; that an empty bin passes anywhere has odds of .01 (docs/proofs/scaling.md),
// and that it is an outermost one of another column odds below 1e-4.
func TestExtremeNumbersAreNamed(t *testing.T) {
	for _, tt := range []struct {
		name           string
		xScale, yScale float64
		column         string // the column named by the warning, or ""
		word           string // of the text
	}{
		{"plain", 1, 1, "", ""},
		{"large", 1e15, 1e12, "", ""},
		{"small", 1e-12, 1e-15, "", ""},
		{"huge target", 1, 3e25, "y", "at least 9.2e+18"},
		{"negative huge target", 1, -3e25, "y", "at least 9.2e+18"},
		{"largest target", 1, math.MaxFloat64 / 8, "y", "at least 9.2e+18"},
		{"tiny target", 1, 1e-30, "y", "below 1.1e-19"},
		{"huge feature", 1e25, 1, "x", "at least 9.2e+18"},
		{"tiny feature", 1e-30, 1, "x", "below 1.1e-19"},
		{"subnormal feature", 1e-300, 1, "x", "below 1.1e-19"},
	} {
		for _, method := range []string{"joint-gram", "boosted-additive"} {
			tab := scaledTable(t, 20000, tt.xScale, tt.yScale)
			p := &Pipeline{
				Schema:  tab.Schema(),
				Target:  "y",
				Holdout: DefaultHoldout,
				Budget:  budget.Target{Epsilon: 3, Delta: 1e-6},
				Model:   named(method),
			}
			res, err := p.Fit(t.Context(), tab, Options{})
			if err != nil {
				t.Fatalf("%s, %s: %v", tt.name, method, err)
			}
			at := slices.IndexFunc(res.Warnings, func(w Warning) bool {
				return w.Code == "extreme-numbers"
			})
			if tt.column == "" {
				if at >= 0 {
					t.Errorf("%s, %s: %+v", tt.name, method, res.Warnings[at])
				}
				continue
			}
			if at < 0 {
				t.Errorf("%s, %s: no warning among %+v", tt.name, method, res.Warnings)
				continue
			}
			severity := Theoretical
			if tt.column == "y" {
				severity = Critical
				if at != 0 {
					t.Errorf("%s, %s: the cause is not the first warning", tt.name, method)
				}
			}
			if w := res.Warnings[at]; w.Severity != severity ||
				!strings.Contains(w.Text, `of "`+tt.column+`" `) ||
				!strings.Contains(w.Text, tt.word) {
				t.Errorf("%s, %s: %+v", tt.name, method, w)
			}
		}
	}
}
