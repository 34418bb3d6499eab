package recipe

// Flags is a recipe given on the command line, each value as typed. Empty
// means not given.
type Flags struct {
	Data    string // --data, the table; required
	Target  string // --target; required
	Epsilon string // --epsilon, a number or ln(number); required
	Delta   string // --delta
	Out     string // --out
	// Columns are the columns of a causal study, --columns; nil for a run with a model.
	Columns []string
	// Set gives further keys a value; see [Options].
	Set []Setting
}

// FromFlags builds the recipe equivalent to `dptrain fit --data … --target …`. It applies the same rules as to
// a file; its problems name the flag instead of a position.
func FromFlags(f Flags) (*Recipe, Problems) {
	src := &source{flags: map[string]string{}}
	root := flagNode(f, src.flags)
	var problems Problems
	if src.settings, problems = layAll(root, f.Set); len(problems) > 0 {
		return nil, problems
	}
	src.at = newSource("", root).at
	return Options{Set: f.Set}.build(root, src, thisBuild())
}

// flagNode returns the tree of flags, and notes which one each key comes from.
func flagNode(f Flags, from map[string]string) *node {
	root := &node{kind: mapping}
	add := func(section, key, flag, value string, read func(string) *node) {
		path := child(section, key)
		from[path] = flag
		if value == "" {
			return
		}
		home := root.get(section)
		if home == nil {
			home = &node{kind: mapping}
			root.keys, root.kids = append(root.keys, &node{kind: text, literal: section}), append(root.kids, home)
		}
		home.keys, home.kids = append(home.keys, &node{kind: text, literal: key}), append(home.kids, read(value))
	}
	add("data", "path", "--data", f.Data, textNode)
	add("data", "target", "--target", f.Target, textNode)
	add("privacy", "epsilon", "--epsilon", f.Epsilon, numberNode)
	add("privacy", "delta", "--delta", f.Delta, numberNode)
	add("output", "dir", "--out", f.Out, textNode)
	if f.Columns != nil {
		from["causal.columns"] = "--columns"
		names := &node{kind: list}
		for _, name := range f.Columns {
			names.kids = append(names.kids, textNode(name))
		}
		root.keys = append(root.keys, textNode("task"), textNode("causal"))
		root.kids = append(root.kids, textNode(TaskCausal), &node{kind: mapping, keys: []*node{textNode("columns")}, kids: []*node{names}})
	}
	return root
}

func textNode(s string) *node { return &node{kind: text, literal: s} }

// numberNode is a number where s is one, else text: ln(3), or a mistake.
func numberNode(s string) *node {
	x, err := ParseNumber(s)
	if err != nil {
		n := textNode(s)
		n.notation = otherNotation.MatchString(s)
		return n
	}
	return &node{kind: number, literal: s, num: x}
}
