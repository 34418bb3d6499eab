package nonprivate_test

import (
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
)

// separatedTable returns a table whose class is "high" if a is above 0. If odd is true, the table has twice as many rows;
// the additional ones are in no class, far on the side of "low".
func separatedTable(t *testing.T, n int, odd bool) *dataset.Table {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{
			Name:       "side",
			Kind:       dataset.Category,
			Categories: []string{"low", "high"},
		},
		{Name: "a"},
		{
			Name:       "kind",
			Kind:       dataset.Category,
			Categories: []string{"u", "v"},
			Other:      true,
		},
	}}
	var codes, kinds []int32
	var a []float64
	for i := range n {
		x := float64(2*i+1)/float64(n) - 1
		code := int32(0)
		if x > 0 {
			code = 1
		}
		codes = append(codes, code)
		a = append(a, x)
		kinds = append(kinds, int32(i%3))
		if odd {
			codes = append(codes, 2)
			a = append(a, -5-x)
			kinds = append(kinds, 2)
		}
	}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Codes: codes}, {Floats: a}, {Codes: kinds}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestOpenClassifiers checks that a classification baseline finds the boundary between the classes. Rows in no class,
// which least squares treats as 0, must not move it.
func TestOpenClassifiers(t *testing.T) {
	test := separatedTable(t, 400, false)
	for _, name := range []string{nonprivate.NonprivateLogistic, nonprivate.NonprivateSVM,
		nonprivate.NonprivateOLS} {
		for _, odd := range []bool{false, true} {
			train := separatedTable(t, 300, odd)
			fit, err := nonprivate.ForTable(name, true)
			if err != nil {
				t.Fatal(err)
			}
			model, err := fit(
				t.Context(), train.View(), 0,
				[]int{1, 2},
			)
			if err != nil {
				t.Fatal(err)
			}
			prediction, err := model.Predict(test.View())
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			for i, class := range test.Codes(0) {
				if int32(prediction[i]) == class {
					right++
				}
			}
			moved := odd && name == nonprivate.NonprivateOLS
			if (right > 392) == moved {
				t.Errorf(
					"%s, rows in no class %v: %d of 400 are right",
					name, odd, right,
				)
			}
		}
	}
}

// TestForTableNumbers checks that a numeric target is fitted on numbers and 0/1 columns, and that the value of a
// category is recovered.
func TestForTableNumbers(t *testing.T) {
	table := separatedTable(t, 300, false)
	fit, err := nonprivate.ForTable(nonprivate.NonprivateOLS, false)
	if err != nil {
		t.Fatal(err)
	}
	model, err := fit(
		t.Context(), table.View(), 1,
		[]int{0, 2},
	)
	if err != nil {
		t.Fatal(err)
	}
	prediction, err := model.Predict(table.View())
	if err != nil {
		t.Fatal(err)
	}
	for i, side := range table.Codes(0) { // a is on average -1/2 on the low side and 1/2 on the high one
		want := float64(side) - .5
		if math.Abs(prediction[i]-want) > .01 {
			t.Fatalf(
				"row %d: %v, want about %v",
				i, prediction[i], want,
			)
		}
	}
	var unknown *nonprivate.UnknownBaselineError
	_, err = nonprivate.ForTable(nonprivate.NonprivateSVM, false)
	if !errors.As(err, &unknown) {
		t.Errorf("a baseline of classes for numbers: %v", err)
	}
}
