package recipe

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	generate "github.com/invopop/jsonschema"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/rescale"
)

// Schema returns the JSON Schema (draft 2020-12) of the recipe, for editors.
// It is generated from the Go types, so it contains every key, default and range; a
// few rules that involve several keys are only checked by [Parse].
func Schema() []byte {
	b, err := json.MarshalIndent(schema(), "", "  ")
	if err != nil {
		panic(err) // the schema is built from constants
	}
	return append(b, '\n')
}

func schema() *generate.Schema {
	r := &generate.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true}
	root := r.Reflect(&Recipe{})
	root.Title = "dptrain recipe"
	root.Description = "One private training run."
	at := func(path string) *generate.Schema { return schemaAt(root, path) }

	at("version").Const = Version
	closed := func(path string, names []string) {
		for _, name := range names {
			at(path).Enum = append(at(path).Enum, name)
		}
	}
	closed("task", tasks)
	closed("privacy.relation", relations)
	closed("privacy.composition", compositions)
	closed("scaling.method", scalings)
	closed("engine", engines)
	closed("data.undeclared", undeclaredWords)
	closed("data.numbers", numberWords)
	closed("data.fold", foldWords)
	closed("data.columns[].encode", encodeWords)
	closed("data.sql.driver", drivers)
	for key, names := range formatNames() {
		closed("data.format."+key, names)
	}
	for _, p := range dataset.DateParts() {
		at("data.columns[].parts[]").Enum = append(at("data.columns[].parts[]").Enum, p.Part)
	}
	closed("causal.method", causalMethods)
	closed("causal.protect", causalProtects)
	closed("causal.score", direction.Baselines())
	for _, home := range []string{"", "search.candidates[]."} {
		closed(home+"selection.method", selections)
		closed(home+"model.fallback", fallbacks())
		for _, section := range []string{selectionSection, modelSection} {
			for _, k := range keysOf(section) {
				at(home+section).Properties.Set(k.Name, k.schema())
			}
		}
	}
	closed("search.candidates[].model.method", models)
	at("model.method").AnyOf = []*generate.Schema{
		{Enum: toAny(append(append([]string{}, models...), nonprivate...))},
		{Pattern: "^" + asPublished, Description: "published variants without a valid proof, only in bench"},
	}
	number := &generate.Schema{Type: "number", ExclusiveMinimum: json.Number("0")}
	*at("privacy.epsilon") = generate.Schema{
		Description: at("privacy.epsilon").Description,
		AnyOf:       []*generate.Schema{number, {Type: "string", Pattern: epsilonPattern}},
	}
	*at("data.columns[].missing") = generate.Schema{
		Description: at("data.columns[].missing").Description,
		AnyOf:       []*generate.Schema{{Type: "number"}, {Enum: []any{missingIndicator}}},
	}
	addFieldTags(root, reflect.TypeFor[Recipe]())
	closed("data.columns[].transform", rescale.Words())
	inOnePlace(at("data.target"), at("data.columns[]"))
	for _, path := range findable {
		orPrivate(at(path))
	}
	at("data.columns").PropertyNames = &generate.Schema{MinLength: new(uint64(1))}
	addConditions(root, at)
	return root
}

// The tags of fields that the JSON Schema library does not know: takes:"name" marks texts that may be written as a
// number or as true or false, and needs:"KEY" names another key that is required together with a key.
const (
	takesTag  = "takes"
	takesName = "name"
	needsTag  = "needs"
)

// addFieldTags adds the effect of these tags to the schema of a struct of the recipe.
func addFieldTags(s *generate.Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		key := fieldKey(f)
		if key == "" {
			continue
		}
		own, _ := s.Properties.Get(key)
		inner := f.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Tag.Get(takesTag) == takesName && own.Items != nil:
			asName(own.Items)
		case f.Tag.Get(takesTag) == takesName:
			asName(own)
		case inner.Kind() == reflect.Struct && own.Properties != nil:
			addFieldTags(own, inner)
		case inner.Kind() == reflect.Map && own.AdditionalProperties != nil && inner.Elem().Kind() == reflect.Struct:
			addFieldTags(own.AdditionalProperties, inner.Elem())
		}
		if needs := f.Tag.Get(needsTag); needs != "" {
			if s.DependentRequired == nil {
				s.DependentRequired = map[string][]string{}
			}
			s.DependentRequired[key] = []string{needs}
		}
	}
}

// inOnePlace extends the schema of a target to a mapping with the declarations of its column.
func inOnePlace(target, column *generate.Schema) {
	name := *target
	name.Description = ""
	keys := generate.NewProperties()
	keys.Set(columnKey, &name)
	for _, key := range targetKeys[1:] {
		s, _ := column.Properties.Get(key)
		keys.Set(key, s)
	}
	*target = generate.Schema{
		Description: target.Description,
		If:          &generate.Schema{Type: "object"},
		Then: &generate.Schema{
			Properties:           keys,
			Required:             []string{columnKey},
			AdditionalProperties: generate.FalseSchema,
		},
		Else: &name,
	}
}

