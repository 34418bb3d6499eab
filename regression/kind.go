package regression

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

// modelKinds lists all kinds of models. To add one, write a file with its layout and add it here or to scoreKinds.
func modelKinds() []kind {
	var all []kind
	for _, k := range scoreKinds() {
		all = append(all, k)
	}
	return append(all, classifierKind{}, neighboursKind{})
}

// scoreKinds lists the kinds that can be a score of a classifier.
func scoreKinds() []scoreKind {
	return []scoreKind{linearKind(), clippedKind(), additiveKind(), kernelKind(), votesKind(),
		treeKind(), prototypesKind()}
}

// A kind implements one kind of model: its file layout and its evaluation.
type kind interface {
	name() string
	// matches reports whether m is of this kind.
	matches(m Model) bool
	// encode returns a pointer to the file struct of m.
	encode(m Model) (any, error)
	// decode reads a model file. It does not validate the model.
	decode(doc strictjson.Value, version string) (Model, error)
	// compile returns the program of a valid model. places maps columns to their positions in a record.
	compile(m Model, places func([]Column) []int) (program, error)
}

// A scoreKind can also be a score of a classifier. A score's file object has its kind and the members specific
// to the kind; all other members belong to the classifier.
type scoreKind interface {
	kind
	encodeScore(m Model) any
	decodeScore(object strictjson.Value, version, target string) (Model, error)
}

func kindNames[K kind](list []K) []string {
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = k.name()
	}
	return out
}

// findKind returns the first kind that fits, or the zero value.
func findKind[K kind](list []K, fits func(K) bool) K {
	for _, k := range list {
		if fits(k) {
			return k
		}
	}
	return *new(K)
}

func kindByName[K kind](list []K, name string) K {
	return findKind(list, func(k K) bool {
		return k.name() == name
	})
}

func kindOf[K kind](list []K, m Model) K {
	return findKind(list, func(k K) bool {
		return k.matches(m)
	})
}

// A linearBased model is a [Linear] or embeds one.
type linearBased interface {
	Model
	linearPart() *Linear
	newProgram(places []int) program
}

// A numberKind is a kind of model that predicts numbers. B is the layout of the members specific to the kind.
type numberKind[M linearBased, B any] struct {
	kind  string
	body  func(M) B
	model func(B) (M, error)
}

// numberFile is the file of a model that predicts numbers.
type numberFile[B any] struct {
	Format    string         `json:"format"`
	Kind      string         `json:"kind"`
	Task      string         `json:"task"`
	Target    string         `json:"target"`
	Body      B              `json:",inline"`
	Back      *BackTransform `json:"target_transform" format:"2?,3?" layout:"line"`
	Intervals []Interval     `json:"interval" format:"2?,3?"`
	Reading   *readingFile   `json:"reading" format:"3?" layout:"line"`
	Guarantee *Guarantee     `json:"guarantee" layout:"line"`
}

// scoreFile is a score in the file of a classifier.
type scoreFile[B any] struct {
	Kind string `json:"kind"`
	Body B      `json:",inline"`
}

func (k numberKind[M, B]) name() string {
	return k.kind
}

func (k numberKind[M, B]) matches(m Model) bool {
	_, ok := m.(M)
	return ok
}

func (k numberKind[M, B]) encode(m Model) (any, error) {
	l := m.(M).linearPart()
	f := &numberFile[B]{
		Format:    formatOf(m),
		Kind:      k.kind,
		Task:      TaskRegression,
		Target:    l.Target,
		Body:      k.body(m.(M)),
		Back:      l.Back,
		Reading:   readingOf(m),
		Guarantee: l.Guarantee,
	}
	if len(l.Intervals) > 0 {
		f.Intervals = l.Intervals
	}
	return f, nil
}

func (k numberKind[M, B]) decode(
	doc strictjson.Value,
	version string,
) (Model, error) {
	var f numberFile[B]
	if err := doc.Decode(&f, version); err != nil {
		return nil, err
	}
	if f.Task != TaskRegression {
		return nil, taskError(f.Task, TaskRegression)
	}
	m, err := k.model(f.Body)
	if err != nil {
		return nil, err
	}
	l := m.linearPart()
	l.Target = f.Target
	l.Back = f.Back
	l.Guarantee = f.Guarantee
	if len(f.Intervals) > 0 {
		l.Intervals = f.Intervals
	}
	return m, f.Reading.applyTo(m)
}

func taskError(is, want string) error {
	return &ModelError{"task", fmt.Sprintf("is %s, must be %s", strictjson.Quote(is), want)}
}

func (k numberKind[M, B]) compile(
	m Model,
	places func([]Column) []int,
) (program, error) {
	by := m.(M).newProgram(places(m.Inputs()))
	if l := m.(M).linearPart(); l.Back != nil {
		by = backProgram{by, l}
	}
	return by, nil
}

func (k numberKind[M, B]) encodeScore(m Model) any {
	return scoreFile[B]{k.kind, k.body(m.(M))}
}

func (k numberKind[M, B]) decodeScore(
	object strictjson.Value,
	version, target string,
) (Model, error) {
	var f scoreFile[B]
	if err := object.Decode(&f, version); err != nil {
		return nil, err
	}
	m, err := k.model(f.Body)
	if err != nil {
		return nil, err
	}
	m.linearPart().Target = target
	return m, nil
}
