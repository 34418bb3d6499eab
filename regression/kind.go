package regression

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
	"github.com/dptrain/dptrain/internal/train/rescale"
)

// kinds lists the kinds of models. A new one is a file with its layout, and a line here or
// in scoreKinds.
func kinds() []kind {
	var all []kind
	for _, k := range scoreKinds() {
		all = append(all, k)
	}
	return append(all, classifierKind{}, neighboursKind{})
}

// scoreKinds lists the kinds that a score of a classifier may have.
func scoreKinds() []scoreKind {
	return []scoreKind{linearKind(), clippedKind(), additiveKind(), kernelKind(), votesKind(), treeKind(), prototypesKind()}
}

// A kind is what this package knows of one kind of model.
type kind interface {
	name() string
	// is reports whether m is of this very kind.
	is(m Model) bool
	// file returns a pointer to the struct that is the file of m.
	file(m Model) (any, error)
	// decode reads a model file. The model is not validated yet.
	decode(doc strictjson.Value, version string) (Model, error)
	// compile returns the program of a valid model. places returns the places of columns in a
	// record.
	compile(m Model, places func([]Column) []int) (program, error)
}

// A scoreKind is a kind that a score of a classifier may have. There it is written with the
// kind and what only the kind has; the rest is the classifier's.
type scoreKind interface {
	kind
	score(m Model) any
	decodeScore(object strictjson.Value, version, target string) (Model, error)
}

func names[K kind](list []K) []string {
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = k.name()
	}
	return out
}

// find returns the kind that fits; its zero value if there is none.
func find[K kind](list []K, fits func(K) bool) K {
	for _, k := range list {
		if fits(k) {
			return k
		}
	}
	return *new(K)
}

func named[K kind](list []K, name string) K {
	return find(list, func(k K) bool { return k.name() == name })
}

func kindOf[K kind](list []K, m Model) K { return find(list, func(k K) bool { return k.is(m) }) }

// A linearBased model is a [Linear] or embeds one.
type linearBased interface {
	Model
	linear() *Linear
	program(places []int) program
}

// A numberKind is a kind of model that predicts numbers. B is the layout of what only this
// kind has.
type numberKind[M linearBased, B any] struct {
	kind  string
	body  func(M) B
	model func(B) (M, error)
}

// numberFile is the file of a model that predicts numbers.
type numberFile[B any] struct {
	Format    string        `json:"format"`
	Kind      string        `json:"kind"`
	Task      string        `json:"task"`
	Target    string        `json:"target"`
	Body      B             `json:",inline"`
	Back      *rescale.Back `json:"target_transform" format:"2?,3?" layout:"line"`
	Intervals []Interval    `json:"interval" format:"2?,3?"`
	Reading   *readingFile  `json:"reading" format:"3?" layout:"line"`
	Guarantee *Guarantee    `json:"guarantee" layout:"line"`
}

// scoreFile is a score in the file of a classifier.
type scoreFile[B any] struct {
	Kind string `json:"kind"`
	Body B      `json:",inline"`
}

func (k numberKind[M, B]) name() string { return k.kind }

func (k numberKind[M, B]) is(m Model) bool { _, ok := m.(M); return ok }

func (k numberKind[M, B]) file(m Model) (any, error) {
	l := m.(M).linear()
	f := &numberFile[B]{Format: formatOf(m), Kind: k.kind, Task: TaskRegression, Target: l.Target, Body: k.body(m.(M)), Back: l.Back, Reading: readingOf(m), Guarantee: l.Guarantee}
	if len(l.Intervals) > 0 {
		f.Intervals = l.Intervals
	}
	return f, nil
}

func (k numberKind[M, B]) decode(doc strictjson.Value, version string) (Model, error) {
	var f numberFile[B]
	if err := doc.Decode(&f, version); err != nil {
		return nil, err
	}
	if f.Task != TaskRegression {
		return nil, otherTask(f.Task, TaskRegression)
	}
	m, err := k.model(f.Body)
	if err != nil {
		return nil, err
	}
	l := m.linear()
	l.Target, l.Back, l.Guarantee = f.Target, f.Back, f.Guarantee
	if len(f.Intervals) > 0 {
		l.Intervals = f.Intervals
	}
	return m, f.Reading.apply(m)
}

func otherTask(is, want string) error {
	return &ModelError{"task", fmt.Sprintf("is %s, must be %s", strictjson.Quote(is), want)}
}

func (k numberKind[M, B]) compile(m Model, places func([]Column) []int) (program, error) {
	by := m.(M).program(places(m.Inputs()))
	if l := m.(M).linear(); l.Back != nil {
		by = backProgram{by, l}
	}
	return by, nil
}

func (k numberKind[M, B]) score(m Model) any { return scoreFile[B]{k.kind, k.body(m.(M))} }

func (k numberKind[M, B]) decodeScore(object strictjson.Value, version, target string) (Model, error) {
	var f scoreFile[B]
	if err := object.Decode(&f, version); err != nil {
		return nil, err
	}
	m, err := k.model(f.Body)
	if err != nil {
		return nil, err
	}
	m.linear().Target = target
	return m, nil
}
