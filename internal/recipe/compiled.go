package recipe

import (
	"bytes"
	"encoding/json"
	"sync"

	generate "github.com/invopop/jsonschema"
	validate "github.com/santhosh-tekuri/jsonschema/v6"
)

// compiledFor returns the validator of [Schema] for one recipe. What the schema says of keys that neither
// the recipe nor flags have is left out, since compiling all of it takes longer than a small run.
func compiledFor(root *node) *validate.Schema {
	last.Lock()
	defer last.Unlock()
	if !have(last.of, root) {
		s := schema()
		last.of = []*node{root, flagNode(Flags{Data: "-", Target: "-", Epsilon: "1", Delta: "1", Out: "-"}, map[string]string{})}
		prune(s, last.of)
		last.compiled = compile(s)
	}
	return last.compiled
}

// last is the validator that was compiled last, which often serves for flags beside a recipe, and the nodes whose keys it
// knows.
var last struct {
	sync.Mutex
	of       []*node
	compiled *validate.Schema
}

// have reports whether each key of n, and of what is below, is one of some nodes.
func have(some []*node, n *node) bool {
	if n.kind != mapping {
		return len(some) > 0
	}
	for i, key := range n.keys {
		if kids := under(some, key.literal); len(kids) == 0 || !have(kids, n.kids[i]) {
			return false
		}
	}
	return len(some) > 0
}

// under returns the values that nodes have under a key.
func under(some []*node, key string) []*node {
	var out []*node
	for _, n := range some {
		if kid := n.get(key); kid != nil {
			out = append(out, kid)
		}
	}
	return out
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

// prune lets everything through under the keys that no node has, which leaves nothing to find out about
// them. The names of the keys stay, for others are refused. Schemas may be shared between
// keys, so one is copied before it is pruned.
func prune(s *generate.Schema, some []*node) {
	if s.Properties == nil {
		return
	}
	left := generate.NewProperties()
	for at := s.Properties.Oldest(); at != nil; at = at.Next() {
		value := generate.TrueSchema
		if kids := under(some, at.Key); len(kids) > 0 {
			kept := *at.Value
			value = &kept
			prune(value, kids)
		}
		left.Set(at.Key, value)
	}
	s.Properties = left
}
