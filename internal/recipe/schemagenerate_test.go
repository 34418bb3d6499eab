package recipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	generate "github.com/invopop/jsonschema"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/rescale"
)

// TestSchemaFile checks that recipe.schema.json is generated from the Go types, so that it contains every key, default and
// range. Write it with -update.
func TestSchemaFile(t *testing.T) {
	want, err := json.MarshalIndent(schema(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("recipe.schema.json", want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(Schema(), want) {
		t.Error("recipe.schema.json is not the schema of the Go types; write it with -update")
	}
}

// schema generates the JSON Schema from the Go types. The library that does it is needed by tests only.
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

// JSONSchema returns the schema of a list for the generator; [orPrivate] adds the other value.
func (Names) JSONSchema() *generate.Schema {
	return &generate.Schema{
		Type:  "array",
		Items: &generate.Schema{Type: "string"},
	}
}

// orPrivate adds the value "private" to the schema of a list.
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

// schema is the property of a key in the JSON Schema.
func (k ownedKey) schema() *generate.Schema {
	s := &generate.Schema{Description: k.explain()}
	number := func(x float64) json.Number {
		return json.Number(strconv.FormatFloat(x, 'f', -1, 64))
	}
	switch k.Kind {
	case method.Word:
		s.Type, s.Enum = "string", toAny(k.words())
	case method.Wholes:
		s.Type = "array"
		s.Items = &generate.Schema{Type: "integer"}
	case method.Names:
		s.Type, s.Items = "array", asName(&generate.Schema{})
	case method.Flag:
		s.Type = "boolean"
	case method.Prices:
		s.Type = "object"
		s.MinProperties = new(uint64(1))
		s.AdditionalProperties = &generate.Schema{
			Type:    "number",
			Minimum: number(k.Min),
			Maximum: number(k.Max),
		}
	case method.Whole, method.Number:
		s.Type = "integer"
		if k.Kind == method.Number {
			s.Type = "number"
		}
		if s.Minimum = number(k.Min); k.Above {
			s.Minimum, s.ExclusiveMinimum = "", s.Minimum
		}
		if s.Maximum = number(k.Max); k.Below {
			s.Maximum, s.ExclusiveMaximum = "", s.Maximum
		}
	}
	if k.Default != 0 {
		s.Default = number(k.Default)
	}
	if s.Items != nil {
		s.MinItems = new(uint64(k.Least))
		s.UniqueItems = true
	}
	return s
}

// asName converts a schema to that of a name. Names are taken literally, so a bare 7 or true is a name too.
func asName(s *generate.Schema) *generate.Schema {
	s.Type = ""
	s.Extras = map[string]any{"type": []string{"string", "number", "boolean"}}
	return s
}
