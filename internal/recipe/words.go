package recipe

import (
	"encoding/json"
	"reflect"

	generate "github.com/invopop/jsonschema"
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

// findable are the paths of keys that take names.
var findable = []string{"data.classes", "data.columns[].categories"}
