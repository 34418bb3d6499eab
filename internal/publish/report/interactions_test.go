package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/train/pipeline"
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

// TestDrawnLevels checks that the bands of a number are drawn within the range of its curve, whole if it is declared,
// and that all categories are drawn.
func TestDrawnLevels(t *testing.T) {
	s := Source{
		Report: &Report{},
		Model: &regression.Linear{Columns: []regression.Column{
			{
				Name:  "late",
				Lower: -1,
				Upper: 6,
			},
			{
				Name:       "home",
				Type:       regression.Category,
				Categories: []string{"1", "99"},
			},
		}},
	}
	bands := []string{
		"-0.5", "0.5",
		"1.5", "2.5",
		"3.5", "4.5",
		"5.5",
	}
	got := drawnLevels(s, "late", bands)
	if len(got) == 0 ||
		len(got) >= len(bands) ||
		got[0] == 0 ||
		got[len(got)-1] == 6 {
		t.Errorf("the bands %v are drawn", got)
	}
	if got := drawnLevels(s, "home", []string{"1", "99"}); len(got) != 2 {
		t.Errorf("the categories %v are drawn", got)
	}
	s.Report.Unprotected = []pipeline.Fact{{Name: "range of late"}}
	if got := drawnLevels(s, "late", bands); len(got) != len(bands) {
		t.Errorf("the bands %v of a declared range are drawn", got)
	}
}
