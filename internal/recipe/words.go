package recipe

import (
	"encoding/json"
	"reflect"

	generate "github.com/invopop/jsonschema"

	"github.com/dptrain/dptrain/regression"
)

// Names are the values of a column: the categories of one, or the classes of the target. They are
// listed, or [Private]: the run finds them.
type Names []string

// privateWord is how a recipe says that values are to be found privately.
const privateWord = "private"

// Private returns the names that are to be found privately.
func Private() Names { return Names{"\x00" + privateWord} }

// Private reports whether the names are to be found privately.
func (n Names) Private() bool { return len(n) == 1 && n[0] == "\x00"+privateWord }

// Listed returns the names that are listed; none if they are to be found.
func (n Names) Listed() []string {
	if n.Private() {
		return nil
	}
	return n
}

// MarshalJSON writes the names as a recipe has them.
func (n Names) MarshalJSON() ([]byte, error) {
	if n.Private() {
		return json.Marshal(privateWord)
	}
	return json.Marshal([]string(n))
}

var namesType = reflect.TypeFor[Names]()

// decodeNames stores the word for values that are to be found and reports whether it was that.
func decodeNames(n *node, v reflect.Value) bool {
	if n.kind != text || n.literal != privateWord {
		return false
	}
	v.Set(reflect.ValueOf(Private()))
	return true
}

// orPrivate makes a schema of a list accept the word as well.
func orPrivate(s *generate.Schema) {
	list := *s
	list.Description = ""
	*s = generate.Schema{
		Description: s.Description,
		If:          &generate.Schema{Type: "string"},
		Then:        &generate.Schema{Enum: []any{privateWord}},
		Else:        &list,
	}
}

// The values of data.undeclared.
const (
	undeclaredNumbers = "numbers"
	undeclaredFound   = "found"
)

// foundClasses is how many classes are found.
const foundClasses = 2

var undeclaredWords = []string{undeclaredNumbers, undeclaredFound}

// FindWords makes a classification without listed classes find them, and features that declare nothing
// numbers or words, whichever is found, where that has a price. In a search words are paid for whether there are
// some or not, so there they are not looked for. It is what a run without a recipe file does.
func (r *Recipe) FindWords() {
	if r.Task == TaskCausal || r.outline(false).NoVocabulary() != "" {
		return
	}
	if r.Task == regression.TaskClassification && r.Data.Classes == nil {
		r.Data.Classes = Private()
	}
	if r.Data.Undeclared == "" && r.Search == nil && r.Scaling.Method != "declared" {
		r.Data.Undeclared = undeclaredFound
	}
}

// findsKinds reports whether it is found out of features that declare nothing whether they are numbers or
// words.
func (r *Recipe) findsKinds() bool { return r.Data.Undeclared == undeclaredFound }

// NamesOf returns the names that a list on a command line means: the word alone stands for
// those that are to be found.
func NamesOf(list []string) Names {
	if len(list) == 1 && list[0] == privateWord {
		return Private()
	}
	return list
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
		c.add(path, path+" has no meaning with task: causal", "remove it")
	case why != "":
		c.add(path, path+": words cannot be found privately "+why, hint)
	case c.r.Scaling.Method == "declared":
		c.add(path, path+": found needs scaling private: a column of numbers needs a range", hint)
	}
}

// findable are the paths of keys that take names.
var findable = []string{"data.classes", "data.columns[].categories"}
