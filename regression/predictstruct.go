package regression

import (
	"reflect"

	"github.com/dptrain/dptrain/internal/tablefile/structrow"
)

// PredictStruct returns the prediction for a record in a struct or a pointer to one. Its fields are the columns, with
// the names of their tags dptrain, as for a table of structs; fields that the model does not use are ignored. A nil
// pointer, NaN and the empty string are missing cells. The error describes a type with a field of an unsupported type,
// or wraps a [ColumnError] for each absent input; no cell causes an error.
func (p *Predictor) PredictStruct(row any) (float64, error) {
	cells, err := structCells(row)
	if err != nil {
		return 0, err
	}
	return p.PredictRecord(cells)
}

// structCells returns the cells of a struct by the names of their columns.
func structCells(row any) (map[string]any, error) {
	fields, err := structrow.Fields(reflect.TypeOf(row))
	if err != nil {
		return nil, err
	}
	cells := make(map[string]any, len(fields))
	for _, f := range fields {
		cells[f.Name] = nil
		if v, ok := f.Value(reflect.ValueOf(row)); ok {
			cells[f.Name] = v.Interface()
		}
	}
	return cells, nil
}

// ProbabilityStruct is like [Predictor.PredictStruct] but returns the probability of the second of two classes, in
// [0, 1]. It returns [ErrNoProbability] for a model without probabilities.
func (p *Predictor) ProbabilityStruct(row any) (float64, error) {
	cells, err := structCells(row)
	if err != nil {
		return 0, err
	}
	return p.ProbabilityRecord(cells)
}
