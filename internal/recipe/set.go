package recipe

import (
	"cmp"
	"regexp"
	"strings"
)

// A Setting is the value of one key from the command line, which overrides or replaces a recipe.
type Setting struct {
	Path  string // of the key, such as model.rounds or data.columns["blood pressure"].lower
	Value string // in YAML
	Flag  string // that gave it, in messages; "--set PATH" if it is empty
}

// pathStep matches one step of a path: a name, or a quoted name in brackets.
var pathStep = regexp.MustCompile(`^(?:\.?([^.\[\]"=]+)|\["((?:[^"\\]|\\.)*)"\])`)

// pathSteps splits a path into the keys on the way to it. It reports whether the path is one.
func pathSteps(path string) ([]string, bool) {
	var steps []string
	for rest := path; rest != ""; {
		m := pathStep.FindStringSubmatch(rest)
		if m == nil || strings.HasPrefix(path, ".") {
			return nil, false
		}
		rest = rest[len(m[0]):]
		if m[1] != "" {
			steps = append(steps, m[1])
			continue
		}
		steps = append(steps, strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(m[2]))
	}
	return steps, len(steps) > 0
}

// flagOf names the flag of a setting in messages.
func (s Setting) flagOf() string { return cmp.Or(s.Flag, "--set "+s.Path) }

// lay puts the value into the tree of a recipe. The keys of a selection or a model that belong to another method than the one
// that is set are dropped, unless they are set too.
func (s Setting) lay(root *node, all []Setting) Problems {
	wrong := func(message, hint string) Problems {
		return Problems{{flag: s.flagOf(), Path: s.Path, Msg: message, Hint: hint}}
	}
	steps, ok := pathSteps(s.Path)
	if !ok {
		return wrong("this is no key of a recipe", "write --set model.rounds=3, with the key as docs/reference/recipe.md has it")
	}
	value, problems := readYAML("", []byte(s.Value))
	if len(problems) > 0 || value == nil {
		return wrong("the value cannot be read: "+quoted(s.Value), "a value is written as in a recipe, such as 3, [a, b] or {lower: 0, upper: 1}")
	}
	at := root
	for _, step := range steps[:len(steps)-1] {
		next := at.get(step)
		if next == nil || next.kind != mapping {
			next = &node{kind: mapping}
			at.put(step, next)
		}
		at = next
	}
	last := steps[len(steps)-1]
	if old := at.get(last); last == "method" && len(steps) == 2 && old != nil && old.literal != value.literal {
		at.keepOnly(steps[0], all)
	}
	at.put(last, value)
	return nil
}

// put gives a key of a mapping a value.
func (n *node) put(key string, value *node) {
	for i, k := range n.keys {
		if k.literal == key {
			n.kids[i] = value
			return
		}
	}
	n.keys, n.kids = append(n.keys, textNode(key)), append(n.kids, value)
}

// keepOnly drops the keys of a section that no setting names.
func (n *node) keepOnly(section string, all []Setting) {
	kept := &node{kind: mapping}
	for _, s := range all {
		steps, ok := pathSteps(s.Path)
		if ok && len(steps) >= 2 && steps[0] == section {
			if value := n.get(steps[1]); value != nil {
				kept.put(steps[1], value)
			}
		}
	}
	n.keys = kept.keys
	n.kids = kept.kids
}

// layAll puts all settings into the tree and returns by which flag each path is given.
func layAll(root *node, settings []Setting) (map[string]string, Problems) {
	flags := map[string]string{}
	var problems Problems
	for _, s := range settings {
		problems = append(problems, s.lay(root, settings)...)
		flags[pathOf(s.Path)] = s.flagOf()
	}
	return flags, problems
}

// pathOf writes the path of a setting as problems have it.
func pathOf(path string) string {
	steps, _ := pathSteps(path)
	out := ""
	for _, step := range steps {
		out = child(out, step)
	}
	return out
}

// setting returns the flag of the setting that sets a path, an ancestor of it, or a descendant that occurs
// nowhere else; otherwise "".
func (s *source) setting(path string) string {
	for at := path; at != ""; at = parent(at) {
		if flag := s.settings[at]; flag != "" {
			return flag
		}
	}
	if s.at[path].keyLine > 0 || path == "" {
		return ""
	}
	for at, flag := range s.settings {
		if strings.HasPrefix(at, path+".") || strings.HasPrefix(at, path+"[") {
			return flag
		}
	}
	return ""
}
