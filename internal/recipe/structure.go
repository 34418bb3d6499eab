package recipe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	validate "github.com/santhosh-tekuri/jsonschema/v6"
	errkind "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// finding is a problem with its strength. Structural findings (unknown keys, wrong types) suppress all rules
// about the same place; others are reported only if no rule of this package applies. For an unknown key, meant
// is the path of the key that it may misspell: that key is then not reported as missing.
type finding struct {
	Problem
	structural bool
	meant      string
}

// checkStructure validates the tree against the JSON Schema and locates its findings.
func checkStructure(root *node, src *source) []finding {
	var found []finding
	if e := root.get("privacy").get("epsilon"); e != nil && e.kind == text {
		if _, err := ParseEpsilon(e.literal); err != nil {
			hint := ""
			if strings.HasPrefix(strings.TrimSpace(e.literal), "log") {
				hint = "the natural logarithm is written ln(3)"
			}
			found = append(found, finding{src.problem("privacy.epsilon", "privacy.epsilon: "+err.Error(), hint), true, ""})
		}
	}
	return append(found, findings(compiledFor(root), root, src)...)
}

// findings lists the findings of a validator in the tree.
func findings(compiled *validate.Schema, root *node, src *source) []finding {
	var found []finding
	var failure *validate.ValidationError
	if err := compiled.Validate(root.instance()); errors.As(err, &failure) {
		collect(failure, root, src, &found)
	}
	return found
}

// eitherOr describes the value of a key that takes a number or a text; empty for other keys.
func eitherOr(path string, n *node) string {
	switch {
	case path == "privacy.epsilon" && n.kind != number:
		return "a number or ln(number)"
	case strings.HasPrefix(path, "data.columns."):
		return "a number or " + missingIndicator
	}
	return ""
}

// collect walks to the leaves of a validation error.
func collect(e *validate.ValidationError, root *node, src *source, found *[]finding) {
	whole := false // the causes of these kinds add no information
	switch e.ErrorKind.(type) {
	case *errkind.AnyOf, *errkind.PropertyNames:
		whole = true
	}
	if len(e.Causes) > 0 && !whole {
		for _, cause := range e.Causes {
			collect(cause, root, src, found)
		}
		return
	}
	n, path := locate(root, e.InstanceLocation)
	name := shown(path)
	if name == "" {
		name = "the recipe"
	}
	weak := func(msg string) { *found = append(*found, finding{src.problem(path, msg, ""), false, ""}) }
	strong := func(msg, hint string) { *found = append(*found, finding{src.problem(path, msg, hint), true, ""}) }
	switch k := e.ErrorKind.(type) {
	case *errkind.AdditionalProperties:
		for _, key := range k.Properties {
			p := child(path, key)
			f := src.atKey(p, "unknown key "+quoted(key), unknownHint(key, e.InstanceLocation))
			meant := ""
			if best, ok := nearest(key, keysAt(e.InstanceLocation)); ok && n.get(best) == nil {
				meant = child(path, best)
			}
			*found = append(*found, finding{f, true, meant})
		}
	case *errkind.Enum:
		if strings.HasSuffix(path, ".classes") || strings.HasSuffix(path, ".categories") {
			strong(name+" must be a list or "+privateWord+", not "+n.describe(), "write [a, b]")
			return
		}
		weak(name + " is not accepted: " + n.describe())
	case *errkind.Type:
		hint := typeHint(n, k.Want)
		if keys := keysAt(e.InstanceLocation); k.Want[0] == "object" && n.kind != null && len(keys) > 0 {
			hint = "its keys go below it, indented: " + strings.Join(keys, ", ")
		}
		strong(name+" must be "+wanted(k.Want)+", not "+n.describe(), hint)
	case *errkind.InvalidJsonValue:
		strong(name+" must be a finite number, not "+n.describe(), "")
	case *errkind.Required:
		for _, key := range k.Missing {
			p := child(path, key)
			*found = append(*found, finding{src.problem(p, shown(p)+" is required", ""), false, ""})
		}
	case *errkind.AnyOf:
		if either := eitherOr(path, n); either != "" {
			strong(name+" must be "+either+", not "+n.describe(), typeHint(n, []string{"number"}))
			return
		}
		weak(name + " is not one of the accepted values")
	case *errkind.PropertyNames:
		// The library gives these a location that later values overwrite;
		// the rules refuse an empty name of a column themselves.
	case *errkind.UniqueItems:
		weak(fmt.Sprintf("%s: items %d and %d are the same", name, k.Duplicates[0]+1, k.Duplicates[1]+1))
	default:
		weak(limitText(e.ErrorKind, name, path, n))
	}
}

