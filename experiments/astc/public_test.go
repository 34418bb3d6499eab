package astc_test

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/experiments/astc"
	"github.com/dptrain/dptrain/internal/publicdata"
)

// TestSpambase is table 2.1 of the thesis on standardised columns: errors on all records and
// features within .002 and 1 of those of liblinear, computed beforehand.
func TestSpambase(t *testing.T) {
	lines := publicdata.Lines(t, "classification", "spambase.csv.gz")[1:]
	d := len(lines[0]) - 1
	x := astc.Table{Cost: make([]float64, d)}
	for j := range d {
		x.Group, x.Cost[j] = append(x.Group, j), 1
	}
	for _, line := range lines {
		row := make([]float64, d)
		for j := range row {
			var err error
			if row[j], err = strconv.ParseFloat(line[j], 64); err != nil {
				t.Fatal(err)
			}
		}
		y := -1.
		if line[d] == "1" {
			y = 1
		}
		x.Rows, x.Y = append(x.Rows, row), append(x.Y, y)
	}
	n := float64(len(x.Rows))
	for j := range d {
		mean, square := 0., 0.
		for _, r := range x.Rows {
			mean += r[j] / n
		}
		for _, r := range x.Rows {
			square += (r[j] - mean) * (r[j] - mean) / n
		}
		for _, r := range x.Rows {
			r[j] = (r[j] - mean) / math.Sqrt(square)
		}
	}
	var beta []float64
	for _, tt := range []struct {
		lambda, err float64
		features    int
	}{{500, .2736, 5}, {250, .1621, 17}, {100, .1150, 27}, {75, .1054, 30}, {50, .0943, 36}, {25, .0841, 43}, {10, .0730, 52}, {7.5, .0732, 52}, {5, .0709, 53}, {2.5, .0693, 54}} {
		var err error
		if beta, err = astc.Logistic(context.Background(), x, tt.lambda, beta); err != nil {
			t.Fatal(err)
		}
		wrong, features := 0., 0
		for i, r := range x.Rows {
			f := beta[0]
			for j, v := range r {
				f += beta[j+1] * v
			}
			if f > 0 != (x.Y[i] > 0) {
				wrong++
			}
		}
		for _, b := range beta[1:] {
			if math.Abs(b) > 1e-9 {
				features++
			}
		}
		t.Logf("lambda %v: %.4f with %d features", tt.lambda, wrong/n, features)
		if math.Abs(wrong/n-tt.err) > .002 || features < tt.features-1 || features > tt.features+1 {
			t.Errorf("lambda %v: %.4f with %d features, want %v with %d", tt.lambda, wrong/n, features, tt.err, tt.features)
		}
	}
}
