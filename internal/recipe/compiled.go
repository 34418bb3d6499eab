package recipe

import (
	"bytes"
	"encoding/json"

	generate "github.com/invopop/jsonschema"
	validate "github.com/santhosh-tekuri/jsonschema/v6"
)

// compiledFor returns the validator of [Schema] for one recipe. What the schema says of keys that
// the recipe does not have is left out, since compiling all of it takes longer than a small run.
func compiledFor(root *node) *validate.Schema {
	s := schema()
	prune(s, root)
	return compile(s)
}

func compile(s *generate.Schema) *validate.Schema {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // the schema is built from constants
	}
	doc, err := validate.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		panic(err)
	}
	const name = "recipe.schema.json"
	c := validate.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		panic(err)
	}
	return c.MustCompile(name)
}

// prune lets everything through under the keys that n does not have, which leaves nothing to find out about
// n. The names of the keys stay, for others are refused. Schemas may be shared between
// keys, so one is copied before it is pruned.
func prune(s *generate.Schema, n *node) {
	if s.Properties == nil || n == nil {
		return
	}
	left := generate.NewProperties()
	for at := s.Properties.Oldest(); at != nil; at = at.Next() {
		value := generate.TrueSchema
		if kid := n.get(at.Key); kid != nil {
			kept := *at.Value
			value = &kept
			prune(value, kid)
		}
		left.Set(at.Key, value)
	}
	s.Properties = left
}
