package main

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/fault"
	"github.com/dptrain/dptrain/regression"
)

// classFlags are the flags of predict for a classifier of two classes.
type classFlags struct {
	probability bool
	threshold   float64
	given       bool // a threshold
}

// chances changes what predict adds: with a threshold, the class whose probability decides;
// with probability, a column more. path is the model's.
func (s *scorer) chances(path string, m regression.Model, flags classFlags) error {
	if !flags.probability && !flags.given {
		return nil
	}
	if flags.given && !(flags.threshold > 0 && flags.threshold < 1) {
		return usagef("--threshold %v: %w", flags.threshold, regression.ErrThreshold)
	}
	c, ok := m.(*regression.Classifier)
	switch {
	case !ok && len(m.Output().Classes) > 0:
		return fault.As(fault.Usage, &pathError{path, fmt.Errorf("%w: it predicts by neighbours", regression.ErrNoProbability)})
	case !ok:
		return fault.As(fault.Usage, &pathError{path, errors.New("this model predicts numbers; --probability and --threshold are for two classes")})
	}
	if _, err := c.Probabilities(nil, regression.Rows{}); errors.Is(err, regression.ErrNoProbability) {
		return fault.As(fault.Usage, &pathError{path, err})
	}
	if flags.probability {
		s.columns = append(s.columns, column{name: probabilityColumn(c)})
	}
	columns := len(s.columns)
	s.values = func(rows regression.Rows) ([][]float64, error) {
		classes, chances, err := c.Classify(rows)
		if err != nil {
			return nil, err
		}
		for i, score := range chances {
			chances[i] = c.Probability.At(score)
			if flags.given {
				classes[i] = 0
				if chances[i] >= flags.threshold {
					classes[i] = 1
				}
			}
		}
		return [][]float64{classes, chances}[:columns], nil
	}
	return nil
}

// probabilityColumn names the column of the probability of the second class.
func probabilityColumn(c *regression.Classifier) string {
	return fmt.Sprintf("probability of %s", c.Classes[1])
}
