package recipe

// FromSettings builds the recipe of a command line without a file, as `dptrain fit --data … --target …` has it. It applies the
// same rules as to a file; its problems name a flag instead of a position: that of a setting, or that of a missing key in
// o.Flags.
func (o Options) FromSettings() (*Recipe, Problems) {
	root := &node{kind: mapping}
	if o.Task == TaskCausal {
		root.put("task", textNode(TaskCausal))
		root.put("causal", &node{kind: mapping, keys: []*node{textNode("columns")}, kids: []*node{{kind: list}}})
	}
	settings, problems := applyAll(root, o.Set)
	if len(problems) > 0 {
		return nil, problems
	}
	src := newSource("", root)
	src.settings = settings
	src.flags = o.Flags
	src.withoutFile = true
	return o.build(root, src, thisBuild())
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
