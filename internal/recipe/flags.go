package recipe

// FromSettings builds the recipe of a command line without a file, such as `dptrain fit --data … --target …`. It
// applies the same rules as to a file; its problems name a flag instead of a position: the flag of a setting, or the
// flag in o.Flags of a missing key.
func (o Options) FromSettings() (*Recipe, Problems) {
	root := &node{kind: mapping}
	if o.Task == TaskCausal {
		root.setKey("task", textNode(TaskCausal))
		root.setKey("causal",
			&node{
				kind: mapping,
				keys: []*node{textNode("columns")},
				kids: []*node{{kind: list}},
			})
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

func textNode(s string) *node {
	return &node{kind: text, literal: s}
}

// numberNode returns a number if s is one, otherwise a text: ln(3), or a mistake.
func numberNode(s string) *node {
	x, err := ParseNumber(s)
	if err != nil {
		n := textNode(s)
		n.notation = otherNotation.MatchString(s)
		return n
	}
	return &node{
		kind:    number,
		literal: s,
		num:     x,
	}
}
