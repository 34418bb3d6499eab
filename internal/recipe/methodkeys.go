package recipe

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Keys of the sections selection and model that belong to methods. Their names, values and descriptions come from the
// methods themselves: see [method.Key].

// An ownedKey is a key with the methods of a section that have it.
type ownedKey struct {
	method.Key // of the first
	owners     []owner
}

// An owner is a method with a key of its own.
type owner struct {
	method string
	key    method.Key
}

// The sections with keys of methods.
const (
	selectionSection = "selection"
	modelSection     = "model"
)

// sections holds the types of these sections.
var sections = map[reflect.Type]string{
	reflect.TypeFor[Selection](): selectionSection,
	reflect.TypeFor[Model]():     modelSection,
}

// keysOf lists the keys of the methods of a section, in the order of documents; nil for other sections. The list is
// computed once and must not be changed.
func keysOf(section string) []ownedKey {
	switch section {
	case modelSection:
		return keysOfModel()
	case selectionSection:
		return keysOfSelection()
	}
	return nil
}

var (
	keysOfModel = sync.OnceValue(func() []ownedKey {
		return gatherKeys(modelSection)
	})
	keysOfSelection = sync.OnceValue(func() []ownedKey {
		return gatherKeys(selectionSection)
	})
)

func gatherKeys(section string) []ownedKey {
	var out []ownedKey
	own := func(name string, k method.Key) {
		i := slices.IndexFunc(out, func(x ownedKey) bool {
			return x.Name == k.Name
		})
		if i < 0 {
			i = len(out)
			out = append(out, ownedKey{Key: k})
		}
		out[i].owners = append(out[i].owners, owner{name, k})
	}
	switch section {
	case modelSection:
		for _, m := range pipeline.Trainers() {
			for _, k := range m.Keys {
				own(m.Name, k)
			}
		}
		for _, m := range openMethods() {
			for _, k := range m.keys {
				own(m.name, k)
			}
		}
	case selectionSection:
		for _, k := range pipeline.SelectorKeys() {
			x := ownedKey{Key: k}
			if k.Common {
				x.owners = append(x.owners, owner{pipeline.Auto, k})
			}
			out = append(out, x)
		}
		for _, m := range pipeline.Selectors() {
			for _, k := range m.Keys {
				own(m.Name, k)
			}
		}
	}
	return out
}

// A namedColumn is a column named by a key of a method, with its position.
type namedColumn struct {
	path string
	name string
	what string // kind of the column, for messages
	key  bool   // whether the name is a key of a mapping, not an item of a list
}

// namedIn lists the columns that the keys of a section name. path is the section's.
func namedIn(path, section string, values method.Values) []namedColumn {
	var out []namedColumn
	for _, k := range keysOf(section) {
		switch at := path + "." + k.Name; k.Kind {
		case method.Names:
			for i, name := range values.Names(k.Name) {
				out = append(out, namedColumn{item(at, i), name, "the feature", false})
			}
		case method.Prices:
			for _, name := range slices.Sorted(maps.Keys(values.Prices(k.Name))) {
				out = append(out,
					namedColumn{child(at, name), name, "the cost feature", true})
			}
		}
	}
	return out
}

// named lists the columns that keys of methods name, and those of a causal study or a description.
func (r *Recipe) named() []namedColumn {
	var out []namedColumn
	if r.Causal != nil {
		for i, name := range r.Causal.Columns {
			out = append(out, namedColumn{item("causal.columns", i), name, "the column", false})
		}
	}
	if d := r.Description; d != nil {
		for i, name := range d.Columns {
			if r.Data.Columns[name].Date == "" { // its parts are described
				out = append(out,
					namedColumn{item("describe.columns", i), name, "the column", false})
			}
		}
		if d.By != "" {
			out = append(out, namedColumn{"describe.by", d.By, "the column of groups", false})
		}
	}
	for _, x := range r.choices() {
		out = append(out, namedIn(x.path+selectionSection, selectionSection, x.selection.Keys)...)
		out = append(out, namedIn(x.path+modelSection, modelSection, x.model.Keys)...)
	}
	return out
}

// names lists the methods with a key.
func (k ownedKey) names() []string {
	names := make([]string, len(k.owners))
	for i, o := range k.owners {
		names[i] = o.method
	}
	return names
}

