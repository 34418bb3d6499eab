package pipeline

import (
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// A SelectorMethod describes a way to choose features to those who name it: recipes, command
// lines, reports, documents.
type SelectorMethod struct {
	// Name is the method's name in a recipe.
	Name string
	// Summary is a short description.
	Summary string
	// Private reports whether it releases something, and so spends a share of the budget.
	Private bool
	// PublicFeatures reports whether it makes use of public columns, and is handed records without a target if the target
	// alone is private; see [method.Method].
	PublicFeatures bool
	// NeedsClasses reports whether it is for classification only.
	NeedsClasses bool
	// TwoClasses reports whether it takes two classes only: it ranks by one number.
	TwoClasses bool
	// Keys are the keys of its recipe section, except k and share.
	Keys []method.Key
	// New returns the selector for some settings, whose values are checked. Keys without a
	// value take their defaults.
	New func(SelectorSettings) selection.Selector
	// Is reports whether a selector is of the type that New makes.
	Is func(selection.Selector) bool
}

// isA reports whether a selector is a T itself; one that embeds a T is not.
func isA[T selection.Selector](s selection.Selector) bool {
	_, ok := s.(T)
	return ok
}

// SelectorSettings are the recipe settings of a selector. Each method reads its own.
type SelectorSettings struct {
	K             int     // 0 leaves it to a method that can choose it
	Share         float64 // of the budget, in (0, 1)
	method.Values         // of its keys
}

// budgetRatio returns the budget of the model relative to that of the selection.
func (s SelectorSettings) budgetRatio() float64 {
	if !(s.Share > 0) {
		return 0
	}
	return (1 - s.Share) / s.Share
}

// Selectors lists the selectors of package selection, in the order of recipes and messages. Recipes, messages
// and ownSelector derive from this list; a new selector is one more entry. The caller must not modify the list.
func Selectors() []SelectorMethod {
	return selectors()
}

var selectors = sync.OnceValue(func() []SelectorMethod {
	return []SelectorMethod{
		{
			Name:    selection.None{}.Name(),
			Is:      isA[selection.None],
			Summary: "every column",
			New: func(SelectorSettings) selection.Selector {
				return selection.None{}
			},
		},
		{
			Name:    selection.Fixed{}.Name(),
			Is:      isA[selection.Fixed],
			Summary: "the columns listed in features",
			Keys:    keysNamed("features"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.Fixed{Features: s.Names("features")}
			},
		},
		{
			Name:           selection.Kendall{}.Name(),
			Is:             isA[selection.Kendall],
			Summary:        "columns with strong rank correlation with the target",
			Private:        true,
			PublicFeatures: true,
			TwoClasses:     true,
			Keys:           keysNamed("k", "share"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.Kendall{K: s.K}
			},
		},
		{
			Name:       selection.SubLasso{}.Name(),
			Is:         isA[selection.SubLasso],
			Summary:    "columns selected by most lassos on parts of the records",
			Private:    true,
			TwoClasses: true,
			Keys:       keysNamed("k", "share", "lambda", "buckets"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.SubLasso{
					K:       s.K,
					Lambda:  s.Number("lambda"),
					Buckets: s.Int("buckets"),
				}
			},
		},
		{
			Name:       selection.SIS{}.Name(),
			Is:         isA[selection.SIS],
			Summary:    "columns with strong marginal dependence on the target",
			Private:    true,
			TwoClasses: true,
			Keys:       keysNamed("k", "share", "score", "topk", "gamma"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.SIS{
					K:        s.K,
					Score:    selection.SISScore(s.Word("score")),
					TopK:     topK(s.Word("topk")),
					Gamma:    s.Number("gamma"),
					HasGamma: s.Has("gamma"),
				}
			},
		},
		{
			Name:           selection.DPFSDR{}.Name(),
			Is:             isA[selection.DPFSDR],
			Summary:        "columns that separate the classes without redundancy",
			Private:        true,
			PublicFeatures: true,
			NeedsClasses:   true,
			Keys:           keysNamed("k", "share", "max_correlation", "sizes", "runs"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.DPFSDR{
					K:          s.K,
					Exact:      s.K > 0,
					Correlated: s.Number("max_correlation"),
					Model:      s.budgetRatio(),
					Sizes:      s.Wholes("sizes"),
				}
			},
		},
		{
			Name:           selection.DPFS{}.Name(),
			Is:             isA[selection.DPFS],
			Summary:        "columns with a high F-score",
			Private:        true,
			PublicFeatures: true,
			NeedsClasses:   true,
			Keys:           keysNamed("k", "share", "sizes", "runs"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.DPFS{
					K:     s.K,
					Exact: s.K > 0,
					Sizes: s.Wholes("sizes"),
				}
			},
		},
		{
			Name:           selection.CRFS{}.Name(),
			Is:             isA[selection.CRFS],
			Summary:        "columns with a high F-score, without correlated ones",
			Private:        true,
			PublicFeatures: true,
			NeedsClasses:   true,
			Keys:           keysNamed("k", "share", "max_correlation", "sizes", "runs"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.CRFS{
					K:          s.K,
					Exact:      s.K > 0,
					Correlated: s.Number("max_correlation"),
					Sizes:      s.Wholes("sizes"),
				}
			},
		},
		{
			Name:           selection.GreedyGram{}.Name(),
			Is:             isA[selection.GreedyGram],
			Summary:        "columns with the largest gain per unit of cost",
			Private:        true,
			PublicFeatures: true,
			Keys:           keysNamed("k", "share", "costs", "budget", "sizes", "runs"),
			New: func(s SelectorSettings) selection.Selector {
				return selection.GreedyGram{
					K:      s.K,
					Budget: s.Number("budget"),
					Costs:  s.Prices("costs"),
					Sizes:  s.Wholes("sizes"),
				}
			},
		},
	}
})

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

// SelectorNamed returns the method of that name.
func SelectorNamed(name string) (SelectorMethod, bool) {
	list := Selectors()
	i := slices.IndexFunc(list, func(m SelectorMethod) bool {
		return m.Name == name
	})
	if i < 0 {
		return SelectorMethod{}, false
	}
	return list[i], true
}

// ownSelector reports whether a selector is one of package selection, whose choice is private or a public fact. What others do
// with the records that they are handed has not been checked, also if they embed one of these.
func ownSelector(s selection.Selector) bool {
	if s == nil {
		return false
	}
	m, ok := SelectorNamed(s.Name())
	return ok && m.Is(s)
}

// A featureChooser is a selector with a settable number of features.
type featureChooser interface {
	selection.Selector
	// FeatureCount returns that number, or 0 if it is not set.
	FeatureCount() int
}

// A fullSelector is a selector that may select all candidates without a release.
type fullSelector interface {
	selection.Selector
	// SelectsAll reports whether it keeps all candidates of the given number.
	SelectsAll(candidates int) bool
}
