package regression

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// kindClassifier is the kind of a [Classifier].
const kindClassifier = "classifier"

// A Classifier predicts one of two or more declared classes from scores.
//
// With two classes there is one score: the prediction is Classes[1] if the score exceeds Cutoff and Classes[0]
// otherwise. With more classes there is one score per class, and the largest wins; ties go to the first. Scores
// are regression models on the same inputs, for example fitted to a target of -1 and +1.
//
// A Classifier must not be changed while it is in use.
type Classifier struct {
	Target  string
	Classes []string // at least two, different
	Scores  []Model  // one for two classes, otherwise one per class
	Cutoff  float64  // two classes only

	Probability *Probability // two classes only; nil if the model estimates no probabilities

	Guarantee *Guarantee // nil: trained without privacy
}

var _ Model = (*Classifier)(nil)

// Kind returns "classifier".
func (m *Classifier) Kind() string {
	return kindClassifier
}

// Output describes the target.
func (m *Classifier) Output() Output {
	return Output{
		Task:        TaskClassification,
		Target:      m.Target,
		Classes:     m.Classes,
		Probability: m.Probability,
	}
}

// Sums returns the sums of all scores, or nil if one score has no sums.
func (m *Classifier) Sums() []*Additive {
	var out []*Additive
	for _, score := range m.Scores {
		out = append(out, score.Sums()...)
	}
	if len(out) != len(m.Scores) {
		return nil
	}
	return out
}

// Inputs lists the columns of all scores, each once, in order of first use.
func (m *Classifier) Inputs() []Column {
	if len(m.Scores) == 1 {
		return m.Scores[0].Inputs()
	}
	var all []Column
	seen := make(map[string]bool)
	for _, score := range m.Scores {
		for _, c := range score.Inputs() {
			if !seen[c.Name] {
				all = append(all, c)
				seen[c.Name] = true
			}
		}
	}
	return all
}

// Predict returns for each row the index of the predicted class.
func (m *Classifier) Predict(dst []float64, rows Rows) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	dst, err := m.Scores[0].Predict(dst, rows)
	if err != nil {
		return nil, err
	}
	if len(m.Scores) == 1 {
		return m.applyCutoff(dst, dst), nil
	}
	return m.argmaxScores(slices.Clone(dst), dst, rows)
}

// applyCutoff sets dst to 1 where the score exceeds the cutoff and to 0 elsewhere. dst and scores may be the
// same slice.
func (m *Classifier) applyCutoff(dst, scores []float64) []float64 {
	for i, score := range scores {
		dst[i] = m.classAbove(score)
	}
	return dst
}

// classAbove returns the class, 1 or 0, for the score of two classes.
func (m *Classifier) classAbove(score float64) float64 {
	if score > m.Cutoff {
		return 1
	}
	return 0
}

// argmaxScores sets dst to the class with the largest score of each row. On entry best holds the first score of
// each row; on return it holds the largest.
func (m *Classifier) argmaxScores(
	best, dst []float64,
	rows Rows,
) ([]float64, error) {
	clear(dst)
	var score []float64
	var err error
	for c := 1; c < len(m.Scores); c++ {
		if score, err = m.Scores[c].Predict(score, rows); err != nil {
			return nil, err
		}
		for i, x := range score {
			if x > best[i] {
				best[i] = x
				dst[i] = float64(c)
			}
		}
	}
	return dst, nil
}

// Validate reports the first inconsistency in the model as a [*ModelError]: fewer than two classes, a class
// that is repeated or not UTF-8, a wrong number of scores, a cutoff or probabilities that are not finite or are
// given for more than two classes, a score that is invalid, has intervals or another target, scores that treat
// the same column differently, and a guarantee out of range.
func (m *Classifier) Validate() error {
	if !utf8.ValidString(m.Target) {
		return &ModelError{"target", "is not valid UTF-8"}
	}
	if err := validClasses(m.Classes); err != nil {
		return err
	}
	if want := scoreCount(len(m.Classes)); want != len(m.Scores) {
		return &ModelError{"scores",
			fmt.Sprintf("%d classes take %d scores, not %d", len(m.Classes), want, len(m.Scores))}
	}
	if !isFinite(m.Cutoff) || m.Cutoff != 0 && len(m.Classes) > 2 {
		return &ModelError{"cutoff", "must be finite, and 0 for more than two classes"}
	}
	if err := m.Probability.validate(len(m.Classes)); err != nil {
		return err
	}
	inputs := make(map[string]Column)
	for i, score := range m.Scores {
		if err := m.validateScore(fmt.Sprintf("scores[%d]", i), score, inputs); err != nil {
			return err
		}
	}
	columns := columnsOf(m)
	if slices.ContainsFunc(columns, func(c *Column) bool {
		return !c.Reading.sameNumbers(&columns[0].Reading)
	}) {
		return &ModelError{"scores", "have numbers that are written in different ways"}
	}
	if m.Guarantee != nil {
		return m.Guarantee.validate()
	}
	return nil
}

// validClasses returns an error for fewer than two classes and for a class that is repeated or not UTF-8.
func validClasses(classes []string) error {
	seen := make(map[string]bool, len(classes))
	for i, name := range classes {
		path := fmt.Sprintf("classes[%d]", i)
		switch {
		case !utf8.ValidString(name):
			return &ModelError{path, "is not valid UTF-8"}
		case seen[name]:
			return &ModelError{path, "the class is listed twice"}
		}
		seen[name] = true
	}
	if len(classes) < 2 {
		return &ModelError{"classes", "are fewer than two"}
	}
	return nil
}

// validateScore validates a score and compares its inputs with those of earlier scores. It adds its inputs to
// the map.
func (m *Classifier) validateScore(
	path string,
	score Model,
	inputs map[string]Column,
) error {
	if err := score.Validate(); err != nil {
		return prefixPath(path, err)
	}
	if o := score.Output(); o.Task != TaskRegression || o.Target != m.Target {
		return &ModelError{path, "is not a number for the target"}
	}
	if len(IntervalsOf(score)) > 0 {
		return &ModelError{path + ".interval", "is not for the scores of a classifier"}
	}
	for j, c := range score.Inputs() {
		if o, ok := inputs[c.Name]; ok &&
			(o.Type != c.Type || !slices.Equal(o.Categories, c.Categories) ||
				!slices.Equal(o.Values, c.Values)) {
			return &ModelError{fmt.Sprintf("%s.columns[%d]", path, j),
				"another score has this column with another type or other categories"}
		}
		inputs[c.Name] = c
	}
	return nil
}

// scoreCount returns the number of scores of a classifier with that many classes.
func scoreCount(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}
