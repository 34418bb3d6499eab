package recipe

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile"
)

// A Setting is the value of one key from the command line, which overrides or replaces a recipe. It comes from the
// flag --set, or from a flag of its own: then [SetText] and similar functions create it.
type Setting struct {
	Path  string // of the key, such as model.rounds or data.columns["blood pressure"].lower
	Value string // in YAML
	Flag  string // that gave it, in messages; "--set PATH" if it is empty

	steps []string              // of the path, unless it is parsed
	value *node                 // unless Value is parsed
	place func(*node) []string  // returns the steps of the path in a recipe; nil for steps
	skip  func(root *node) bool // reports whether the setting has no effect on the recipe; nil for never
}

// SetText sets a key to a text.
func SetText(flag, path, text string) Setting {
	return Setting{
		Path:  path,
		Flag:  flag,
		value: textNode(text),
	}
}

// SetNumber sets a key to a number. A text that is not a plain number is left to the rules of the key.
func SetNumber(flag, path, text string) Setting {
	return Setting{
		Path:  path,
		Flag:  flag,
		value: numberNode(text),
	}
}

// SetList sets a key to a list of texts.
func SetList(flag, path string, items []string) Setting {
	value := &node{kind: list}
	for _, x := range items {
		value.kids = append(value.kids, textNode(x))
	}
	return Setting{
		Path:  path,
		Flag:  flag,
		value: value,
	}
}

// SetNumbers sets a key to a list of numbers.
func SetNumbers(flag, path string, items []string) Setting {
	value := &node{kind: list}
	for _, x := range items {
		value.kids = append(value.kids, numberNode(x))
	}
	return Setting{
		Path:  path,
		Flag:  flag,
		value: value,
	}
}

// SetBool sets a key to true or false.
func SetBool(flag, path string, truth bool) Setting {
	return Setting{
		Path: path,
		Flag: flag,
		value: &node{
			kind:    boolean,
			literal: strconv.FormatBool(truth),
			truth:   truth,
		},
	}
}

// SetNames sets a key to a list of names, or to private if the list has only this name.
func SetNames(flag, path string, items []string) Setting {
	if len(items) == 1 && items[0] == privateWord {
		return SetText(flag, path, privateWord)
	}
	return SetList(flag, path, items)
}

// OfColumn returns the setting for a key of the declaration of a column, instead of a key of the recipe.
func (s Setting) OfColumn(name string) Setting {
	s.steps = []string{"data", "columns", name, s.Path}
	return s
}

// OfTarget returns the setting for a key of the declaration of the target. It has no effect on a recipe without a
// target.
func (s Setting) OfTarget() Setting {
	key := s.Path
	s.place = func(root *node) []string {
		return []string{"data", "columns", targetOf(root), key}
	}
	s.skip = func(root *node) bool {
		return targetOf(root) == ""
	}
	return s
}

// FindCategories declares that the categories of a column are found privately, unless it is the target or has
// declared categories or buckets.
func FindCategories(flag, column string) Setting {
	s := SetText(flag, "categories", privateWord).OfColumn(column)
	s.skip = func(root *node) bool {
		declared := root.get("data").get("columns").get(column)
		return column == targetOf(root) || declared.get("categories") != nil ||
			declared.get("hash") != nil
	}
	return s
}

// targetOf returns the target of a recipe, or "".
func targetOf(root *node) string {
	if n := root.get("data").get("target"); n != nil {
		return n.literal
	}
	return ""
}

// pathStep matches one step of a path: a name, or a quoted name in brackets.
var pathStep = regexp.MustCompile(`^(?:\.?([^.\[\]"=]+)|\["((?:[^"\\]|\\.)*)"\])`)

// pathSteps splits a path into its keys. It reports whether the path is valid.
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
func (s Setting) flagOf() string {
	return cmp.Or(s.Flag, "--set "+s.Path)
}

// isOwn reports whether the setting has a flag of its own.
func (s Setting) isOwn() bool {
	return s.Flag != ""
}

