package recipe

import (
	"strconv"
	"strings"
)

// Tidy prints the recipe in src, JSON or YAML, as a user would write it: only its keys, in their order, with one line
// per entry of a section or column. Comments are removed. The output has the same values, even if they are not valid.
// The error is [Problems] if src is not YAML.
func Tidy(src []byte) ([]byte, error) {
	root, problems := readYAML("", src)
	if len(problems) > 0 || root.kind != mapping {
		return nil, append(problems, Problem{Msg: "this is not a recipe"})
	}
	var b strings.Builder
	root.tidy(&b, "")
	return []byte(b.String()), nil
}

// tidy prints the entries of a mapping, one per line.
func (n *node) tidy(b *strings.Builder, indent string) {
	for i, k := range n.keys {
		kid := n.kids[i]
		b.WriteString(indent + yamlWord(k.literal) + ":")
		if kid.kind == mapping && len(kid.keys) > 0 && (indent == "" || k.literal == "columns") {
			b.WriteByte('\n')
			kid.tidy(b, indent+"  ")
			continue
		}
		b.WriteString(" " + kid.inline() + "\n")
	}
}

// inline prints a value on one line.
func (n *node) inline() string {
	var parts []string
	switch n.kind {
	case null:
		return "null"
	case boolean:
		return strconv.FormatBool(n.truth)
	case number:
		return n.literal
	case text:
		return yamlWord(n.literal)
	case list:
		for _, k := range n.kids {
			parts = append(parts, k.inline())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for i, k := range n.keys {
		parts = append(parts, yamlWord(k.literal)+": "+n.kids[i].inline())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
