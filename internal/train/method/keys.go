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
	// Summary says in a few words what it does.
	Summary string
	// ClassesFrom is the least number of classes that it reads by itself: 2 for a
	// classifier, more for a trainer of numbers that has a way of its own with many
	// classes, 0 for one that has none. A trainer of numbers tells other classes apart one
	// against the rest.
	ClassesFrom int
	// MaxScores is the largest number of scores that its classifier may have: 1 stands
	// for two classes only, 0 for any number.
	MaxScores int
	// Relations are those that it supports.
	Relations []budget.Relation
	// Abstains reports whether its trainer is an [Abstainer].
	Abstains bool
	// AllRecords reports whether it is handed records without a target as well and
	// leaves them out by itself.
	AllRecords bool
	// NoIndicator says why it takes no indicator of missing cells; empty if it does.
	NoIndicator string
	// Keys are what it reads of its section of a recipe.
	Keys []Key
	// Check returns a key whose value does not fit those of other keys, what is wrong with it, to be read after the name of
	// the key, and what to do about it; "" for nothing. Every value by itself is in its range. nil stands for no such rule.
	Check func(Values) (key, message, hint string)
	// Statistics are those of its package that it adds up over records, empty, so that workers
	// of an engine know them.
	Statistics []mechanism.Statistic
	// New returns the trainer for checked values. Keys without a value take their
	// defaults.
	New func(Values) Trainer
}

// Tasks lists the tasks that a method trains for, by their names.
func (m Method) Tasks() []string {
	if m.ClassesOnly() {
		return []string{regression.TaskClassification}
	}
	return []string{regression.TaskRegression, regression.TaskClassification}
}

// ClassesOnly reports whether a method is for classification only.
func (m Method) ClassesOnly() bool { return m.ClassesFrom == 2 }

// TwoClasses reports whether a method takes two classes only.
func (m Method) TwoClasses() bool { return m.MaxScores == 1 }

// Supports reports whether a method runs under a relation.
func (m Method) Supports(r budget.Relation) bool { return slices.Contains(m.Relations, r) }

// Key returns the key of that name.
func (m Method) Key(name string) (Key, bool) {
	i := slices.IndexFunc(m.Keys, func(k Key) bool { return k.Name == name })
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
	Word               // a word of a list: string
	Wholes             // increasing whole numbers: []int
	Names              // names of columns: []string
	Prices             // a number of some columns, by name: map[string]float64
	Flag               // true or false: bool
)

// A Key is an entry of the section of a recipe that a method reads. The zero value of its
// kind stands for no value: 0, "" and nil.
type Key struct {
	Name string
	Kind Kind
	// Text and Rest describe the key in one sentence or more, without the full stop at the
	// end. Between the two stand the methods that have the key. Where several methods have
	// a word, Own says what it is to this one and there is no Rest.
	Text, Rest, Own string
	// Doc is what the reference says beyond Text: Markdown, full sentences.
	Doc string
	// Absent says in a few words what holds without a value; empty for the first word.
	Absent string
	// Words are what a word may be.
	Words []string
	// Min and Max bound a number, and those of Prices; Above and Below leave the bound itself out. OpenEnded
	// says that Max is a limit of sanity only: messages name Min alone, and TooSmall, if
	// there is any, says what is wrong with less.
	Min, Max                float64
	Above, Below, OpenEnded bool
	TooSmall                string
	// Hint says what to do about a wrong value.
	Hint string
	// Least is the least number of items of a list. Few names it in a message, FewHint
	// says what to do about fewer.
	Least        int
	Few, FewHint string
	// Required says what a method that needs the key is missing; empty if it does not.
	Required string
	// Needs is the key without which this one has no effect, Excludes the one that must
	// not stand beside it.
	Needs, Excludes Link
	// Common says that every method which does something has the key, so that descriptions
	// list none. Remedy says what to do beside another one.
	Common bool
	Remedy string
	// Default is the number that a schema names as the default; 0 for none.
	Default float64
	// HasZero reports whether 0 is a value like any other number of the key. The key then has no value only where
	// [Values] do not contain it.
	HasZero bool
	// Instead says what to do with a method that does not have the key, beside using one
	// that does; empty for removing the key.
	Instead string
	// Check says what is wrong with a word under a relation, and what to do about it; nil
	// or "" for nothing.
	Check func(word string, r budget.Relation) (message, hint string)
}

// A Link ties a key to another one of its section. Words, if there are any, are the values of the other key with which
// this one has an effect. Hint says what to do if the other key is missing or in the way. The zero value ties to none.
type Link struct {
	Key, Hint string
	Words     []string
}

// Named returns the other key of a section with its words, as messages name it.
func (l Link) Named(section string) string {
	name := section + "." + l.Key
	if len(l.Words) == 0 {
		return name
	}
	return name + ": " + strings.Join(l.Words, " or ")
}

// Met reports whether the other key has one of the words; true for a link without words.
func (l Link) Met(v Values) bool {
	return len(l.Words) == 0 || slices.Contains(l.Words, v.Word(l.Key))
}

// Holds reports whether a number lies within the bounds.
func (k Key) Holds(x float64) bool {
	return x >= k.Min && x <= k.Max && !(k.Above && x == k.Min) && !(k.Below && x == k.Max)
}

// Wrong says what is wrong with a number of the key at path, and what to do about it; "" for
// nothing. That one is too large for a key without an end is for a schema to say.
func (k Key) Wrong(path string, x float64) (message, hint string) {
	switch {
	case k.OpenEnded && !(x >= k.Min):
		reason := ""
		if k.TooSmall != "" {
			reason = ": " + k.TooSmall
		}
		return path + " must be at least " + k.Written(k.Min) + ", not " + k.Written(x) + reason, k.Hint
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

// Word returns the value of a key that is a word, "" without one.
func (v Values) Word(key string) string { return valueOf[string](v, key) }

// Int returns the value of a key that is a whole number, 0 without one.
func (v Values) Int(key string) int { return valueOf[int](v, key) }

// Has reports whether a key has a value, which may be 0.
func (v Values) Has(key string) bool {
	_, ok := v[key]
	return ok
}

// Number returns the value of a key that is a [Number], 0 without one.
func (v Values) Number(key string) float64 { return valueOf[float64](v, key) }

// Wholes returns the value of a key that is a list of whole numbers, nil without one.
func (v Values) Wholes(key string) []int { return valueOf[[]int](v, key) }

// Names returns the value of a key that is a list of names, nil without one.
func (v Values) Names(key string) []string { return valueOf[[]string](v, key) }

// MaxCost bounds what a feature may cost.
const MaxCost = 1e9

// CostsKey is the key costs, of the methods that pay for features.
func CostsKey() Key {
	return Key{
		Name: "costs", Kind: Prices, Text: "What features cost, by name", Rest: "; every other feature costs 1", Absent: "1 each",
		Min: 0, Max: MaxCost, Hint: "a feature that is free costs 0",
		Doc: "For example `{mri: 200, age: 0}`. A category column is one feature.",
	}
}

// Prices returns the value of a key that has a number for some columns, nil without one.
func (v Values) Prices(key string) map[string]float64 { return valueOf[map[string]float64](v, key) }

// Flag returns the value of a key that is true or false, false without one.
func (v Values) Flag(key string) bool { return valueOf[bool](v, key) }

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
func EveryRecord() []budget.Relation { return []budget.Relation{budget.AddRemove, budget.Substitute} }

// EveryRelation are all relations: those of a method that makes use of public columns.
func EveryRelation() []budget.Relation {
	return append(EveryRecord(), budget.SubstitutePrivateColumns)
}
