package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/regression"
)

// TestInteractions checks that the report of a model with terms of several columns has their share and pairs, in the
// file, in the text and on the page, and that the report of another model has no such section.
func TestInteractions(t *testing.T) {
	linear := regression.Linear{
		Target: "y",
		Columns: []regression.Column{
			{Name: "a", Upper: 1},
			{Name: "b", Upper: 1},
		},
		Upper: 9,
	}
	line := make([]int16, 256)
	for i := range line {
		line[i] = int16(16*i - 2048)
	}
	marks := [][]uint8{
		{0, 255}, {255, 0},
		{0, 0}, {255, 255},
		{30, 90},
	}
	m := &regression.Kernel{
		Additive:  regression.Additive{Linear: linear},
		Landmarks: marks,
		Cells: []kernelmap.Input{
			{Column: 0, Of: kernelmap.Value},
			{Column: 1, Of: kernelmap.Value},
		},
		Kernels: []kernelmap.Term{{Coefficients: []float64{3}, Map: &kernelmap.Map{
			Coordinates: []kernelmap.Coordinate{
				{Input: 0, Values: line},
				{Input: 1, Values: line},
			},
			Metric:    [][]int16{{700, 0}, {0, 700}},
			Landmarks: marks,
			Weights:   [][]int16{{9000, 9000, -9000, -9000, 0}},
			Shifts:    []uint8{27},
		}}},
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	two := &regression.Classifier{
		Target:  "y",
		Classes: []string{"no", "yes"},
		Scores:  []regression.Model{m},
	}
	for _, model := range []regression.Model{m, two} {
		x := interactions(model)
		if x == nil ||
			x.Share != 1 ||
			len(x.Pairs) != 1 ||
			x.Pairs[0].First != "a" ||
			x.Pairs[0].Second != "b" ||
			x.Pairs[0].Value < .5 {
			t.Fatalf("%+v", x)
		}
		r := &Report{
			Format: Format,
			Training: &Training{
				Task:         regression.TaskRegression,
				Target:       "y",
				Interactions: x,
				Importances:  []Importance{{"a", 1, 0, 2, .95}},
			},
		}
		var file bytes.Buffer
		if err := Encode(&file, r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(file.String(), `"share": 1`) ||
			!strings.Contains(weights(r), "a × b") {
			t.Errorf(
				"%s\n%s",
				file.String(), weights(r),
			)
		}
	}
	x := interactions(&m.Additive)
	if x != nil {
		t.Errorf("a sum of columns has %+v", x)
	}
}
