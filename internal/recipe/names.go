package recipe

import (
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Closed lists of the names that a recipe may use. A name outside the lists is an error; a listed name that
// this build does not support is rejected with a message to that effect.
var (
	tasks        = []string{"regression", "classification", TaskCausal}
	relations    = []string{"add-remove", "substitute", privateColumns}
	compositions = []string{"tight", "basic"}
	scalings     = []string{"private", "declared"}
	engines      = engine.Names()
	selections   = selectionNames()
	models       = append([]string{pipeline.Auto}, trainers(anyTrainer)...)
	nonprivate   = openNames(func(openMethod) bool {
		return true
	})
)

const (
	privateColumns = "substitute-private-columns"
	asPublished    = "as-published-" // prefix of published variants without a valid proof, for bench only
)

// trainers lists the names of the model methods for which holds returns true.
func trainers(holds func(method.Method) bool) []string {
	var out []string
	for _, m := range pipeline.Trainers() {
		if holds(m) {
			out = append(out, m.Name)
		}
	}
	return out
}

// selectionNames lists the permitted values of selection.method.
func selectionNames() []string {
	var out []string
	for _, m := range pipeline.Selectors() {
		out = append(out, m.Name)
	}
	return append(out, pipeline.Auto)
}

func anyTrainer(method.Method) bool {
	return true
}

// fallbacks lists the permitted values of model.fallback.
func fallbacks() []string {
	return append([]string{"none"}, trainers(anyTrainer)...)
}

// availability lists the features of a build, each a part of a closed list.
type availability struct {
	tasks        []string
	relations    []string
	compositions []string
	scalings     []string
	selections   []string
	models       []string
	benchModels  []string
	fallbacks    []string
}

// thisBuild returns the features of this build: for models, those of [pipeline.Trainers].
func thisBuild() availability {
	return availability{
		tasks:        tasks,
		relations:    relations,
		compositions: compositions,
		scalings:     scalings,
		selections:   selectionNames(),
		models:       append(trainers(anyTrainer), pipeline.Auto),
		benchModels: append(slices.Clone(nonprivate),
			asPublished+"kendall", asPublished+"lipschitz", asPublished+"sis", asPublished+"tukey"),
		fallbacks: append([]string{"none"}, trainers(func(m method.Method) bool {
			return !m.Abstains
		})...),
	}
}

// NeedsClasses reports whether a name of selection.method or model.method is for classification only.
func NeedsClasses(name string) bool {
	return pipeline.NeedsClasses(name) || openClassifier(name)
}

// Available returns the names that this build accepts for selection.method and model.method. The closed lists are
// longer; their other names are rejected as not available.
func Available() (selection, model []string) {
	a := thisBuild()
	return slices.Clone(a.selections), slices.Clone(a.models)
}

// AvailableInBench returns the names of methods without privacy that this build accepts for model.method, only in an
// experiment on public data.
func AvailableInBench() []string {
	return slices.Clone(thisBuild().benchModels)
}

// choosesColumns reports whether a selection method can spend budget on feature selection: auto does if the number of
// columns is set and the build has such a method.
func (a availability) choosesColumns(method string) bool {
	rest := func(name string) bool {
		m, _ := pipeline.SelectorNamed(name)
		return m.Private
	}
	return rest(method) || method == "auto" && slices.ContainsFunc(a.selections, rest)
}

// oneOf prints a closed list for a message.
func oneOf(names []string) string {
	return strings.Join(names, ", ")
}

// nearest returns the name closest to word if it is a likely correction: at most two edits, and fewer than half
// of the name's letters.
func nearest(word string, names []string) (string, bool) {
	best := ""
	at := 3
	for _, name := range names {
		if strings.EqualFold(word, name) {
			return name, true
		}
		if d := editDistance(strings.ToLower(word), name, at); d < at && 2*d < len(name) {
			best = name
			at = d
		}
	}
	return best, best != ""
}

// Nearest returns the name that word may misspell: it differs only in letter case, or by at most two edits (an
// insertion, a deletion, a substitution or a transposition) and fewer than half of the name's letters. ok is false if
// there is no such name.
func Nearest(word string, names []string) (name string, ok bool) {
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(strings.TrimSpace(n))
	}
	best, ok := nearest(strings.TrimSpace(word), lower)
	if !ok {
		return "", false
	}
	for i, n := range lower {
		if strings.EqualFold(n, best) {
			return names[i], true
		}
	}
	return "", false
}

// editDistance is the Damerau-Levenshtein distance (an adjacent transposition counts as one edit; the restricted
// form), or limit if the distance is not smaller.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	n := len(b) + 1
	room := make([]int, 3*n)
	older := room[:n]
	old := room[n : 2*n]
	cur := room[2*n:]
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(old[j]+1, cur[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], older[j-2]+1)
			}
		}
		older, old, cur = old, cur, older
	}
	return min(old[len(b)], limit)
}
