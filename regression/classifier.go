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
// Two classes have one score: where it is above Cutoff the prediction is
// Classes[1], and Classes[0] elsewhere. More classes have one score each, the largest wins,
// and of equal ones the first. Scores are regression models on the same inputs;
// a model fitted to a target of -1 and +1 is one.
//
// A Classifier must not be changed while it is in use.
type Classifier struct {
	Target  string
	Classes []string // at least two, different
	Scores  []Model  // one for two classes, else one a class
	Cutoff  float64  // two classes only

	Probability *Probability // nil: scores have none; two classes only

	Guarantee *Guarantee // nil: trained without privacy
}

var _ Model = (*Classifier)(nil)

// Kind returns "classifier".
func (m *Classifier) Kind() string { return kindClassifier }

// Output describes the target.
func (m *Classifier) Output() Output {
	return Output{Task: TaskClassification, Target: m.Target, Classes: m.Classes, Probability: m.Probability}
}

// Sums returns those of the scores; nil unless every score is one.
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

// Inputs lists the columns of the scores, each once, in the order in which they
// first occur.
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
		return m.second(dst, dst), nil
	}
	return m.largest(slices.Clone(dst), dst, rows)
}

// second sets dst to 1 where a score is above the cutoff and to 0 elsewhere; both may be
// the same.
func (m *Classifier) second(dst, scores []float64) []float64 {
	for i, score := range scores {
		dst[i] = m.above(score)
	}
	return dst
}

// above returns the class, 1 or 0, of a score of two classes.
func (m *Classifier) above(score float64) float64 {
	if score > m.Cutoff {
		return 1
	}
	return 0
}

// largest completes best, the first score of each row, to the largest one, and sets dst
// to its class.
func (m *Classifier) largest(best, dst []float64, rows Rows) ([]float64, error) {
	clear(dst)
	var score []float64
	var err error
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

// Validate reports the first contradiction in the model as a [*ModelError]:
// fewer than two classes, a class listed twice or not UTF-8, another number of
// scores, a cutoff or probabilities that are not finite or for more than two
// classes, a score that contradicts itself, has intervals or is about another
// target, scores that read a column in different ways, a guarantee out of range.
func (m *Classifier) Validate() error {
	if !utf8.ValidString(m.Target) {
		return &ModelError{"target", "is not valid UTF-8"}
	}
	if err := validClasses(m.Classes); err != nil {
		return err
	}
	if want := scoresOf(len(m.Classes)); want != len(m.Scores) {
		return &ModelError{"scores", fmt.Sprintf("%d classes take %d scores, not %d", len(m.Classes), want, len(m.Scores))}
	}
	if !finite(m.Cutoff) || m.Cutoff != 0 && len(m.Classes) > 2 {
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
	if slices.ContainsFunc(columns, func(c *Column) bool { return !c.Reading.sameNumbers(&columns[0].Reading) }) {
		return &ModelError{"scores", "have numbers that are written in different ways"}
	}
	if m.Guarantee != nil {
		return m.Guarantee.validate()
	}
	return nil
}

// validClasses refuses fewer than two classes, and one that is listed twice or is not UTF-8.
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

// validateScore checks a score by itself and against the inputs of those before
// it, to which it adds its own.
func (m *Classifier) validateScore(path string, score Model, inputs map[string]Column) error {
	if err := score.Validate(); err != nil {
		return within(path, err)
	}
	if o := score.Output(); o.Task != TaskRegression || o.Target != m.Target {
		return &ModelError{path, "is not a number for the target"}
	}
	if len(IntervalsOf(score)) > 0 {
		return &ModelError{path + ".interval", "is not for the scores of a classifier"}
	}
	for j, c := range score.Inputs() {
		if o, ok := inputs[c.Name]; ok && (o.Type != c.Type || !slices.Equal(o.Categories, c.Categories) || !slices.Equal(o.Values, c.Values)) {
			return &ModelError{fmt.Sprintf("%s.columns[%d]", path, j), "another score has this column with another type or other categories"}
		}
		inputs[c.Name] = c
	}
	return nil
}

// scoresOf returns how many scores a number of classes takes.
func scoresOf(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}
