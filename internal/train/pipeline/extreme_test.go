package pipeline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/selection"
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
		dataset.Schema{Columns: []dataset.Column{
			{Name: "x"},
			{Name: "z"},
			{Name: "y"},
		}},
		columns,
		nil,
	)
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
		{
			"negative huge target", 1, -3e25, "y",
			"at least 9.2e+18",
		},
		{
			"largest target", 1,
			math.MaxFloat64 / 8, "y",
			"at least 9.2e+18",
		},
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
				Model:   defaultTrainer(method),
			}
			res, err := p.Fit(t.Context(), tab, Options{})
			if err != nil {
				t.Fatalf(
					"%s, %s: %v",
					tt.name, method, err,
				)
			}
			at := slices.IndexFunc(res.Warnings, func(w Warning) bool {
				return w.Code == "extreme-numbers"
			})
			if tt.column == "" {
				if at >= 0 {
					t.Errorf(
						"%s, %s: %+v",
						tt.name, method, res.Warnings[at],
					)
				}
				continue
			}
			if at < 0 {
				t.Errorf(
					"%s, %s: no warning among %+v",
					tt.name, method, res.Warnings,
				)
				continue
			}
			severity := Theoretical
			if tt.column == "y" {
				severity = Critical
				if at != 0 {
					t.Errorf(
						"%s, %s: the cause is not the first warning",
						tt.name, method,
					)
				}
			}
			w := res.Warnings[at]
			if w.Severity != severity ||
				!strings.Contains(w.Text, `of "`+tt.column+`" `) ||
				!strings.Contains(w.Text, tt.word) {
				t.Errorf(
					"%s, %s: %+v",
					tt.name, method, w,
				)
			}
		}
	}
}

// TestAlikeNumbersAreNamed checks that a run names columns whose numbers the search for ranges cannot tell apart, the target
// included, and not other columns with few values or far from 0.
func TestAlikeNumbersAreNamed(t *testing.T) {
	const rows = 20000
	columns := []struct {
		name string
		cell func(i int) float64
	}{
		{"same", func(int) float64 {
			return 5
		}},
		{"far", func(i int) float64 {
			return 1e9 + float64(i%7)
		}},
		{"below", func(i int) float64 {
			return -1e9 - float64(i%7)
		}},
		{"zero", func(int) float64 {
			return 0
		}},
		{"flag", func(i int) float64 {
			return float64(i % 2)
		}},
		{"pair", func(i int) float64 {
			return 4 + float64(i%2)
		}},
		{"year", func(i int) float64 {
			return 1990 + float64(i%31)
		}},
		{"heat", func(i int) float64 {
			return 309 + float64(i%40)/10
		}},
		{
			"rare",
			func(i int) float64 {
				return float64(max(0, i%50-48))
			},
		},
	}
	for target, add := range map[string]float64{"near": 0, "distant": 1e9} {
		schema := dataset.Schema{}
		var data []dataset.ColumnData
		put := func(name string, cell func(i int) float64) {
			cells := make([]float64, rows)
			for i := range cells {
				cells[i] = cell(i)
			}
			schema.Columns = append(schema.Columns, dataset.Column{Name: name})
			data = append(data, dataset.ColumnData{Floats: cells})
		}
		for _, c := range columns {
			put(c.name, c.cell)
		}
		put(target, func(i int) float64 {
			return add + float64(i%31)/31 + float64(i%7)/7
		})
		tab, err := dataset.NewTable(schema, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &Pipeline{
			Schema:   schema,
			Target:   target,
			Budget:   budget.Target{Epsilon: 8, Delta: 1e-6},
			Model:    defaultTrainer("joint-gram"),
			Selector: selection.None{},
		}
		res, err := p.Fit(t.Context(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"same", "far", "below"}
		if target == "distant" {
			want = append(want, target)
		}
		if !slices.Equal(res.Alike, want) {
			t.Errorf(
				"%s: %q, want %q",
				target, res.Alike, want,
			)
		}
		at := slices.IndexFunc(res.Warnings, func(w Warning) bool {
			return w.Code == "extreme-numbers" && strings.HasPrefix(w.Text, AlikeNumbers)
		})
		if at < 0 || (target == "distant") != (at == 0) {
			t.Errorf(
				"%s: the warning is number %d of %+v",
				target, at, res.Warnings,
			)
		}
	}
}

// TestTwoValuedTargetIsNamed checks that a run without a task whose target has two values, as the labels of classes have, warns,
// and that one with many values does not.
func TestTwoValuedTargetIsNamed(t *testing.T) {
	const rows = 4000
	for _, c := range []struct {
		name string
		cell func(i int) float64
		want []float64
	}{
		{"zero and one", func(i int) float64 {
			return float64(i % 2)
		}, []float64{0, 1}},
		{"a rare class", func(i int) float64 {
			return float64(1 + max(0, i%10-8))
		}, []float64{1, 2}},
		{"counts", func(i int) float64 {
			return float64(i % 5)
		}, nil},
		{"measurements", func(i int) float64 {
			return float64(i%997) / 7
		}, nil},
	} {
		data := []dataset.ColumnData{{Floats: make([]float64, rows)}, {Floats: make([]float64, rows)}}
		for i := range rows {
			data[0].Floats[i] = float64(i % 31)
			data[1].Floats[i] = c.cell(i)
		}
		schema := dataset.Schema{Columns: []dataset.Column{{Name: "x"}, {Name: "y"}}}
		tab, err := dataset.NewTable(schema, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &Pipeline{
			Schema: schema,
			Target: "y",
			Budget: budget.Target{Epsilon: 2, Delta: 1e-6},
			Model:  defaultTrainer("joint-gram"),
		}
		res, err := p.Fit(t.Context(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(res.TwoValues, c.want) {
			t.Errorf("%s: two values %v, want %v", c.name, res.TwoValues, c.want)
		}
		named := slices.ContainsFunc(res.Warnings, func(w Warning) bool {
			return w.Code == "two-values"
		})
		if named != (c.want != nil) {
			t.Errorf("%s: warnings %+v", c.name, res.Warnings)
		}
	}
}
