package dptrain

import (
	"context"
	"os"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// ReadModel reads the model of a run: model.json in its folder release. A model of an earlier version reads
// cells as described in recipe.yaml in the same folder. Errors are those of the file and of
// [regression.DecodeModel].
func ReadModel(path string) (regression.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := regression.DecodeModel(f)
	if err != nil {
		return nil, err
	}
	if d, err := recipe.PublishedData(path); err == nil {
		d.Describe(m)
	}
	return m, nil
}

// Predict returns one prediction per record of a table, in its order. The prediction of a classifier is an
// index into the Classes of the model's Output. No cell causes an error: a cell that the model cannot read is
// treated as missing. Texts of a file are read as in training, unless the table has a Format with number
// settings. Use [regression.Compile] to predict single records.
func Predict(
	ctx context.Context,
	m regression.Model,
	t *Table,
) ([]float64, error) {
	if t.held != nil {
		return m.Predict(nil, pipeline.RowsFor(m, t.held.View()))
	}
	records, _, err := t.read(ctx, pipeline.SchemaOf(m))
	if err != nil {
		return nil, goError(err)
	}
	return m.Predict(nil, pipeline.RowsOf(records.View()))
}
