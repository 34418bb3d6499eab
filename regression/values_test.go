package regression

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

// encodedModel is a model with a column of texts that represent numbers.
func encodedModel() *Linear {
	return &Linear{
		Target: "y",
		Columns: []Column{
			{
				Name:    "x",
				Lower:   0,
				Upper:   10,
				Missing: 5,
			},
			{
				Name:       "ward",
				Lower:      -2,
				Upper:      3,
				Missing:    1,
				Categories: []string{"a1", "b2"},
				Values:     []float64{-2, 3, 1},
				TextRule:   TextRule{Fold: "case"},
			},
		},
		Terms: []Term{
			{Column: 0, Coefficient: 1},
			{Column: 1, Coefficient: 10},
		},
		Intercept: 100,
		Lower:     -1000,
		Upper:     1000,
	}
}

// TestValuesPredict checks that a text is replaced by its number and every other cell by the last number, for
// rows of every form, in batches and one by one; and that the file of the model preserves this.
func TestValuesPredict(t *testing.T) {
	m := encodedModel()
	var file bytes.Buffer
	if err := EncodeModel(&file, m); err != nil {
		t.Fatal(err)
	}
	read, err := DecodeModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{100 + 2 - 20, 100 + 2 + 30, 100 + 2 + 10}
	x := map[string][]float64{"x": {2, 2, 2}}
	for name, rows := range map[string]Rows{
		"labels": {
			N:       3,
			Numeric: x,
			Labels:  map[string][]string{"ward": {"a1", "b2", "c3"}},
		},
		"codes": {
			N:       3,
			Numeric: x,
			Codes: map[string]Codes{"ward": {
				Values:     []int32{1, 0, -1},
				Categories: []string{"b2", "a1"},
			}},
		},
		"numbers": {
			N: 3,
			Numeric: map[string][]float64{
				"x":    x["x"],
				"ward": {-2, 3, 1},
			},
		},
		"both": {
			N: 3,
			Numeric: map[string][]float64{
				"x":    x["x"],
				"ward": {7, 7, 7},
			},
			Labels: map[string][]string{"ward": {"a1", "b2", ""}},
		},
	} {
		for _, m := range []Model{m, read} {
			got, err := m.Predict(nil, rows)
			if err != nil {
				t.Fatal(name, err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf(
						"%s: row %d: %v, want %v",
						name, i, got[i], want[i],
					)
				}
			}
		}
	}
	p, err := Compile(read)
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range []any{" A1 ", "b2", nil} {
		got, err := p.PredictRecord(map[string]any{"x": 2, "ward": cell})
		if err != nil || got != want[i] {
			t.Errorf(
				"cell %v: %v, %v, want %v",
				cell, got, err, want[i],
			)
		}
	}
	_, err = m.Predict(nil, Rows{N: 3, Numeric: x})
	if !errors.Is(err, ErrColumnAbsent) {
		t.Errorf("without the column: %v", err)
	}
}

// TestValuesInvalid checks that values that contradict their list or range are rejected, in the file and in the
// model.
func TestValuesInvalid(t *testing.T) {
	for name, change := range map[string]func(c *Column){
		"is not one number a category": func(c *Column) {
			c.Values = c.Values[:2]
		},
		"is not within": func(c *Column) {
			c.Values[0] = -3
		},
		"values[1]": func(c *Column) {
			c.Values[1] = math.NaN()
		},
		"is listed twice": func(c *Column) {
			c.Categories[1] = "a1"
		},
		"has no other": func(c *Column) {
			c.Other = true
		},
		"without values has no": func(c *Column) {
			c.Values = nil
		},
		"missing and values": func(c *Column) {
			c.Type = Category
			c.Lower = 0
			c.Upper = 0
			c.Missing = 0
		},
	} {
		m := encodedModel()
		change(&m.Columns[1])
		var problem *ModelError
		err := m.Validate()
		if !errors.As(err, &problem) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var file bytes.Buffer
	if err := EncodeModel(&file, encodedModel()); err != nil {
		t.Fatal(err)
	}
	without := strings.Replace(
		file.String(),
		`"values":[-2,3,1],`,
		"", 1,
	)
	_, err := DecodeModel(strings.NewReader(without))
	if without == file.String() ||
		err == nil ||
		!strings.Contains(err.Error(), "values and categories, or neither") {
		t.Errorf(
			"a list without values: %v\n%s",
			err, file.String(),
		)
	}
}
