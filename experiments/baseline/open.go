package baseline

import (
	"context"
	"strconv"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/nonprivate"
	"github.com/dptrain/dptrain/regression"
)

// An Open is a linear classifier of two classes that was trained without privacy
// on some columns: numbers as they stand, categories as 0/1 columns.
type Open struct {
	columns []int
	model   *regression.Classifier
}

// FitOpen trains a baseline of [nonprivate.ClassBaseline] on the given columns of
// a view whose last column is the target. Records in no class are left out.
func FitOpen(ctx context.Context, name string, v dataset.View, columns []int) (*Open, error) {
	trainer, err := nonprivate.ClassBaseline(name)
	if err != nil {
		return nil, err
	}
	schema := v.Schema().Columns
	target := schema[len(schema)-1]
	d := nonprivate.ClassDesign{Target: target.Name, Classes: target.Categories, Labels: Labels(v)}
	d.Names, d.X = expand(v, columns)
	m, err := trainer.Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	return &Open{columns, m}, nil
}

// Labels returns the codes of the last column of a view.
func Labels(v dataset.View) []int32 {
	return v.Block(0, v.Len()).Codes(len(v.Schema().Columns)-1, make([]int32, v.Len()))
}

// Scores returns the score of every record of a view with the columns of the one
// that it was trained on, above 0 for the second class. Of logistic regression it
// is the log odds.
func (o *Open) Scores(v dataset.View) ([]float64, error) {
	return o.model.Scores[0].Predict(nil, rowsOf(v, o.columns))
}

// Predict returns the class of every record.
func (o *Open) Predict(v dataset.View) ([]int32, error) {
	scores, err := o.Scores(v)
	return signs(scores), err
}

// signs returns class 1 for scores above 0 and class 0 for others.
func signs(scores []float64) []int32 {
	out := make([]int32, len(scores))
	for i, x := range scores {
		if x > 0 {
			out[i] = 1
		}
	}
	return out
}

func rowsOf(v dataset.View, columns []int) regression.Rows {
	rows := regression.Rows{N: v.Len(), Numeric: map[string][]float64{}}
	names, x := expand(v, columns)
	for k, name := range names {
		rows.Numeric[name] = x[k]
	}
	return rows
}

// expand returns columns of a view as numbers, a category as one 0/1 column a
// value (one for other values, too, where the column keeps them).
func expand(v dataset.View, columns []int) (names []string, x [][]float64) {
	all := v.Block(0, v.Len())
	schema := v.Schema().Columns
	add := func(column []float64) {
		names, x = append(names, strconv.Itoa(len(names))), append(x, column)
	}
	for _, j := range columns {
		c := schema[j]
		if c.Kind == dataset.Numeric {
			add(all.Float(j, make([]float64, v.Len())))
			continue
		}
		levels := len(c.Categories)
		if c.Other {
			levels++
		}
		indicators := make([][]float64, levels)
		for k := range indicators {
			indicators[k] = make([]float64, v.Len())
			add(indicators[k])
		}
		for i, code := range all.Codes(j, make([]int32, v.Len())) {
			if int(code) < levels {
				indicators[code][i] = 1
			}
		}
	}
	return names, x
}
