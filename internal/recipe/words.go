package recipe

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// Names are the values of a column: the categories of a column, or the classes of the target. They are listed, or
// found by the run. The zero value declares no names.
type Names struct {
	List []string
	// Found reports that the run finds the names privately; List is nil then.
	Found bool
}

// privateWord is the value that requests names found privately.
const privateWord = "private"

// Private returns names that are found privately.
func Private() Names {
	return Names{Found: true}
}

// Declared reports whether names are listed or found privately.
func (n Names) Declared() bool {
	return n.Found || n.List != nil
}

// NamesOf converts a list from the command line: the value "private" alone means names that are found privately.
func NamesOf(list []string) Names {
	if len(list) == 1 && list[0] == privateWord {
		return Private()
	}
	return Names{List: list}
}

// MarshalJSON writes the names as a recipe has them.
func (n Names) MarshalJSON() ([]byte, error) {
	if n.Found {
		return json.Marshal(privateWord)
	}
	return json.Marshal(n.List)
}

var namesType = reflect.TypeFor[Names]()

// decodeNames stores a list of names, or the request to find them. It reports whether the value was one of these.
func decodeNames(
	n *node,
	path string,
	v reflect.Value,
	given map[string]bool,
) bool {
	switch {
	case n.kind == text && n.literal == privateWord:
		v.Set(reflect.ValueOf(Private()))
	case n.kind == list:
		decodeInto(n, path, v.FieldByName("List"), given)
	default:
		return false
	}
	return true
}

// The values of data.undeclared.
const (
	undeclaredNumbers = "numbers"
	undeclaredFound   = "found"
)

// foldWords are the values of data.fold.
var foldWords = []string{cell.FoldExact, cell.FoldBlanks, cell.FoldCase}

// textOf returns the rule that transforms the texts of a column.
func (r *Recipe) textOf(c Column) dataset.TextRule {
	rule := dataset.TextRule{
		Fold:   r.Data.Fold,
		Prefix: c.Prefix,
		Hash:   c.Hash,
	}
	if rule.Fold == cell.FoldExact { // same as the default
		rule.Fold = ""
	}
	return rule
}

// values returns listed names in the form of the cells of the column.
func (r *Recipe) values(names []string, c Column) []string {
	out := make([]string, len(names))
	rule := cell.Text(r.textOf(c))
	for i, name := range names {
		out[i] = name
		if !rule.Exact() {
			out[i] = rule.Value(name)
		}
	}
	return out
}

// foldChecks validates data.fold and the names after folding.
func (c *checker) foldChecks() {
	if d := c.r.Data; d.Fold != "" {
		c.name("data.fold", d.Fold, foldWords, foldWords)
	}
	c.sameValue("data.classes", "class", c.r.Data.Classes.List, Column{})
	for name, col := range c.r.Data.Columns {
		path := child("data.columns", name)
		if col.Prefix != 0 {
			c.checkBetween(child(path, "prefix"), col.Prefix, 1, cell.MaxPrefix)
		}
		if col.Hash != 0 {
			c.checkBetween(child(path, "hash"), col.Hash, 2, cell.MaxHash)
		}
		switch {
		case col.Hash != 0 && col.Categories.Declared():
			c.add(child(path, "hash"), shortPath(path)+": hash cannot be combined with categories",
				"a column has either a list or buckets")
		case col.Hash != 0 && name == c.r.Data.Target:
			c.add(
				child(path, "hash"),
				shortPath(path)+": the target cannot be hashed",
				"remove it",
			)
		case col.Prefix != 0 && col.Hash == 0 && !col.Categories.Declared():
			c.add(child(path, "prefix"),
				shortPath(path)+": prefix needs categories or hash",
				"add categories: "+privateWord)
		}
		c.encode(child(path, "encode"), name, col)
		c.sameValue(child(path, "categories"), "category", col.Categories.List, col)
	}
}

// EncodeTarget is the value of encode for a column whose values become numbers, and encodeNone the other value.
const (
	EncodeTarget = "target"
	encodeNone   = "none"
)

// encodeWords are the values of encode.
var encodeWords = []string{encodeNone, EncodeTarget}

// encode validates the encoding of the values of a column. The pipeline reports encodings that it does not
// support.
func (c *checker) encode(path, name string, col Column) {
	if col.Encode == "" || !c.name(path, col.Encode, encodeWords, encodeWords) ||
		col.Encode == encodeNone {
		return
	}
	switch {
	case c.r.Task == TaskCausal:
		c.add(path, shortPath(path)+" cannot be used with task: causal", "remove it")
	case name == c.r.Data.Target:
		c.add(path, shortPath(path)+": the target cannot be encoded by itself", "remove it")
	case !col.Categories.Declared() && col.Hash == 0:
		c.add(path, shortPath(path)+": encode needs categories or hash",
			"add categories: "+privateWord)
	}
}

