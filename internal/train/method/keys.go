package method

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

// ErrForm is wrapped by the error of a plan with a form that its method does not have.
var ErrForm = errors.New("unknown form of a method")

// A Method describes a way to train a model to those who name it: recipes, command
// lines, reports, documents. The zero value of its trainer has the defaults.
type Method struct {
	// Name is the method's name in a recipe.
	Name string
	// Summary is a short description.
	Summary string
	// ClassesFrom is the minimum number of classes that the method supports itself: 2 for a classifier, more
	// for a numeric trainer with a separate algorithm for many classes, 0 for one without. A numeric trainer
	// handles other numbers of classes by one-versus-rest.
	ClassesFrom int
	// MaxScores is the maximum number of scores of its classifier: 1 for two classes only, 0 for any number.
	MaxScores int
	// Relations are those that it supports.
	Relations []budget.Relation
	// PublicFeatures reports whether it makes use of public features if the target is private. It is then handed
	// records without a target as well: which records have one is private, so exact statistics of their features
	// are statistics of all records.
	PublicFeatures bool
	// Abstains reports whether its trainer is an [Abstainer].
	Abstains bool
	// AllRecords reports whether it is handed records without a target as well and
	// leaves them out by itself.
	AllRecords bool
	// NoIndicator is the reason why the method does not support missing-cell indicators; empty if it does.
	NoIndicator string
	// Keys are the keys of its recipe section.
	Keys []Key
	// Check validates keys against each other; each value is valid by itself. It returns the offending key, the
	// problem, phrased to follow the name of the key, and the remedy, or empty strings. It may be nil.
	Check func(Values) (key, message, hint string)
	// Statistics lists an empty value of each statistic of its package, so that workers of an engine can decode
	// them.
	Statistics []mechanism.Statistic
	// New returns the trainer for checked values. Keys without a value take their
	// defaults.
	New func(Values) Trainer
	// Is reports whether a trainer is of the type that New makes: [Is] of that type.
	Is func(Trainer) bool
	// FromSettings returns the trainer for a value of the public settings type of the method, and whether the value
	// is of that type: [FromSettings] of a conversion.
	FromSettings func(value any) (Trainer, bool)
}

// FromSettings returns a function that converts values of type S and rejects all others.
func FromSettings[S any](convert func(S) Trainer) func(value any) (Trainer, bool) {
	return func(value any) (Trainer, bool) {
		x, ok := value.(S)
		if !ok {
			return nil, false
		}
		return convert(x), true
	}
}

// HasType reports whether a trainer is a T itself; one that embeds a T is not.
func HasType[T Trainer](t Trainer) bool {
	_, ok := t.(T)
	return ok
}

// Tasks lists the tasks that a method trains for, by their names.
func (m Method) Tasks() []string {
	if m.ClassesOnly() {
		return []string{regression.TaskClassification}
	}
	return []string{regression.TaskRegression, regression.TaskClassification}
}

// ClassesOnly reports whether a method is for classification only.
func (m Method) ClassesOnly() bool {
	return m.ClassesFrom == 2
}

// TwoClasses reports whether a method takes two classes only.
func (m Method) TwoClasses() bool {
	return m.MaxScores == 1
}

// Supports reports whether a method runs under a relation.
func (m Method) Supports(r budget.Relation) bool {
	return slices.Contains(m.Relations, r)
}

// Key returns the key of that name.
func (m Method) Key(name string) (Key, bool) {
	i := slices.IndexFunc(m.Keys, func(k Key) bool {
		return k.Name == name
	})
	if i < 0 {
		return Key{}, false
	}
	return m.Keys[i], true
}

// A Kind is the type of the value of a [Key].
type Kind int

// The kinds, each with its type in [Values].
const (
	Whole  Kind = iota // a whole number: int
	Number             // a number: float64
	Word               // text from a list: string
	Wholes             // increasing whole numbers: []int
	Names              // names of columns: []string
	Prices             // a number of some columns, by name: map[string]float64
	Flag               // true or false: bool
)

// A Key is an entry of the recipe section of a method. The zero value of its kind means that it is not set: 0,
// "" and nil.
type Key struct {
	Name string
	Kind Kind
	// Text and Rest describe the key in one or more sentences, without the final full stop. The names of the
	// methods that have the key are inserted between them. If several methods share a key, Own describes it for
	// this method and Rest is empty.
	Text, Rest, Own string
	// Doc is the additional description in the reference: Markdown, full sentences.
	Doc string
	// Absent describes in a few words the effect of omitting the key; empty if it means the first of Words.
	Absent string
	// Words are the permitted values of a text key.
	Words []string
	// Min and Max bound a number, and the numbers of Prices; Above and Below exclude the bound itself.
	// OpenEnded marks Max as a sanity limit: messages name Min only, and TooSmall, if set, describes the
	// problem of smaller values.
	Min, Max  float64
	Above     bool
	Below     bool
	OpenEnded bool
	TooSmall  string
	// Hint is the remedy for an invalid value.
	Hint string
	// Least is the minimum number of items of a list. Few names it in a message, FewHint is the remedy for
	// fewer items.
	Least   int
	Few     string
	FewHint string
	// Required is the message for a method that needs the key if it is missing; empty if the key is optional.
	Required string
	// Needs is the key without which this one has no effect, Excludes the one that must not be set together
	// with it.
	Needs, Excludes Link
	// Common marks a key that all methods have, so that descriptions list no methods. Remedy is the remedy if
	// it is set for another method.
	Common bool
	Remedy string
	// Default is the default number in the schema; 0 if it has no default.
	Default float64
	// HasZero reports whether 0 is a value like any other number of the key. The key then has no value only where
	// [Values] do not contain it.
	HasZero bool
	// Instead is the remedy for a method without the key, other than using a method that has it; empty for
	// removing the key.
	Instead string
	// Check validates a text value under a relation. It returns the problem and the remedy, or empty strings.
	// It may be nil.
	Check func(word string, r budget.Relation) (message, hint string)
}

