package pipeline

import (
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// predictor is a released model of features that are the first columns of a block.
type predictor struct {
	Model    regression.Model
	Features []dataset.Column

	ready *regression.Ready // nil where the predictor was sent to
}

func newPredictor(m regression.Model, features []dataset.Column) predictor {
	return predictor{m, features, regression.Prepare(m)}
}

// Predict implements [evaluate.Predictor].
func (p predictor) Predict(b dataset.Block, to []float64) []float64 {
	room := cellBuffers.Get().(*[]float64)
	defer cellBuffers.Put(room)
	predict := p.Model.Predict
	if p.ready != nil {
		predict = p.ready.Predict
	}
	out, err := predict(to, rowsOfColumns(b, p.Features, room))
	if err != nil {
		panic(err) // the model was trained on these columns
	}
	return out
}

// cellBuffers are the buffers for the cells of a block during prediction.
var cellBuffers = sync.Pool{New: func() any { return new([]float64) }}

// Classify implements [evaluate.Classifier].
func (p predictor) Classify(b dataset.Block) (prediction, score []float64) {
	room := cellBuffers.Get().(*[]float64)
	defer cellBuffers.Put(room)
	prediction, score, err := p.Model.(*regression.Classifier).Classify(
		rowsOfColumns(b, p.Features, room))
	if err != nil {
		panic(err) // as in Predict
	}
	return prediction, score
}

// rowsOfColumns gathers the first columns of a block, which are these: numbers that do not follow one another in the table
// in room, which grows to hold them, if there is one.
func rowsOfColumns(b dataset.Block, columns []dataset.Column, room *[]float64) regression.Rows {
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
