package regression

import (
	"fmt"
	"slices"
)

// KindClassifier is the kind of a [Classifier].
const KindClassifier = "classifier"

// A Classifier predicts one of two or more declared classes from scores.
//
// Two classes have one score: where it is above 0 the prediction is Classes[1],
// and Classes[0] elsewhere. More classes have one score each, the largest wins,
// and of equal ones the first. Scores are regression models on the same inputs;
// a model fitted to a target of -1 and +1 is one.
//
// A Classifier must not be changed while it is in use.
type Classifier struct {
	Target  string
	Classes []string // at least two, different
	Scores  []Model  // one for two classes, else one a class

	Guarantee *Guarantee // nil: trained without privacy
}

var _ Model = (*Classifier)(nil)

// Kind returns [KindClassifier].
func (m *Classifier) Kind() string { return KindClassifier }

// Output describes the target.
func (m *Classifier) Output() Output {
	return Output{Task: TaskClassification, Target: m.Target, Classes: m.Classes}
}

// Inputs lists the columns of the scores, each once, in the order in which they
// first occur.
func (m *Classifier) Inputs() []Column {
	if len(m.Scores) == 1 {
		return m.Scores[0].Inputs()
	}
	var all []Column
	for _, score := range m.Scores {
		for _, c := range score.Inputs() {
			if !slices.ContainsFunc(all, func(o Column) bool { return o.Name == c.Name }) {
				all = append(all, c)
			}
		}
	}
	return all
}

// Predict returns for each row the index of the predicted class.
func (m *Classifier) Predict(dst []float64, rows Rows) ([]float64, error) {
	if want := scoresOf(len(m.Classes)); want != len(m.Scores) {
		return nil, &ModelError{"scores", fmt.Sprintf("%d classes take %d scores, not %d", len(m.Classes), want, len(m.Scores))}
	}
	dst, err := m.Scores[0].Predict(dst, rows)
	if err != nil {
		return nil, err
	}
	if len(m.Scores) == 1 {
		for i, score := range dst {
			dst[i] = 0
			if score > 0 {
				dst[i] = 1
			}
		}
		return dst, nil
	}
	best := slices.Clone(dst)
	clear(dst)
	var score []float64
	for c := 1; c < len(m.Scores); c++ {
		if score, err = m.Scores[c].Predict(score, rows); err != nil {
			return nil, err
		}
		for i, x := range score {
			if x > best[i] {
				best[i], dst[i] = x, float64(c)
			}
		}
	}
	return dst, nil
}

// scoresOf returns how many scores a number of classes takes.
func scoresOf(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}
