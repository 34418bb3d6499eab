package regression

import (
	"math"
	"testing"
)

// TestReady checks that a prepared model returns the same bits and the same errors as the model itself.
func TestReady(t *testing.T) {
	linear := Linear{
		Target:    "y",
		Lower:     -5,
		Upper:     5,
		Intercept: .1,
		Columns: []Column{
			{
				Name:  "x",
				Type:  Numeric,
				Lower: -3,
				Upper: 3,
			},
			{
				Name:       "c",
				Type:       Category,
				Categories: []string{"a", "b"},
				Other:      true,
			},
		},
		Terms: []Term{
			{Column: 0, Coefficient: 1.3},
			{
				Column:      1,
				Category:    "a",
				Coefficient: -.7,
			},
			{Column: 1, Other: true, Coefficient: .2},
		},
	}
	broken := linear
	broken.Intercept = math.NaN()
	rows := func(n int) Rows {
		x := make([]float64, n)
		codes := make([]int32, n)
		for i := range x {
			x[i] = 4 * math.Sin(float64(i))
			codes[i] = int32(i % 3)
		}
		if n > 2 {
			x[2] = math.NaN()
		}
		return Rows{
			N:       n,
			Numeric: map[string][]float64{"x": x},
			Codes: map[string]Codes{"c": {
				Values:     codes,
				Categories: []string{"b", "a"},
			}},
		}
	}
	for name, m := range map[string]Model{
		"linear":                &linear,
		"one that is not valid": &broken,
		"additive":              &Additive{Linear: linear},
	} {
		r := Prepare(m)
		for _, n := range []int{0, 1, 7, predictBlock + 3, 1} {
			want, wantErr := m.Predict(nil, rows(n))
			got, err := r.Predict(make([]float64, 0, 5), rows(n))
			if (err == nil) != (wantErr == nil) ||
				err == nil && name == "one that is not valid" {
				t.Fatalf(
					"%s, %d rows: error %v, want %v",
					name, n, err, wantErr,
				)
			}
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf(
						"%s, row %d of %d: %v, want %v",
						name, i, n, got[i],
						want[i],
					)
				}
			}
		}
		_, err := r.Predict(nil, Rows{N: 1})
		if err == nil {
			t.Errorf("%s: no error without columns", name)
		}
	}
}