// A Link refers to another key of the section. Words, if set, are the values of the other key with which this
// one has an effect. Hint is the remedy if the other key is missing or conflicts. The zero value refers to no
// key.
type Link struct {
	Key   string
	Hint  string
	Words []string
}

// Named returns the other key of a section with its values, as messages name it.
func (l Link) Named(section string) string {
	name := section + "." + l.Key
	if len(l.Words) == 0 {
		return name
	}
	return name + ": " + strings.Join(l.Words, " or ")
}

// Met reports whether the other key has one of the values; it is true for a link without values.
func (l Link) Met(v Values) bool {
	return len(l.Words) == 0 || slices.Contains(l.Words, v.Word(l.Key))
}

// Holds reports whether a number is within the bounds.
func (k Key) Holds(x float64) bool {
	return x >= k.Min && x <= k.Max && !(k.Above && x == k.Min) && !(k.Below && x == k.Max)
}

// Wrong returns the problem of a number of the key at path, and the remedy, or two empty strings. The
// upper bound of a key that is OpenEnded is not checked here.
func (k Key) Wrong(path string, x float64) (message, hint string) {
	switch {
	case k.OpenEnded && !(x >= k.Min):
		reason := ""
		if k.TooSmall != "" {
			reason = ": " + k.TooSmall
		}
		return path + " must be at least " + k.Written(k.Min) + ", not " + k.Written(x) + reason,
			k.Hint
	case !k.OpenEnded && !k.Holds(x):
		return path + " must be " + k.Bounds() + ", not " + k.Written(x), k.Hint
	}
	return "", ""
}

// Bounds names the numbers that a key may have.
func (k Key) Bounds() string {
	low, high := "at least", "at most"
	if k.Above {
		low = "above"
	}
	if k.Below {
		high = "below"
	}
	switch {
	case k.OpenEnded:
		return low + " " + k.Written(k.Min)
	case !k.Above && !k.Below:
		return "from " + k.Written(k.Min) + " to " + k.Written(k.Max)
	}
	return low + " " + k.Written(k.Min) + " and " + high + " " + k.Written(k.Max)
}

// Written writes a number of a key, a whole one with all its digits.
func (k Key) Written(x float64) string {
	if k.Kind == Number || k.Kind == Prices {
		return fault.Number(x)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Values are the values of keys by name, each of the type of its [Kind].
type Values map[string]any

// Word returns the value of a text key, or "" if it is not set.
func (v Values) Word(key string) string {
	return valueOf[string](v, key)
}

// Int returns the value of a whole-number key, or 0 if it is not set.
func (v Values) Int(key string) int {
	return valueOf[int](v, key)
}

// Has reports whether a key has a value, which may be 0.
func (v Values) Has(key string) bool {
	_, ok := v[key]
	return ok
}

// Number returns the value of a key of type [Number], or 0 if it is not set.
func (v Values) Number(key string) float64 {
	return valueOf[float64](v, key)
}

// Wholes returns the value of a key that is a list of whole numbers, nil without one.
func (v Values) Wholes(key string) []int {
	return valueOf[[]int](v, key)
}

// Names returns the value of a key that is a list of names, nil without one.
func (v Values) Names(key string) []string {
	return valueOf[[]string](v, key)
}

// MaxCost is the maximum cost of a feature.
const MaxCost = 1e9

// CostsKey is the key costs, of the methods that pay for features.
func CostsKey() Key {
	return Key{
		Name:   "costs",
		Kind:   Prices,
		Text:   "Costs of features, by name",
		Rest:   "; other features cost 1",
		Absent: "1 each",
		Min:    0,
		Max:    MaxCost,
		Hint:   "a free feature costs 0",
		Doc:    "For example `{mri: 200, age: 0}`. A category column is one feature.",
	}
}

// Prices returns the value of a key that has a number for some columns, nil without one.
func (v Values) Prices(key string) map[string]float64 {
	return valueOf[map[string]float64](v, key)
}

// Flag returns the value of a key that is true or false, false without one.
func (v Values) Flag(key string) bool {
	return valueOf[bool](v, key)
}

func valueOf[T any](v Values, key string) T {
	x, ok := v[key].(T)
	if y, there := v[key]; there && !ok {
		panic(fmt.Sprintf("method: the value of %s is a %T", key, y)) // a mistake in the caller's code
	}
	return x
}

// A Former is a trainer of a method that has forms.
type Former interface {
	Trainer
	// FormName returns the form by its name in a recipe, "" for the default.
	FormName() string
}

// A Purer is a trainer with a form that a run without a delta can have.
type Purer interface {
	Trainer
	// PureForm returns the trainer for a run whose delta is 0: with pure noise where no form is named, and otherwise in the
	// form that is named, which may not be pure.
	PureForm() Trainer
}

// FormOf returns the form of a trainer by its name, "" for the default or without forms.
func FormOf(t Trainer) string {
	if f, ok := t.(Former); ok {
		return f.FormName()
	}
	return ""
}

// EveryRecord are the relations that protect whole records.
func EveryRecord() []budget.Relation {
	return []budget.Relation{budget.AddRemove, budget.Substitute}
}

// EveryRelation are all relations: those of a method that makes use of public columns.
func EveryRelation() []budget.Relation {
	return append(EveryRecord(), budget.SubstitutePrivateColumns)
}