// pathSteps returns the steps of the path in a recipe.
func (s Setting) pathSteps(root *node) (steps []string, ok bool) {
	switch {
	case s.place != nil:
		return s.place(root), true
	case s.steps != nil:
		return s.steps, true
	}
	return pathSteps(s.Path)
}

// apply puts the value into the tree of a recipe and returns the path. If the setting changes the method of a
// selection or a model, keys of other methods are removed, unless they are set too.
func (s Setting) apply(
	root *node,
	all []Setting,
) (path string, problems Problems) {
	wrong := func(message, hint string) (string, Problems) {
		return "", Problems{{
			flag: s.flagOf(),
			Path: s.Path,
			Msg:  message,
			Hint: hint,
		}}
	}
	steps, ok := s.pathSteps(root)
	if !ok {
		return wrong("this is not a recipe key",
			"write --set model.rounds=3, with a key from docs/reference/recipe.md")
	}
	value := s.value
	if value == nil {
		value, problems = readYAML("", []byte(s.Value))
	}
	if len(problems) > 0 || value == nil {
		return wrong("the value cannot be read: "+quoted(s.Value),
			"write the value as in a recipe, such as 3, [a, b] or {lower: 0, upper: 1}")
	}
	path = joined(steps)
	if steps[0] == describeSection { // not in any recipe: the caller of the parser has its values
		return path, nil
	}
	if s.isOwn() {
		if root.get("search") != nil && (path == "selection.method" || path == "model.method") {
			return wrong("the flag has no effect on a recipe with a search",
				"change its candidates")
		}
		root.makeRoom(path)
	}
	at := root
	for _, step := range steps[:len(steps)-1] {
		next := at.get(step)
		if next == nil || next.kind != mapping {
			next = &node{kind: mapping}
			at.setKey(step, next)
		}
		at = next
	}
	last := steps[len(steps)-1]
	if old := at.get(last); last == "method" && len(steps) == 2 && old != nil &&
		old.literal != value.literal {
		at.keepOnly(root, steps[0], all)
	}
	at.setKey(last, value)
	return path, nil
}

// makeRoom removes the alternatives of a key that is set by a flag: a query for a file, and the older key for a share
// of the selection.
func (n *node) makeRoom(path string) {
	switch path {
	case "data.path":
		n.get("data").removeKey("sql")
		n.get("data").removeKey("spark")
	case "budget.selection":
		n.get(selectionSection).removeKey("share")
		if candidates := n.get("search").get("candidates"); candidates != nil {
			for _, x := range candidates.kids {
				x.get(selectionSection).removeKey("share")
			}
		}
	}
}

// setKey sets the value of a key of a mapping.
func (n *node) setKey(key string, value *node) {
	for i, k := range n.keys {
		if k.literal == key {
			n.kids[i] = value
			return
		}
	}
	n.keys = append(n.keys, textNode(key))
	n.kids = append(n.kids, value)
}

// removeKey removes a key of a mapping, if n is a mapping with this key.
func (n *node) removeKey(key string) {
	if n.get(key) == nil {
		return
	}
	i := slices.IndexFunc(n.keys, func(k *node) bool {
		return k.literal == key
	})
	n.keys = slices.Delete(n.keys, i, i+1)
	n.kids = slices.Delete(n.kids, i, i+1)
}

// keepOnly removes the keys of methods from a section, except those named by a setting.
func (n *node) keepOnly(root *node, section string, all []Setting) {
	kept := map[string]bool{}
	for _, s := range all {
		if steps, ok := s.pathSteps(root); ok && len(steps) >= 2 && steps[0] == section {
			kept[steps[1]] = true
		}
	}
	for _, k := range keysOf(section) {
		if !kept[k.Name] {
			n.removeKey(k.Name)
		}
	}
}

