package regression

import (
	"errors"
	"fmt"
)

// Errors of the probabilities of a [Classifier].
var (
	// ErrNoProbability is returned for a model without probabilities: it has more than two
	// classes, or they could not be estimated.
	ErrNoProbability = errors.New("the model has no probabilities")
	// ErrThreshold is returned for a threshold outside (0, 1).
	ErrThreshold = errors.New("the threshold must be above 0 and below 1")
)

// Classify returns for each row the index of the predicted class, as Predict does, and
// the score that it was predicted by: of two classes the one score, else the largest.
func (m *Classifier) Classify(rows Rows) (classes, scores []float64, err error) {
	if err := m.Validate(); err != nil {
		return nil, nil, err
	}
	if scores, err = m.Scores[0].Predict(nil, rows); err != nil {
		return nil, nil, err
	}
	classes = make([]float64, len(scores))
	if len(m.Scores) == 1 {
		return m.second(classes, scores), scores, nil
	}
	classes, err = m.largest(scores, classes, rows)
	return classes, scores, err
}

// Probabilities returns for each row the probability of Classes[1], in [0, 1]. The result
// is stored in dst when its capacity suffices. Errors are [ErrNoProbability] and those of
// Predict.
func (m *Classifier) Probabilities(dst []float64, rows Rows) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Probability == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoProbability, m.whyNoProbability())
	}
	dst, err := m.Scores[0].Predict(dst, rows)
	for i, score := range dst {
		dst[i] = m.Probability.At(score)
	}
	return dst, err
}

func (m *Classifier) whyNoProbability() string {
	if len(m.Classes) > 2 {
		return "it has more than two classes"
	}
	return "the training records were too few at this budget, or the method does not estimate them"
}

// ClassesAt returns for each row the index of a class: 1 where the probability of
// Classes[1] is at least threshold, which lies in (0, 1), and 0 elsewhere. dst and errors
// are as of [Classifier.Probabilities], and [ErrThreshold].
func (m *Classifier) ClassesAt(dst []float64, rows Rows, threshold float64) ([]float64, error) {
	if !(threshold > 0 && threshold < 1) {
		return nil, ErrThreshold
	}
	dst, err := m.Probabilities(dst, rows)
	for i, p := range dst {
		dst[i] = 0
		if p >= threshold {
			dst[i] = 1
		}
	}
	return dst, err
}
