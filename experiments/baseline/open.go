package baseline

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
)

// An Open is a linear classifier that was trained without privacy on some columns: numbers as they
// are, categories as 0/1 columns.
type Open struct{ *nonprivate.TableModel }

// FitOpen trains a baseline of [nonprivate.ForTable] on the given columns of
// a view whose last column is the target. Records in no class are left out.
func FitOpen(
	ctx context.Context,
	name string,
	v dataset.View,
	columns []int,
) (*Open, error) {
	train, err := nonprivate.ForTable(name, true)
	if err != nil {
		return nil, err
	}
	m, err := train(ctx, v, len(v.Schema().Columns)-1, columns)
	if err != nil {
		return nil, err
	}
	return &Open{m}, nil
}

// Labels returns the codes of the last column of a view.
func Labels(v dataset.View) []int32 {
	return v.Block(0, v.Len()).Codes(len(v.Schema().Columns)-1, make([]int32, v.Len()))
}

// Predict returns the class of every record.
func (o *Open) Predict(v dataset.View) ([]int32, error) {
	classes, err := o.TableModel.Predict(v)
	out := make([]int32, len(classes))
	for i, class := range classes {
		out[i] = int32(class)
	}
	return out, err
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