// users lists the methods with a key that a run may train, or the methods of bench if there are no others.
func (k ownedKey) users() []string {
	names := k.names()
	private := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.Contains(nonprivate, name)
	})
	if len(private) == 0 {
		return names
	}
	return private
}

// keyOf returns the key of a method.
func (k ownedKey) keyOf(name string) (method.Key, bool) {
	for _, o := range k.owners {
		if o.method == name {
			return o.key, true
		}
	}
	return method.Key{}, false
}

// words lists the permitted values of a text key, for all methods.
func (k ownedKey) words() []string {
	var out []string
	for _, o := range k.owners {
		for _, w := range o.key.Words {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// describe returns the description of a key.
func (k ownedKey) describe() string {
	if k.Common {
		return k.Text + "."
	}
	if k.Own != "" {
		var parts []string
		for _, o := range k.owners {
			parts = append(parts, "of "+o.method+" "+o.key.Own)
		}
		return k.Text + ": " + strings.Join(parts, "; ") + "."
	}
	only := ""
	if k.Needs.Key == "" || len(k.Needs.Words) > 0 { // otherwise the needed key reports it
		only = " (" + plural("method", k.users()) + " only)"
	}
	return k.Text + only + k.Rest + "."
}

// explain returns the description of a key for the schema, with its default and its source.
func (k ownedKey) explain() string {
	text := k.describe()
	var defaults, docs []string
	for _, o := range k.owners {
		defaults = append(defaults, defaultOf(o.key))
		if o.key.Doc != "" && !slices.Contains(docs, o.key.Doc) {
			docs = append(docs, o.key.Doc)
		}
	}
	if !strings.Contains(text, "default") {
		text += " Default: " + joinByMethod(k, defaults) + "."
	}
	text = strings.Join(append([]string{text}, docs...), " ")
	return markup.ReplaceAllString(strings.ReplaceAll(text, "`", ""), "$1")
}

// markup matches a link of Markdown.
var markup = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// joinByMethod returns the common text of the methods of a key, or the text of each.
func joinByMethod(k ownedKey, texts []string) string {
	if len(slices.Compact(slices.Clone(texts))) == 1 {
		return texts[0]
	}
	var out []string
	for i, name := range k.names() {
		out = append(out, "for "+asCode(name)+" "+texts[i])
	}
	return strings.Join(out, "; ")
}

// defaultOf describes the effect of omitting a key, as code if it is a value.
func defaultOf(k method.Key) string {
	switch {
	case k.Required != "":
		return "required"
	case k.Absent == "":
		return asCode(k.Words[0])
	}
	return k.Absent
}

// asCode marks a word as code.
func asCode(word string) string {
	return "`" + word + "`"
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

// kinds are the types of the values of keys.
var kinds = map[method.Kind]reflect.Type{
	method.Whole:  reflect.TypeFor[int](),
	method.Number: reflect.TypeFor[float64](),
	method.Word:   reflect.TypeFor[string](),
	method.Wholes: reflect.TypeFor[[]int](),
	method.Names:  reflect.TypeFor[[]string](),
	method.Prices: reflect.TypeFor[map[string]float64](),
	method.Flag:   reflect.TypeFor[bool](),
}

// decodeKey stores the value of a key of a method of a section, if it has the right type.
func decodeKey(
	n *node,
	path, name string,
	section reflect.Value,
	given map[string]bool,
) {
	keys := keysOf(sections[section.Type()])
	i := slices.IndexFunc(keys, func(k ownedKey) bool {
		return k.Name == name
	})
	if i < 0 {
		return
	}
	v := reflect.New(kinds[keys[i].Kind]).Elem()
	decodeInto(n, path, v, given)
	isThere := (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && !v.IsNil()
	if !given[path] && !isThere {
		return
	}
	values := section.FieldByName("Keys")
	if values.IsNil() {
		values.Set(reflect.ValueOf(method.Values{}))
	}
	values.Interface().(method.Values)[name] = v.Interface()
}

// valueEntries lists the values of keys of a section as they are printed.
func valueEntries(section string, values method.Values) []entry {
	var out []entry
	for _, k := range keysOf(section) {
		v := reflect.ValueOf(values[k.Name])
		if v.IsValid() && (k.HasZero || !v.IsZero()) &&
			!((v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0) {
			out = append(out, entry{k.Name, v})
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
