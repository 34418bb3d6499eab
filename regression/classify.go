package regression

import (
	"errors"
	"fmt"
	"math"
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

// ClassProbabilities returns the probability of every class, one slice per class and in them one
// number per row: those of a row add up to 1. They are the model's own: of [Prototypes], e^score over the
// sum for all classes. The error is [ErrNoProbability] for a classifier whose scores are no log
// probabilities, or one of Predict.
func (m *Classifier) ClassProbabilities(rows Rows) ([][]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	for _, score := range m.Scores {
		if _, ok := score.(*Prototypes); !ok {
			return nil, fmt.Errorf("%w: its scores are no log probabilities", ErrNoProbability)
		}
	}
	out := make([][]float64, len(m.Classes))
	for c := len(m.Classes) - len(m.Scores); c < len(out); c++ { // the first of two classes has the score 0
		score, err := m.Scores[c-len(m.Classes)+len(m.Scores)].Predict(nil, rows)
		if err != nil {
			return nil, err
		}
		out[c] = score
	}
	if out[0] == nil {
		out[0] = make([]float64, rows.N)
	}
	for i := range rows.N {
		var all logSum
		for c := range out {
			all.add(out[c][i])
		}
		for c := range out {
			out[c][i] = math.Exp(out[c][i] - all.value())
		}
	}
	return out, nil
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
