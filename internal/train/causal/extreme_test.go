package causal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/causal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestExtremeNumbersAreNamed checks that a critical warning names a column, and only that column, if its numbers are
// beyond the sizes that the range search distinguishes. A declared range needs no warning. 20,000 records at epsilon
// 4 are more than 100 noise scales of a bin, so a bin of the wrong size passes with probability below 1e-4.
func TestExtremeNumbersAreNamed(t *testing.T) {
	for _, tt := range []struct {
		name     string
		scale    float64 // of x
		declared bool
		word     string // of the warning; "" for none
	}{
		{"plain", 1, false, ""},
		{"large", 1e15, false, ""},
		{"huge", 1e25, false, "at least 9.2e+18"},
		{"tiny", 1e-30, false, "below 1.1e-19"},
		{"huge, declared", 1e25, true, ""},
	} {
		schema := schemaOf(false, "x", "y")
		if tt.declared {
			schema.Columns[0].Ranged = true
			schema.Columns[0].Lower = -2 * tt.scale
			schema.Columns[0].Upper = 2 * tt.scale
		}
		plain := causalTable(t, schemaOf(false, "x", "y"), 20000)
		x := slices.Clone(plain.Float(0))
		for i := range x {
			x[i] *= tt.scale
		}
		tab, err := dataset.NewTable(
			schema,
			[]dataset.ColumnData{{Floats: x}, {Floats: plain.Float(1)}},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := causal.Study{Schema: schema, Budget: budget.Target{Epsilon: 4}}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		result, err := plan.Run(t.Context(), tab)
		if err != nil {
			t.Fatal(err)
		}
		var found []pipeline.Warning
		for _, w := range result.Warnings {
			if w.Code == "extreme-numbers" {
				found = append(found, w)
			}
		}
		switch {
		case tt.word == "" && len(found) > 0:
			t.Errorf("%s: %+v", tt.name, found)
		case tt.word == "":
		case len(found) != 1:
			t.Errorf(
				"%s: %d warnings",
				tt.name, len(found),
			)
		case found[0].Severity != pipeline.Critical ||
			!strings.Contains(found[0].Text, `of "x" `) ||
			!strings.Contains(found[0].Text, tt.word):
			t.Errorf(
				"%s: %+v",
				tt.name, found[0],
			)
		}
	}
}