func (c *checker) checkBetween(path string, n, least, most int) {
	if n < least || n > most {
		c.add(
			path,
			fmt.Sprintf("%s must be from %d to %d, not %d", shortPath(path), least, most, n),
			"",
		)
	}
}

// sameValue rejects names that are equal by the text rule of a column.
func (c *checker) sameValue(path, what string, names []string, col Column) {
	if cell.Text(c.r.textOf(col)).Exact() || col.Hash != 0 {
		return
	}
	first := map[string]string{}
	for i, value := range c.r.values(names, col) {
		if other, again := first[value]; again && other != names[i] {
			c.add(
				item(path, i),
				fmt.Sprintf("%s: %s %s counts as the same value as %s", shortPath(path), what, quoted(names[i]),
					quoted(other)),
				"with fold or prefix, both become "+quoted(value)+"; list it once",
			)
		}
		first[value] = names[i]
	}
}

var undeclaredWords = []string{undeclaredNumbers, undeclaredFound}

// Classes returns the classes of the target: the listed ones, or [Private] for a classification without a list. It is
// empty for other tasks.
func (r *Recipe) Classes() Names {
	if r.Task == regression.TaskClassification && len(r.Data.Classes.List) == 0 {
		return Private()
	}
	return r.Data.Classes
}

// mostClasses returns the maximum number of classes that are found.
func (r *Recipe) mostClasses() int {
	p := r.outline(false)
	for _, x := range r.choices() {
		if s := x.selection; p.MostClasses == 0 && s.Method == pipeline.Auto && s.K() > 0 { // it ranks columns by two classes
			return 2
		}
	}
	return p.MostClassesFound()
}

// Undeclared returns the treatment of features without declarations: the value of data.undeclared, or its
// default. The default is "found", but "numbers" if text columns cannot be found in the run or every number
// needs a declared range.
func (r *Recipe) Undeclared() string {
	switch {
	case r.Data.Undeclared != "":
		return r.Data.Undeclared
	case r.Task == TaskCausal, r.Scaling.Method == "declared",
		r.outline(false).NoVocabulary() != "":
		return undeclaredNumbers
	}
	return undeclaredFound
}

// findsKinds reports whether the run determines if undeclared features are numbers or text.
func (r *Recipe) findsKinds() bool {
	return r.Undeclared() == undeclaredFound
}

// keepEarlierDefaults sets the defaults of earlier versions in a recipe published by one of them. Such a recipe
// sets all other keys with defaults and has no output section, because [Recipe.Public] writes it so; the
// current version also writes these keys, since their defaults have changed. What settings add does not count.
func (r *Recipe) keepEarlierDefaults() {
	given := map[string]bool{}
	for path := range r.src.text {
		given[path] = true
	}
	written := []string{
		"version", "task", "data.multiline_quotes", "privacy.delta", "privacy.relation",
		"privacy.composition", "holdout", "scaling.method",
	}
	if r.Search == nil {
		written = append(written, "selection.method", "model.method", "model.fallback")
	}
	if given["output.dir"] || slices.ContainsFunc(written, func(path string) bool {
		return !given[path]
	}) {
		return
	}
	if !given["data.undeclared"] {
		r.Data.Undeclared = undeclaredNumbers
	}
	if r.Data.Classes.Found && !given["data.most_classes"] {
		r.Data.MostClasses = 2
	}
	r.sharesOfEarlier = given["selection.share"] && pipeline.MayAbstain(r.Model.Method) // else it is published in budget
}

// undeclared checks data.undeclared.
func (c *checker) undeclared() {
	const path = "data.undeclared"
	d := c.r.Data
	if d.Undeclared == "" {
		return
	}
	c.name(path, d.Undeclared, undeclaredWords, undeclaredWords)
	if d.Undeclared != undeclaredFound {
		return
	}
	hint := "use " + undeclaredNumbers + ", and declare the categories of text columns"
	switch why := c.r.outline(c.bench).NoVocabulary(); {
	case c.r.Task == TaskCausal:
		c.add(path, path+" cannot be used with task: causal", "remove it")
	case why != "":
		c.add(path, path+": text values cannot be found privately "+why, hint)
	case c.r.Scaling.Method == "declared":
		c.add(
			path,
			path+": found needs scaling private, because numeric columns need ranges",
			hint,
		)
	}
}

// findable are the paths of keys that take names.
var findable = []string{"data.classes", "data.columns[].categories"}
