package recipe

import (
	"slices"

	generate "github.com/invopop/jsonschema"
)

// A Key is a key of the recipe, for help.
type Key struct {
	Path string // such as data.columns.NAME.lower
	Text string // description
}

// AllKeys lists the keys of the recipe with their descriptions in the JSON Schema, in its order. Keys of
// candidates are omitted: they are those of a selection and a model.
func AllKeys() []Key {
	var out []Key
	var walk func(path string, s *generate.Schema)
	walk = func(path string, s *generate.Schema) {
		if s.Properties == nil {
			return
		}
		for at := s.Properties.Oldest(); at != nil; at = at.Next() {
			name := at.Key
			if path != "" {
				name = path + "." + at.Key
			}
			p := at.Value
			if !slices.Contains(sectionsOfHelp, name) {
				out = append(out, Key{name, p.Description})
			}
			walk(name, p)
			if p.AdditionalProperties != nil && name == "data.columns" {
				walk("data.columns.NAME", p.AdditionalProperties)
			}
		}
	}
	walk("", schema())
	return out
}

// sectionsOfHelp are keys that only contain other keys.
var sectionsOfHelp = []string{"data", "privacy", "scaling", "budget", "count", "selection", "model",
	"search", "causal", "ledger", "about", "output", "data.format", "data.sql", "privacy.unit"}
