package regression

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

// classifierKind is the kind of a [Classifier].
type classifierKind struct{}

// classifierFile is the file layout of a classifier. S is the layout of a score: a struct for writing, and an
// undecoded value for reading, because the kind of a score is not known until it is decoded.
type classifierFile[S any] struct {
	Format      string       `json:"format"`
	Kind        string       `json:"kind"`
	Task        string       `json:"task"`
	Target      string       `json:"target"`
	Classes     []string     `json:"classes"`
	Cutoff      float64      `json:"cutoff"`
	Scores      []S          `json:"scores" layout:"open"`
	Probability *Probability `json:"probability,omitempty" format:"2?,3?" layout:"line"`
	Reading     *readingFile `json:"reading" format:"3?" layout:"line"`
	Guarantee   *Guarantee   `json:"guarantee" layout:"line"`
}

func (classifierKind) name() string {
	return kindClassifier
}

func (classifierKind) matches(m Model) bool {
	_, ok := m.(*Classifier)
	return ok
}

func (classifierKind) encode(m Model) (any, error) {
	c := m.(*Classifier)
	f := &classifierFile[any]{
		Format:      formatOf(m),
		Kind:        kindClassifier,
		Task:        TaskClassification,
		Target:      c.Target,
		Classes:     c.Classes,
		Cutoff:      c.Cutoff,
		Probability: c.Probability,
		Reading:     readingOf(m),
		Guarantee:   c.Guarantee,
	}
	for _, score := range c.Scores {
		k := kindOf(scoreKinds(), score)
		if k == nil {
			return nil, ErrModelKind
		}
		f.Scores = append(f.Scores, k.encodeScore(score))
	}
	return f, nil
}

func (classifierKind) decode(
	doc strictjson.Value,
	version string,
) (Model, error) {
	var f classifierFile[strictjson.Value]
	if err := doc.Decode(&f, version); err != nil {
		return nil, err
	}
	if f.Task != TaskClassification {
		return nil, taskError(f.Task, TaskClassification)
	}
	c := &Classifier{
		Target:      f.Target,
		Classes:     nilIfEmpty(f.Classes),
		Cutoff:      f.Cutoff,
		Probability: f.Probability,
		Guarantee:   f.Guarantee,
	}
	for i, object := range f.Scores {
		score, err := decodeScore(object, version, f.Target)
		if err != nil {
			return nil, prefixPath(fmt.Sprintf("scores[%d]", i), err)
		}
		c.Scores = append(c.Scores, score)
	}
	return c, f.Reading.applyTo(c)
}

func (classifierKind) compile(
	m Model,
	places func([]Column) []int,
) (program, error) {
	p := &classProgram{model: m.(*Classifier)}
	for _, score := range p.model.Scores {
		k := kindOf(scoreKinds(), score)
		if k == nil {
			return nil, ErrModelKind
		}
		s, err := k.compile(score, places)
		if err != nil {
			return nil, err
		}
		p.scores = append(p.scores, s)
	}
	return p, nil
}

// A classProgram predicts the index of a class.
type classProgram struct {
	model  *Classifier
	scores []program
}

func (p *classProgram) evaluate(record []value) float64 {
	best := p.scores[0].evaluate(record)
	class := 0
	if len(p.scores) == 1 {
		return p.model.classAbove(best)
	}
	for c, s := range p.scores[1:] {
		if x := s.evaluate(record); x > best {
			best = x
			class = c + 1
		}
	}
	return float64(class)
}

// scoresAreLogarithms reports whether all scores are log probabilities up to a constant.
func (p *classProgram) scoresAreLogarithms() bool {
	for _, s := range p.model.Scores {
		if s.Kind() != kindPrototypes {
			return false
		}
	}
	return true
}

// A chanceProgram predicts the probability of the second of two classes.
type chanceProgram struct{ *classProgram }

func (p chanceProgram) evaluate(record []value) float64 {
	return p.model.Probability.Evaluate(p.scores[0].evaluate(record))
}

func decodeScore(
	object strictjson.Value,
	version, target string,
) (Model, error) {
	name, err := knownMember(object, "kind", kindNames(scoreKinds())...)
	if err != nil {
		return nil, err
	}
	return kindByName(scoreKinds(), name).decodeScore(object, version, target)
}
