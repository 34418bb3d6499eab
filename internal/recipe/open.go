package recipe

import (
	"slices"

	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// An openMethod is a method without privacy, for experiments on public data.
type openMethod struct {
	name    string
	summary string
	classes bool // it needs classes
	keys    []method.Key
}

// openMethods are the methods without privacy of model.method, in the order of documents. The exact forms of
// cost-tree have its keys; see package astc of the experiments.
func openMethods() []openMethod {
	depth, within, costs, soft := exactKeys()
	price := method.Key{
		Name: "penalty", Kind: method.Number, Text: "Price of a unit of cost",
		Rest: ", for public data in bench", Absent: "`0`",
		Min: 0, Max: method.MaxCost, Hint: "the more it is, the fewer features are read",
		Doc: "For public data in `bench`.",
	}
	return []openMethod{
		{name: "nonprivate-ols", summary: "least squares"},
		{
			name:    "nonprivate-ridge",
			summary: "ridge regression",
		},
		{name: "nonprivate-lasso", summary: "lasso"},
		{
			name:    "nonprivate-logistic",
			summary: "logistic regression",
			classes: true,
		},
		{
			name:    "nonprivate-svm",
			summary: "linear support vector machine",
			classes: true,
		},
		{
			name:    "nonprivate-cost-tree",
			summary: "exact cost-tree (ASTC)",
			keys:    []method.Key{depth, within, costs, soft},
		},
		{
			name:    "nonprivate-cost-tree-soft",
			summary: "the exact cost-tree with soft splits",
			keys:    []method.Key{depth, within, costs},
		},
		{
			name:    "nonprivate-cstc",
			summary: "cost-sensitive tree of classifiers",
			keys:    []method.Key{depth, costs, price},
		},
		{
			name:    "nonprivate-cost-logistic",
			summary: "L1 logistic regression with feature costs",
			classes: true,
			keys:    []method.Key{costs, price},
		},
		{
			name:    "golearn-knn",
			summary: "five nearest neighbours (golearn)",
		},
		{
			name:    "golearn-id3",
			summary: "ID3 tree (golearn)",
			classes: true,
		},
		{
			name:    "golearn-forest",
			summary: "ten ID3 trees on samples (golearn)",
			classes: true,
		},
	}
}

// exactKeys are the keys of cost-tree.
func exactKeys() (depth, within, costs, soft method.Key) {
	m, _ := pipeline.TrainerNamed("cost-tree")
	named := func(name string) method.Key {
		return m.Keys[slices.IndexFunc(m.Keys, func(k method.Key) bool {
			return k.Name == name
		})]
	}
	return named("depth"), named("budget"), named("costs"), named("soft")
}

// openNames lists the methods without privacy for which holds returns true.
func openNames(holds func(openMethod) bool) []string {
	var out []string
	for _, m := range openMethods() {
		if holds(m) {
			out = append(out, m.name)
		}
	}
	return out
}

// OpenSummaries returns the names of the methods without privacy, and their descriptions.
func OpenSummaries() (names, summaries []string) {
	for _, m := range openMethods() {
		names = append(names, m.name)
		summaries = append(summaries, m.summary)
	}
	return names, summaries
}

// NumberKey returns the key for the number in MODEL:NUMBER, and whether it is a whole number; ok is false for models
// without such a key.
func NumberKey(model string) (key string, whole, ok bool) {
	for _, name := range []string{"budget", "penalty", "rounds"} {
		if i := slices.IndexFunc(keysOf(modelSection), func(k ownedKey) bool {
			return k.Name == name
		}); i >= 0 {
			if k, has := keysOf(modelSection)[i].keyOf(model); has {
				return name, k.Kind == method.Whole, true
			}
		}
	}
	return "", false, false
}

// exactDepth is the default depth of the exact forms.
const exactDepth = 2

// Exact holds the settings of the exact forms of trees that pay for features.
type Exact struct {
	Depth   int
	Budget  float64
	Penalty float64
	Soft    bool
	Costs   map[string]float64
}

// Exact returns the settings of the section for an exact form.
func (m Model) Exact() Exact {
	x := Exact{
		Depth:   m.Keys.Int("depth"),
		Budget:  m.Keys.Number("budget"),
		Penalty: m.Keys.Number("penalty"),
		Soft:    m.Keys.Flag("soft") || m.Method == "nonprivate-cost-tree-soft",
		Costs:   m.Keys.Prices("costs"),
	}
	if x.Depth == 0 {
		x.Depth = exactDepth
	}
	return x
}

// openClassifier reports whether a method without privacy needs classes.
func openClassifier(name string) bool {
	return slices.Contains(openNames(func(m openMethod) bool {
		return m.classes
	}), name)
}
