package recipe

import "slices"

// A Key is a key of the recipe, for help.
type Key struct {
	Path string // such as data.columns.NAME.lower
	Text string // description
}

// AllKeys lists the keys of the recipe with their descriptions in the JSON Schema, in its order. Keys of
// candidates are omitted: they are those of a selection and a model.
func AllKeys() []Key {
	root, problems := readYAML("recipe.schema.json", schemaFile) // YAML includes JSON
	if problems != nil {
		panic(problems) // the file is part of the program
	}
	var out []Key
	var walk func(path string, s *node)
	walk = func(path string, s *node) {
		properties := s.get("properties")
		if properties == nil {
			return
		}
		for i, key := range properties.keys {
			name := key.literal
			if path != "" {
				name = path + "." + name
			}
			p := properties.kids[i]
			if !slices.Contains(sectionsOfHelp, name) {
				out = append(out, Key{name, p.get("description").text()})
			}
			walk(name, p)
			if name == "data.columns" {
				walk("data.columns.NAME", p.get("additionalProperties"))
			}
		}
	}
	walk("", root)
	return out
}

// sectionsOfHelp are keys that only contain other keys.
var sectionsOfHelp = []string{"data", "privacy", "scaling", "budget", "count", "selection", "model",
	"search", "causal", "ledger", "about", "output", "data.format", "data.sql", "privacy.unit"}
