package method

import (
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// A Predictor is a released model of features that are the first columns of a block. Its exported fields can be sent to
// where the records are.
type Predictor struct {
	Model    regression.Model
	Features []dataset.Column

	ready *regression.Ready // nil where the predictor was sent to
}

// NewPredictor returns the predictor of a model.
func NewPredictor(m regression.Model, features []dataset.Column) Predictor {
	return Predictor{m, features, regression.Prepare(m)}
}

// Predict returns the predictions for the records of a block, in to if its capacity suffices.
func (p Predictor) Predict(b dataset.Block, to []float64) []float64 {
	room := cellBuffers.Get().(*[]float64)
	defer cellBuffers.Put(room)
	predict := p.Model.Predict
	if p.ready != nil {
		predict = p.ready.Predict
	}
	out, err := predict(to, RowsOfColumns(b, p.Features, room))
	if err != nil {
		panic(err) // the model was trained on these columns
	}
	return out
}

// cellBuffers are the buffers for the cells of a block during prediction.
var cellBuffers = sync.Pool{New: func() any {
	return new([]float64)
}}

// Classify returns the predictions of a classifier and its scores for the records of a block.
func (p Predictor) Classify(b dataset.Block) (prediction, score []float64) {
	room := cellBuffers.Get().(*[]float64)
	defer cellBuffers.Put(room)
	prediction, score, err := p.Model.(*regression.Classifier).Classify(
		RowsOfColumns(b, p.Features, room))
	if err != nil {
		panic(err) // as in Predict
	}
	return prediction, score
}

// RowsOfColumns returns the first columns of a block, which are these, as rows for the Predict method of a model. Numbers
// that do not follow one another in the table are copied to room, which grows to hold them, if it is not nil.
func RowsOfColumns(
	b dataset.Block,
	columns []dataset.Column,
	room *[]float64,
) regression.Rows {
	n := b.Len()
	free := []float64(nil)
	if room != nil {
		*room = slices.Grow((*room)[:0], n*len(columns))
		free = (*room)[:n*len(columns)]
	}
	rows := regression.Rows{
		N:       b.Len(),
		Numeric: map[string][]float64{},
		Codes:   map[string]regression.Codes{},
	}
	for j, c := range columns {
		if c.Kind == dataset.Numeric {
			var buf []float64
			if room != nil {
				buf = free[:n:n]
				free = free[n:]
			}
			rows.Numeric[c.Name] = b.Float(j, buf)
		} else {
			rows.Codes[c.Name] = regression.Codes{
				Values:     b.Codes(j, nil),
				Categories: c.Categories,
			}
		}
	}
	return rows
}
