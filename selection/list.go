package selection

import (
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/mechanism"
)

// A Method describes a way to choose features to those who name it: recipes, command
// lines, reports, documents.
type Method struct {
	// Name is the method's name in a recipe.
	Name string
	// Private reports whether it releases something, and so spends a share of the budget.
	Private bool
	// NeedsClasses reports whether it is for classification only.
	NeedsClasses bool
	// TwoClasses reports whether it takes two classes only: it ranks by one number.
	TwoClasses bool
	// Keys are the keys of the section of a recipe that it reads, beside k and share.
	Keys []string
	// New returns the selector for some settings.
	New func(Settings) Selector
}

// Settings are what a recipe says of a selector. Each method reads its own.
type Settings struct {
	K        int     // 0 leaves it to a method that can choose it
	Share    float64 // of the budget, in (0, 1)
	Score    SISScore
	TopK     mechanism.TopKForm
	Lambda   float64
	Buckets  int
	Sizes    []int
	Features []string
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
	sizes := []string{"sizes", "runs"}
	return []Method{
		{Name: None{}.Name(), New: func(Settings) Selector { return None{} }},
		{Name: Fixed{}.Name(), Keys: []string{"features"}, New: func(s Settings) Selector { return Fixed{s.Features} }},
		{Name: Kendall{}.Name(), Private: true, TwoClasses: true, New: func(s Settings) Selector { return Kendall{K: s.K} }},
		{Name: SubLasso{}.Name(), Private: true, TwoClasses: true, Keys: []string{"lambda", "buckets"},
			New: func(s Settings) Selector { return SubLasso{K: s.K, Lambda: s.Lambda, Buckets: s.Buckets} }},
		{Name: SIS{}.Name(), Private: true, TwoClasses: true, Keys: []string{"score", "topk"},
			New: func(s Settings) Selector { return SIS{K: s.K, Score: s.Score, TopK: s.TopK} }},
		{Name: DPFSDR{}.Name(), Private: true, NeedsClasses: true, Keys: sizes,
			New: func(s Settings) Selector { return DPFSDR{K: s.K, Exact: s.K > 0, Model: s.ratio(), Sizes: s.Sizes} }},
		{Name: DPFS{}.Name(), Private: true, NeedsClasses: true, Keys: sizes,
			New: func(s Settings) Selector { return DPFS{K: s.K, Exact: s.K > 0, Sizes: s.Sizes} }},
		{Name: CRFS{}.Name(), Private: true, NeedsClasses: true, Keys: sizes,
			New: func(s Settings) Selector { return CRFS{K: s.K, Exact: s.K > 0, Sizes: s.Sizes} }},
	}
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

// WithKey lists the names of the methods that read a key.
func WithKey(key string) []string {
	var out []string
	for _, m := range Methods() {
		if slices.Contains(m.Keys, key) {
			out = append(out, m.Name)
		}
	}
	return out
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
