package regression

import (
	"errors"
	"fmt"
	"math"
)

// Errors of the probabilities of a [Classifier].
var (
	// ErrNoProbability is returned for a model without probabilities: it has more than two classes, or they
	// could not be estimated.
	ErrNoProbability = errors.New("the model has no probabilities")
	// ErrThreshold is returned for a threshold outside (0, 1).
	ErrThreshold = errors.New("the threshold must be above 0 and below 1")
)

// Classify returns the index of the predicted class of each row, as Predict does, and the deciding score: the
// only score of two classes, otherwise the largest.
func (m *Classifier) Classify(rows Rows) (classes, scores []float64, err error) {
	if err := m.Validate(); err != nil {
		return nil, nil, err
	}
	if scores, err = m.Scores[0].Predict(nil, rows); err != nil {
		return nil, nil, err
	}
	classes = make([]float64, len(scores))
	if len(m.Scores) == 1 {
		return m.applyCutoff(classes, scores), scores, nil
	}
	classes, err = m.argmaxScores(scores, classes, rows)
	return classes, scores, err
}

// Probabilities returns for each row the probability of Classes[1], in [0, 1]. It uses dst if its capacity
// suffices. It returns [ErrNoProbability] or an error of Predict.
func (m *Classifier) Probabilities(
	dst []float64,
	rows Rows,
) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Probability == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoProbability, m.whyNoProbability())
	}
	dst, err := m.Scores[0].Predict(dst, rows)
	for i, score := range dst {
		dst[i] = m.Probability.Evaluate(score)
	}
	return dst, err
}

func (m *Classifier) whyNoProbability() string {
	if len(m.Classes) > 2 {
		return "it has more than two classes"
	}
	return "there were too few training records for this budget, or the method does not estimate them"
}

// ClassProbabilities returns one slice per class with the probability for each row; the probabilities of a row
// sum to 1. They come from the scores: for [Prototypes], e^score divided by the sum over all classes. It
// returns [ErrNoProbability] for a classifier whose scores are not log probabilities, or an error of Predict.
func (m *Classifier) ClassProbabilities(rows Rows) ([][]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	for _, score := range m.Scores {
		if _, ok := score.(*Prototypes); !ok {
			return nil, fmt.Errorf("%w: its scores are not log probabilities", ErrNoProbability)
		}
	}
	out := make([][]float64, len(m.Classes))
	for c := len(m.Classes) - len(m.Scores); c < len(out); c++ { // with two classes, the first has the constant score 0
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

// ClassesAt returns for each row the index of the class: 1 if the probability of Classes[1] is at least
// threshold, which must be in (0, 1), and 0 otherwise. It uses dst if its capacity suffices. It returns
// [ErrThreshold] or an error of [Classifier.Probabilities].
func (m *Classifier) ClassesAt(
	dst []float64,
	rows Rows,
	threshold float64,
) ([]float64, error) {
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
