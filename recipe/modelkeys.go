package recipe

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	generate "github.com/invopop/jsonschema"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/method"
	"github.com/dptrain/dptrain/pipeline"
)

// The keys of the section model that belong to methods. What they are called, what they
// may be and what is said of them is read from the methods themselves: see [method.Key].

// A modelKey is a key with the methods that have it.
type modelKey struct {
	method.Key // of the first
	methods    []method.Method
}

// modelKeys lists the keys of all methods in the order of these.
func modelKeys() []modelKey {
	var out []modelKey
	for _, m := range pipeline.Trainers() {
		for _, k := range m.Keys {
			i := slices.IndexFunc(out, func(x modelKey) bool { return x.Name == k.Name })
			if i < 0 {
				i, out = len(out), append(out, modelKey{Key: k})
			}
			out[i].methods = append(out[i].methods, m)
		}
	}
	return out
}

func findModelKey(name string) (modelKey, bool) {
	keys := modelKeys()
	i := slices.IndexFunc(keys, func(k modelKey) bool { return k.Name == name })
	if i < 0 {
		return modelKey{}, false
	}
	return keys[i], true
}

// owners lists the names of the methods with a key.
func (k modelKey) owners() []string {
	names := make([]string, len(k.methods))
	for i, m := range k.methods {
		names[i] = m.Name
	}
	return names
}

// words lists what a word may be, of every method.
func (k modelKey) words() []string {
	var out []string
	for _, m := range k.methods {
		own, _ := m.Key(k.Name)
		for _, w := range own.Words {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// describe says what a key is.
func (k modelKey) describe() string {
	if k.Words == nil {
		return fmt.Sprintf("%s (%s only). %s", k.Text, plural("method", k.owners()), k.Default)
	}
	var parts []string
	for _, m := range k.methods {
		own, _ := m.Key(k.Name)
		parts = append(parts, "of "+m.Name+" "+own.Own)
	}
	return k.Text + ": " + strings.Join(parts, "; ") + "."
}

// plural is "method a" or "methods a and b".
func plural(what string, names []string) string {
	if len(names) == 1 {
		return what + " " + names[0]
	}
	return what + "s " + joinedBy(names, "and")
}

// joinedBy is "a", "a or b" or "a, b or c".
func joinedBy(names []string, word string) string {
	last := len(names) - 1
	if last <= 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// schema is the property of a key in the JSON Schema.
func (k modelKey) schema() *generate.Schema {
	if k.Words != nil {
		return &generate.Schema{Type: "string", Enum: anys(k.words()), Description: k.describe()}
	}
	return &generate.Schema{
		Type: "integer", Minimum: json.Number(strconv.Itoa(k.Min)), Maximum: json.Number(strconv.Itoa(k.Max)), Description: k.describe(),
	}
}

// modelType is the section whose further keys are those of methods.
var modelType = reflect.TypeFor[Model]()

// decodeKey stores the value of a key of a method and reports whether it has the right
// type.
func decodeKey(n *node, name string, m *Model) bool {
	k, ok := findModelKey(name)
	if !ok {
		return false
	}
	v := reflect.New(reflect.TypeFor[int]()).Elem()
	if k.Words != nil {
		v = reflect.New(reflect.TypeFor[string]()).Elem()
	}
	if !decodeScalar(n, v) {
		return false
	}
	if m.Keys == nil {
		m.Keys = method.Values{}
	}
	m.Keys[name] = v.Interface()
	return true
}

// entries lists the values of keys as they are printed.
func (m Model) entries() []entry {
	var out []entry
	for _, k := range modelKeys() {
		if v, ok := m.Keys[k.Name]; ok && !reflect.ValueOf(v).IsZero() {
			out = append(out, entry{k.Name, reflect.ValueOf(v)})
		}
	}
	return out
}

// trainer returns the trainer of the section; nil for auto.
func (m Model) trainer() method.Trainer {
	if m.Method == pipeline.Auto {
		return nil
	}
	return trainerOf(m.Method, m.Keys)
}

func trainerOf(name string, keys method.Values) method.Trainer {
	if m, ok := pipeline.TrainerNamed(name); ok {
		return m.New(keys)
	}
	return elsewhere(name)
}

// keys checks the keys of methods.
func (c *checker) keys() {
	for _, k := range modelKeys() {
		path := "model." + k.Name
		v := c.r.Model.Keys[k.Name]
		word, isWord := v.(string)
		given := isWord && word != "" || !isWord && (v != nil && v != 0 || k.Words == nil && c.given(path))
		if !given {
			continue
		}
		m, _ := pipeline.TrainerNamed(c.r.Model.Method)
		own, ok := m.Key(k.Name)
		switch {
		case !ok:
			c.add(path, path+" has no effect with method "+c.r.Model.Method, "use method "+joinedBy(k.owners(), "or")+", or remove it")
		case own.Words != nil:
			c.word(path, own, word)
		default:
			c.number(path, own, c.r.Model.Keys.Int(k.Name))
		}
	}
}

// word checks a word against the list of a key.
func (c *checker) word(path string, k method.Key, word string) {
	if !c.name(path, word, k.Words, k.Words) || k.Check == nil {
		return
	}
	relation, err := budget.ParseRelation(c.r.Privacy.Relation)
	if err != nil {
		return // said elsewhere
	}
	if message, hint := k.Check(word, relation); message != "" {
		c.add(path, path+": "+message, hint)
	}
}

// number checks a number against the bounds of a key. That one is too large the schema
// says where TooSmall is all there is to say here.
func (c *checker) number(path string, k method.Key, x int) {
	switch {
	case k.TooSmall != "" && x < k.Min:
		c.add(path, fmt.Sprintf("%s must be at least %d, not %d: %s", path, k.Min, x, k.TooSmall), k.Hint)
	case k.TooSmall == "" && (x < k.Min || x > k.Max):
		c.add(path, fmt.Sprintf("%s must be from %d to %d, not %d", path, k.Min, k.Max, x), k.Hint)
	}
}