// limitText describes the limit that a value violates, or the key that it requires.
func limitText(violated validate.ErrorKind, name, path string, n *node) string {
	switch k := violated.(type) {
	case *errkind.Minimum:
		return name + " must be at least " + ratio(k.Want.Float64())
	case *errkind.Maximum:
		return name + " must be at most " + ratio(k.Want.Float64())
	case *errkind.ExclusiveMinimum:
		return name + " must be above " + ratio(k.Want.Float64()) + ", not " + n.describe()
	case *errkind.ExclusiveMaximum:
		return name + " must be below " + ratio(k.Want.Float64()) + ", not " + n.describe()
	case *errkind.DependentRequired:
		return child(path, k.Prop) + " needs " + strings.Join(k.Missing, ", ") + " beside it"
	}
	return name + " is not accepted: " + n.describe()
}

func ratio(x float64, _ bool) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// locate follows an instance location of the validator to a node and a path.
func locate(root *node, steps []string) (*node, string) {
	n := root
	path := ""
	for _, step := range steps {
		if n.kind == list {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.kids) {
				break
			}
			n, path = n.kids[i], item(path, i)
			continue
		}
		next := n.get(step)
		if next == nil {
			break
		}
		n, path = next, child(path, step)
	}
	return n, path
}

// wanted names the types a key takes.
func wanted(types []string) string {
	if len(types) > 1 {
		return "a name"
	}
	switch types[0] {
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	case "string":
		return "text"
	case "boolean":
		return "true or false"
	case "integer":
		return "a whole number"
	}
	return "a " + types[0]
}

// typeHint returns the remedy for a value of the wrong type.
func typeHint(n *node, types []string) string {
	switch {
	case n.kind == null && len(types) > 1:
		return "put it in quotes if it is meant as a name"
	case n.kind == null:
		return "give a value, or remove the key to use its default"
	case types[0] == "array" && n.kind != mapping:
		return "write [a, b]"
	case types[0] == "boolean" && n.kind == text:
		return "write true or false, without quotes"
	case (types[0] == "number" || types[0] == "integer") && n.notation:
		return plainHint
	case (types[0] == "number" || types[0] == "integer") && n.kind == text && IsPlainNumber(n.literal):
		return "write the number without quotes"
	case types[0] == "string" && len(types) == 1 && (n.kind == number || n.kind == boolean):
		return "put it in quotes if it is meant as text"
	}
	return ""
}

// unknownHint suggests the key that an unknown key may misspell.
func unknownHint(key string, steps []string) string {
	allowed := keysAt(steps)
	if best, ok := nearest(key, allowed); ok {
		return "did you mean " + best + "?"
	}
	if home, ok := keyHomes()[key]; ok {
		return "it belongs under " + home
	}
	if len(allowed) == 0 {
		return ""
	}
	return "allowed here: " + oneOf(allowed)
}

// keyHomes maps every key that occurs at exactly one place to that place.
var keyHomes = sync.OnceValue(func() map[string]string {
	places := map[string][]string{}
	note := func(keys []string, place string) {
		for _, key := range keys {
			places[key] = append(places[key], place)
		}
	}
	note(keysAt(nil), "the recipe itself, without indentation")
	for _, section := range keysAt(nil) {
		note(keysAt([]string{section}), section)
	}
	note(keysOfColumn, "data.columns, below the name of a column")
	only := map[string]string{}
	for key, where := range places {
		if len(where) == 1 {
			only[key] = where[0]
		}
	}
	return only
})

// merge joins the findings of the schema with the problems of our rules: one
// mistake, one message.
func merge(found []finding, rules Problems) Problems {
	var out Problems
	strong := newPathSet()
	spoken := newPathSet()
	for _, f := range found {
		if f.structural && !strong.at[f.Path] {
			strong.add(f.Path)
			out = append(out, f.Problem)
		}
	}
	for _, f := range found {
		if f.meant != "" {
			strong.at[f.meant] = true // the key itself, not its ancestors
		}
	}
	for _, p := range rules {
		if !strong.related(p.Path) {
			spoken.add(p.Path)
			out = append(out, p)
		}
	}
	for _, f := range found {
		if !f.structural && !strong.related(f.Path) && !spoken.related(f.Path) {
			out = append(out, f.Problem)
		}
	}
	return out.sorted()
}

// pathSet is a set of paths with lookups for ancestors and descendants.
type pathSet struct{ at, above map[string]bool }

func newPathSet() pathSet { return pathSet{map[string]bool{}, map[string]bool{}} }

func (s pathSet) add(path string) {
	s.at[path] = true
	for up := path; up != "" && !s.above[up]; {
		up = parent(up)
		s.above[up] = true
	}
}

func (s pathSet) related(path string) bool {
	if s.at[path] || s.above[path] {
		return true
	}
	for up := path; up != ""; {
		up = parent(up)
		if s.at[up] {
			return true
		}
	}
	return false
}
