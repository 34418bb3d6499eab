package recipe

import (
	"bytes"
	_ "embed"
	"reflect"
	"strings"
)

//go:embed recipe.schema.json
var schemaFile []byte

// Schema returns the JSON Schema (draft 2020-12) of the recipe, for editors. It contains every key, default and range; a
// few rules that involve several keys are only checked by [Parse].
func Schema() []byte {
	return bytes.Clone(schemaFile)
}

// The tags of fields that the JSON Schema library does not know: takes:"name" marks texts that may be written as a
// number or as true or false, and needs:"KEY" names another key that is required together with a key.
const (
	takesTag  = "takes"
	takesName = "name"
	needsTag  = "needs"
)

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
