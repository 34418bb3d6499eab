package regression

import (
	"bytes"
	"math"
	"os"
	"testing"
)

// TestPairInteractionHasNoMainEffect checks that the interaction of a pair contains no main effect of either column,
// and is zero for columns that the terms do not use.
func TestPairInteractionHasNoMainEffect(t *testing.T) {
	file, err := os.ReadFile("testdata/model-2-kernel.json")
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := DecodeModel(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	m := decoded.(*Kernel)
	names := map[string]bool{}
	for _, in := range m.Cells {
		names[m.Columns[in.Column].Name] = true
	}
	moved := 0
	for first := range names {
		for second := range names {
			table := m.Together(first, second, nil)
			if first == second {
				continue
			}
			if len(table.Rows) == 0 || len(table.Columns) == 0 {
				t.Fatalf("%s × %s has no levels", first, second)
			}
			largest := 0.
			for _, row := range table.Values {
				sum := 0.
				for _, v := range row {
					sum += v
					largest = max(largest, math.Abs(v))
				}
				if math.Abs(sum) > 1e-9*max(1, largest*float64(len(row))) {
					t.Errorf(
						"%s × %s: a row adds up to %v",
						first, second, sum,
					)
				}
			}
			other := m.Together(second, first, nil)
			if math.Abs(other.Values[0][len(table.Rows)-1]-
				table.Values[len(table.Rows)-1][0]) > 1e-9*max(1, largest) {
				t.Errorf(
					"%s × %s is not the same turned over",
					first, second,
				)
			}
			if largest > 0 {
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("no pair adds anything")
	}
	table := m.Together("no such column", m.Columns[0].Name, nil)
	if table.Rows != nil {
		t.Errorf("%+v", table)
	}
}