// applyAll puts all settings into the tree and returns them by path. Settings that depend on others come last.
func applyAll(root *node, settings []Setting) (map[string]Setting, Problems) {
	byPath := map[string]Setting{}
	var problems Problems
	for _, dependent := range []bool{false, true} {
		for _, s := range settings {
			if (s.skip != nil) != dependent || dependent && s.skip(root) {
				continue
			}
			if steps, ok := s.pathSteps(root); ok {
				if other, conflict := conflicting(byPath, joined(steps), root.valueAt(steps)); conflict {
					problems = append(problems, Problem{
						flag: s.flagOf(),
						Path: s.Path,
						Msg:  "sets what " + other.flagOf() + " sets, so one of them would have no effect",
						Hint: "remove one of them",
					})
					continue
				}
			}
			path, wrong := s.apply(root, settings)
			problems = append(problems, wrong...)
			if len(wrong) == 0 {
				byPath[path] = s
			}
		}
	}
	return byPath, problems
}

// conflicting returns a setting that was applied before and that one for path would replace, or be merged into: the
// setting of the same key or of one below, or of a section above that has the key. old is the present value.
func conflicting(
	byPath map[string]Setting,
	path string,
	old *node,
) (Setting, bool) {
	for at := path; at != ""; at = parent(at) {
		if other, found := byPath[at]; found && old != nil {
			return other, true
		}
	}
	for _, at := range slices.Sorted(maps.Keys(byPath)) {
		if isBelow(at, path) {
			return byPath[at], true
		}
	}
	return Setting{}, false
}

// valueAt returns the value at a path, or nil.
func (n *node) valueAt(steps []string) *node {
	for _, step := range steps {
		n = n.get(step)
	}
	return n
}

// joined writes the path of a setting in the form used by problems.
func joined(steps []string) string {
	out := ""
	for _, step := range steps {
		out = child(out, step)
	}
	return out
}

// setting returns the setting for a path, for an ancestor of it, or for a descendant that occurs nowhere else, and
// the path that the setting sets.
func (s *source) setting(path string) (found Setting, at string, ok bool) {
	for at := path; at != ""; at = parent(at) {
		if found, ok := s.settings[at]; ok {
			return found, at, true
		}
	}
	if s.at[path].keyLine > 0 || path == "" {
		return Setting{}, "", false
	}
	for at, found := range s.settings {
		if isBelow(at, path) {
			return found, at, true
		}
	}
	return Setting{}, "", false
}

// isBelow reports whether a path is a descendant of another one.
func isBelow(path, above string) bool {
	return strings.HasPrefix(path, above+".") || strings.HasPrefix(path, above+"[")
}

// setsBelow reports whether a setting sets a key of a section.
func (s *source) setsBelow(section string) bool {
	for at := range s.settings {
		if isBelow(at, section) {
			return true
		}
	}
	return false
}

// SetByFlag reports whether a flag of its own, not --set, sets the key at a path.
func (r *Recipe) SetByFlag(path string) bool {
	return r.src != nil && r.src.settings[path].isOwn()
}

// WithSettings returns the section with the given settings, which describe how a table is read, or the problems of all
// these settings.
func (d Data) WithSettings(settings []Setting) (Data, Problems) {
	root := &node{kind: mapping}
	byPath, problems := applyAll(root, settings)
	src := newSource("", root)
	src.settings = byPath
	s := &structure{src: src}
	if data := root.get("data"); data != nil {
		decodeInto(data, "data", reflect.ValueOf(&d).Elem(), map[string]bool{})
		s.value(data, "data", keyType{Type: reflect.TypeFor[Data]()}, noLimits())
	}
	r := &Recipe{Data: d, src: src}
	r.settleHeader()
	c := &checker{r: r}
	c.reading()
	return r.Data, append(problems, merge(s.found, c.ps)...)
}

// settleHeader makes the columns listed by a flag those of a table without a header line.
func (r *Recipe) settleHeader() {
	if kind, _, _ := tablefile.ParsePath(r.Data.Path); !r.SetByFlag("data.header") || kind.JSON {
		return
	}
	var f Format
	if r.Data.Format != nil {
		f = *r.Data.Format
	}
	f.Header = "none"
	r.Data.Format = &f
}
