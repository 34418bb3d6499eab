package main

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

// classFlags are the flags of predict that apply to classifiers.
type classFlags struct {
	probability bool
	threshold   float64
	given       bool // whether a threshold was set
}

// setProbabilities changes the columns that predict adds. With a threshold, the class is chosen by its probability.
// With probability, it adds one column, or one per class if there are more than two. path is the path of the model.
func (s *scorer) setProbabilities(
	path string,
	m regression.Model,
	flags classFlags,
) error {
	if !flags.probability && !flags.given {
		return nil
	}
	if flags.given && !(flags.threshold > 0 && flags.threshold < 1) {
		return usagef("--threshold %v: %w", flags.threshold, regression.ErrThreshold)
	}
	c, ok := m.(*regression.Classifier)
	switch {
	case !ok && len(m.Output().Classes) > 0:
		return fault.WithKind(fault.Usage,
			&pathError{path,
				fmt.Errorf("%w: it is a nearest-neighbour model", regression.ErrNoProbability)})
	case !ok:
		return fault.WithKind(fault.Usage,
			&pathError{path,
				errors.New(
					"this model predicts numbers; --probability and --threshold need a classifier")})
	case len(c.Classes) > 2:
		return s.eachChance(path, c, flags)
	}
	if _, err := c.Probabilities(nil, regression.Rows{}); errors.Is(err,
		regression.ErrNoProbability) {
		return fault.WithKind(fault.Usage, &pathError{path, err})
	}
	if flags.probability {
		s.columns = append(s.columns, probabilityColumn(c.Classes[1]))
	}
	columns := len(s.columns)
	s.values = func(rows regression.Rows) ([][]float64, error) {
		classes, chances, err := c.Classify(rows)
		if err != nil {
			return nil, err
		}
		for i, score := range chances {
			chances[i] = c.Probability.Evaluate(score)
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

// eachChance adds a probability column for each class of a model with more than two classes.
func (s *scorer) eachChance(
	path string,
	c *regression.Classifier,
	flags classFlags,
) error {
	if flags.given {
		return fault.WithKind(fault.Usage,
			&pathError{path,
				fmt.Errorf("--threshold needs a model with two classes; this one has %d",
					len(c.Classes))})
	}
	if _, err := c.ClassProbabilities(regression.Rows{}); errors.Is(err,
		regression.ErrNoProbability) {
		return fault.WithKind(fault.Usage,
			&pathError{path,
				fmt.Errorf("%w; with more than two classes, only prototypes has them", err)})
	}
	for _, class := range c.Classes {
		s.columns = append(s.columns, probabilityColumn(class))
	}
	s.values = func(rows regression.Rows) ([][]float64, error) {
		classes, err := c.Predict(nil, rows)
		if err != nil {
			return nil, err
		}
		chances, err := c.ClassProbabilities(rows)
		return append([][]float64{classes}, chances...), err
	}
	return nil
}

// probabilityColumn returns the column for the probability of a class.
func probabilityColumn(class string) column {
	return column{name: "probability of " + class}
}