// addConditions adds the rules between keys that editors can check.
func addConditions(root *generate.Schema, at func(string) *generate.Schema) {
	at("data").AnyOf = []*generate.Schema{{Required: []string{"path"}}, {Required: []string{"header"}}, {Required: []string{"sql"}}, {Required: []string{"spark"}}}
	when := func(key, value, then string) *generate.Schema {
		p := generate.NewProperties()
		p.Set(key, &generate.Schema{Const: value})
		return &generate.Schema{
			If: &generate.Schema{
				Properties: p,
				Required:   []string{key},
			},
			Then: &generate.Schema{Required: []string{then}},
		}
	}
	for _, home := range []string{"", "search.candidates[]."} {
		for _, section := range []string{selectionSection, modelSection} {
			addLinks(at(home+section), section, when)
		}
	}
	at("search.candidates[].selection").Not = &generate.Schema{Required: []string{"sizes"}} // nested searches
	at("search.candidates[]").MinProperties = new(uint64(1))
	for _, key := range []string{"selection", "model"} {
		root.Not = &generate.Schema{AnyOf: append(anyOf(root.Not), &generate.Schema{Required: []string{"search", key}})}
	}
	causal := when("task", TaskCausal, "causal")
	none := func(keys ...string) *generate.Schema {
		s := &generate.Schema{Not: &generate.Schema{}}
		for _, key := range keys {
			s.Not.AnyOf = append(s.Not.AnyOf, &generate.Schema{Required: []string{key}})
		}
		return s
	}
	causal.Then.Not = none("holdout", "evaluate", "scaling", "budget", "count", "selection", "model", "search", "engine").Not
	causal.Then.Properties = generate.NewProperties()
	causal.Then.Properties.Set("data", none("target", "exclude", "classes"))
	causal.Else = none("causal")
	causal.Else.Properties = generate.NewProperties()
	causal.Else.Properties.Set("data", &generate.Schema{Required: []string{"target"}})
	root.AllOf = []*generate.Schema{causal}
}

// addLinks adds the rules about keys of a section that require or exclude each other, and about keys that a method
// requires.
func addLinks(
	s *generate.Schema,
	section string,
	when func(key, value, then string) *generate.Schema,
) {
	for _, k := range keysOf(section) {
		if k.Needs.Key != "" && !slices.ContainsFunc(k.owners, func(o owner) bool {
			return o.key.Needs.Key != k.Needs.Key
		}) {
			if s.DependentRequired == nil {
				s.DependentRequired = map[string][]string{}
			}
			s.DependentRequired[k.Name] = []string{k.Needs.Key}
		}
		if k.Excludes.Key != "" {
			both := &generate.Schema{Required: []string{k.Name, k.Excludes.Key}}
			if s.Not != nil {
				both = &generate.Schema{AnyOf: []*generate.Schema{s.Not, both}}
			}
			s.Not = both
		}
		for _, o := range k.owners {
			if o.key.Required != "" {
				s.AllOf = append(s.AllOf, when("method", o.method, k.Name))
			}
		}
	}
}

// anyOf returns the alternatives of a schema, if there is one.
func anyOf(s *generate.Schema) []*generate.Schema {
	if s == nil {
		return nil
	}
	return s.AnyOf
}

// schemaAt returns a property; [] steps into a list or a mapping by name.
func schemaAt(s *generate.Schema, path string) *generate.Schema {
	for _, step := range strings.Split(path, ".") {
		name, inner := strings.CutSuffix(step, "[]")
		next, ok := s.Properties.Get(name)
		if !ok {
			panic(fmt.Sprintf("no key %s in the schema", path)) // a constant of this file is wrong
		}
		s = next
		if inner && s.Items != nil {
			s = s.Items
		} else if inner {
			s = s.AdditionalProperties
		}
	}
	return s
}

func toAny(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

// keysAt lists the keys allowed in the mapping at these steps, in order, or nil if any name is allowed.
func keysAt(steps []string) []string {
	t := reflect.TypeFor[Recipe]()
	for _, step := range steps {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Map, reflect.Slice:
			t = t.Elem()
		case reflect.Struct:
			i := fieldIndex(t, step)
			if i < 0 {
				return nil
			}
			t = t.Field(i).Type
		default:
			return nil
		}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return structKeys(t)
}

// structKeys lists the keys of a struct of the recipe.
func structKeys(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if key := fieldKey(t.Field(i)); key != "" {
			keys = append(keys, key)
		}
	}
	for _, k := range keysOf(sections[t]) {
		keys = append(keys, k.Name)
	}
	return keys
}

// fieldKey is the key of a field, empty for fields that are not keys.
func fieldKey(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.TrimPrefix(key, "-")
}

func fieldIndex(t reflect.Type, key string) int {
	for i := range t.NumField() {
		if fieldKey(t.Field(i)) == key && key != "" {
			return i
		}
	}
	return -1
}
