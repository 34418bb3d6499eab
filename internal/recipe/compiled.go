package recipe

import (
	"bytes"
	"encoding/json"
	"sync"

	generate "github.com/invopop/jsonschema"
	validate "github.com/santhosh-tekuri/jsonschema/v6"
)

// compiledFor returns the validator of [Schema] for one recipe. It omits the parts of the schema for keys that
// neither the recipe nor the flags have, because compiling the whole schema takes longer than a small run.
func compiledFor(root *node) *validate.Schema {
	lastCompiled.Lock()
	defer lastCompiled.Unlock()
	if !hasAllKeys(lastCompiled.of, root) {
		s := schema()
		lastCompiled.of = []*node{root, flagNode(Flags{Data: "-", Target: "-", Epsilon: "1", Delta: "1", Out: "-"}, map[string]string{})}
		prune(s, lastCompiled.of)
		lastCompiled.compiled = compile(s)
	}
	return lastCompiled.compiled
}

// lastCompiled is the validator compiled last, which often serves for the flags given with a recipe too, and the nodes
// whose keys it covers.
var lastCompiled struct {
	sync.Mutex
	of       []*node
	compiled *validate.Schema
}

// hasAllKeys reports whether each key of n and of its descendants occurs in some of the nodes.
func hasAllKeys(some []*node, n *node) bool {
	if n.kind != mapping {
		return len(some) > 0
	}
	for i, key := range n.keys {
		if kids := under(some, key.literal); len(kids) == 0 || !hasAllKeys(kids, n.kids[i]) {
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

// prune replaces the schemas of keys that no node has by ones that accept everything. The names of the keys
// remain, because unknown names are rejected. Schemas may be shared between keys, so one is copied before it is
// pruned.
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
