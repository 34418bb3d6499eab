package selection

import (
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/method"
)

// A Method describes a way to choose features to those who name it: recipes, command
// lines, reports, documents.
type Method struct {
	// Name is the method's name in a recipe.
	Name string
	// Summary says in a few words what it does.
	Summary string
	// Private reports whether it releases something, and so spends a share of the budget.
	Private bool
	// NeedsClasses reports whether it is for classification only.
	NeedsClasses bool
	// TwoClasses reports whether it takes two classes only: it ranks by one number.
	TwoClasses bool
	// Keys are what it reads of the section of a recipe, beside k and share.
	Keys []method.Key
	// New returns the selector for some settings, whose values are checked. Keys without a
	// value take their defaults.
	New func(Settings) Selector
}

// Settings are what a recipe says of a selector. Each method reads its own.
type Settings struct {
	K             int     // 0 leaves it to a method that can choose it
	Share         float64 // of the budget, in (0, 1)
	method.Values         // of its keys
}

// ratio is how many times what the selection spends is left to the model.
func (s Settings) ratio() float64 {
	if !(s.Share > 0) {
		return 0
	}
	return (1 - s.Share) / s.Share
}

// Methods lists the selectors of this package, in the order in which recipes and messages
// have them. What these say of selectors, and [Own], is read from here: a new one is an entry.
func Methods() []Method {
	return []Method{
		{Name: None{}.Name(), Summary: "every column", New: func(Settings) Selector { return None{} }},
		{Name: Fixed{}.Name(), Summary: "the columns that features lists", Keys: keys("features"),
			New: func(s Settings) Selector { return Fixed{s.Names("features")} }},
		{Name: Kendall{}.Name(), Summary: "columns of strong rank correlation with the target", Private: true, TwoClasses: true,
			New: func(s Settings) Selector { return Kendall{K: s.K} }},
		{Name: SubLasso{}.Name(), Summary: "columns that lassos on small parts of the records vote for", Private: true, TwoClasses: true,
			Keys: keys("lambda", "buckets"),
			New: func(s Settings) Selector {
				return SubLasso{K: s.K, Lambda: s.Number("lambda"), Buckets: s.Int("buckets")}
			}},
		{Name: SIS{}.Name(), Summary: "columns of strong marginal dependence on the target", Private: true, TwoClasses: true,
			Keys: keys("score", "topk"),
			New: func(s Settings) Selector {
				return SIS{K: s.K, Score: SISScore(s.Word("score")), TopK: topK(s.Word("topk"))}
			}},
		{Name: DPFSDR{}.Name(), Summary: "columns that separate the classes and repeat no other one", Private: true, NeedsClasses: true,
			Keys: keys("sizes", "runs"),
			New: func(s Settings) Selector {
				return DPFSDR{K: s.K, Exact: s.K > 0, Model: s.ratio(), Sizes: s.Wholes("sizes")}
			}},
		{Name: DPFS{}.Name(), Summary: "columns of high F-score", Private: true, NeedsClasses: true,
			Keys: keys("sizes", "runs"),
			New:  func(s Settings) Selector { return DPFS{K: s.K, Exact: s.K > 0, Sizes: s.Wholes("sizes")} }},
		{Name: CRFS{}.Name(), Summary: "columns of high F-score, without correlated ones", Private: true, NeedsClasses: true,
			Keys: keys("sizes", "runs"),
			New:  func(s Settings) Selector { return CRFS{K: s.K, Exact: s.K > 0, Sizes: s.Wholes("sizes")} }},
	}
}

// topK returns the form of a checked name, the default for "".
func topK(name string) mechanism.TopKForm {
	if name == "" {
		return mechanism.OneShot
	}
	form, err := mechanism.ParseTopKForm(name)
	if err != nil {
		panic(err) // a mistake in the caller's code
	}
	return form
}

// Has reports whether a method reads a key.
func (m Method) Has(key string) bool {
	return slices.ContainsFunc(m.Keys, func(k method.Key) bool { return k.Name == key })
}

// MethodNamed returns the method of that name.
func MethodNamed(name string) (Method, bool) {
	list := Methods()
	i := slices.IndexFunc(list, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return Method{}, false
	}
	return list[i], true
}

// Own reports whether a selector is one of this package, whose choice is private or a
// public fact. Nobody has checked what another does with the records that it is handed,
// also if it holds one of these.
func Own(s Selector) bool {
	return slices.ContainsFunc(Methods(), func(m Method) bool { return reflect.TypeOf(m.New(Settings{})) == reflect.TypeOf(s) })
}

// A Chooser is a selector that can be told how many features to choose.
type Chooser interface {
	Selector
	// Told returns how many; 0 if it was not told.
	Told() int
}

// A Sparer is a selector for which there may be nothing to choose.
type Sparer interface {
	Selector
	// Spares reports whether it keeps all of so many candidates.
	Spares(candidates int) bool
}

// Told returns x.K.
func (x Kendall) Told() int { return x.K }

// Told returns x.K.
func (x SubLasso) Told() int { return x.K }

// Told returns x.K.
func (x SIS) Told() int { return x.K }

// Told returns x.K.
func (x DPFSDR) Told() int { return x.K }

// Told returns x.K.
func (x DPFS) Told() int { return x.K }

// Told returns x.K.
func (x CRFS) Told() int { return x.K }

// Spares reports whether there are no more than K candidates.
func (x SIS) Spares(candidates int) bool { return candidates <= x.K }

// Spares reports whether there are no more than K candidates, of which exactly so many
// are chosen.
func (x DPFSDR) Spares(candidates int) bool { return spares(x.K, x.Exact, candidates) }

// Spares is [DPFSDR.Spares].
func (x DPFS) Spares(candidates int) bool { return spares(x.K, x.Exact, candidates) }

// Spares is [DPFSDR.Spares].
func (x CRFS) Spares(candidates int) bool { return spares(x.K, x.Exact, candidates) }

func spares(k int, exact bool, candidates int) bool {
	if !exact {
		k = 0
	}
	return candidates <= k
}
