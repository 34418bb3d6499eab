package astc_test

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/astc"
	"github.com/dptrain/dptrain/internal/testkit"
)

// TestSpambaseMatchesThesis reproduces table 2.1 of the thesis on standardised columns, fitted to all records: errors
// are within .002 and numbers of features within 1 of the numbers of liblinear, computed beforehand.
func TestSpambaseMatchesThesis(t *testing.T) {
	lines := testkit.PublicLines(t, "classification", "spambase.csv.gz")[1:]
	d := len(lines[0]) - 1
	columns := make([]dataset.Column, d)
	values := make([][]float64, d)
	y := make([]float64, len(lines))
	all := make([]int, d)
	for j := range d {
		columns[j] = dataset.Column{
			Name: strconv.Itoa(j),
			Kind: dataset.Numeric,
		}
		values[j] = make([]float64, len(lines))
		all[j] = j
	}
	for i, line := range lines {
		for j := range d {
			var err error
			if values[j][i], err = strconv.ParseFloat(line[j], 64); err != nil {
				t.Fatal(err)
			}
		}
		if y[i] = -1; line[d] == "1" {
			y[i] = 1
		}
	}
	data := make([]dataset.ColumnData, d)
	for j := range d {
		data[j] = dataset.ColumnData{Floats: values[j]}
	}
	table, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := astc.Standardised(table, all).Table(table)
	x.Y = y
	var beta []float64
	for _, tt := range []struct {
		lambda, err float64
		features    int
	}{
		{500, .2736, 5},
		{250, .1621, 17},
		{100, .1150, 27},
		{75, .1054, 30},
		{50, .0943, 36},
		{25, .0841, 43},
		{10, .0730, 52},
		{7.5, .0732, 52},
		{5, .0709, 53},
		{2.5, .0693, 54},
	} {
		var err error
		beta, err = astc.Logistic(context.Background(), x, tt.lambda, beta)
		if err != nil {
			t.Fatal(err)
		}
		wrong, features := x.Judge(beta)
		t.Logf(
			"lambda %v: %.4f with %d features",
			tt.lambda, wrong, features,
		)
		if math.Abs(wrong-tt.err) > .002 ||
			features < tt.features-1 ||
			features > tt.features+1 {
			t.Errorf(
				"lambda %v: %.4f with %d features, want %v with %d",
				tt.lambda,
				wrong,
				features,
				tt.err,
				tt.features,
			)
		}
	}
}
