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
	x.Standardise()
	var beta []float64
	for _, tt := range []struct {
		lambda, err float64
		features    int
	}{
		{500, .2736, 5}, {250, .1621, 17}, {100, .1150, 27}, {75, .1054, 30}, {50, .0943, 36},
		{25, .0841, 43}, {10, .0730, 52}, {7.5, .0732, 52}, {5, .0709, 53}, {2.5, .0693, 54},
	} {
		var err error
		if beta, err = astc.Logistic(context.Background(), x, tt.lambda, beta); err != nil {
			t.Fatal(err)
		}
		wrong, features := x.Judge(beta)
		t.Logf("lambda %v: %.4f with %d features", tt.lambda, wrong, features)
		if math.Abs(wrong-tt.err) > .002 || features < tt.features-1 || features > tt.features+1 {
			t.Errorf("lambda %v: %.4f with %d features, want %v with %d", tt.lambda, wrong, features, tt.err, tt.features)
		}
	}
}
