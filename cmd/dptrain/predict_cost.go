package main

import (
	"errors"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

// A costed model reads features at a cost.
type costed interface {
	CostsOf(dst []float64, rows regression.Rows) ([]float64, error)
}

// addCost adds the column "cost", the cost of the features read for a record. path is the path of the model.
func (s *scorer) addCost(path string, m regression.Model) error {
	x, ok := m.(costed)
	if ok {
		var problem *regression.ModelError
		_, err := x.CostsOf(nil, regression.Rows{})
		ok = !errors.As(err, &problem)
	}
	if !ok {
		return fault.WithKind(fault.Usage,
			&pathError{path,
				errors.New("--cost needs a cost-tree model; the features of this one have no cost")})
	}
	predict := s.values
	s.columns = append(s.columns, column{name: "cost"})
	s.values = func(rows regression.Rows) ([][]float64, error) {
		values, err := predict(rows)
		if err != nil {
			return nil, err
		}
		costs, err := x.CostsOf(nil, rows)
		return append(values, costs), err
	}
	return nil
}
