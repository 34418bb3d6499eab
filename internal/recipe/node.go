package recipe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/fault"
)

// kind is the type of a node of the text.
type kind int

const (
	null kind = iota
	boolean
	number
	text
	list
	mapping
)

// node is one value of the recipe with its position, free of the YAML library
// and of aliases.
type node struct {
	kind     kind
	line     int
	col      int
	literal  string  // scalars: the characters as written, without quotes
	num      float64 // numbers; may be infinite or NaN
	whole    bool    // numbers: written as an integer
	truth    bool    // booleans
	notation bool    // texts: a number in YAML, in a notation that is not plain; see [IsPlainNumber]
	keys     []*node // mappings: parallel to kids; always scalars
	kids     []*node // mappings and lists
}

// get returns the value under key, or nil. The first of repeated keys counts.
func (n *node) get(key string) *node {
	if n == nil || n.kind != mapping {
		return nil
	}
	for i, k := range n.keys {
		if k.literal == key {
			return n.kids[i]
		}
	}
	return nil
}

// text returns the characters of a scalar, and "" for no node.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	return n.literal
}

// describe names the type of a node, for messages.
func (n *node) describe() string {
	switch n.kind {
	case null:
		return "nothing"
	case boolean, number:
		return n.literal
	case text:
		return "the text " + quoted(n.literal)
	case list:
		return "a list"
	}
	return "a mapping"
}

// place is the position of a key and its value in the text.
type place struct{ keyLine, keyCol, line, col int }

// source records the position of each path of a recipe in its text.
type source struct {
	file        string
	at          map[string]place
	text        map[string]place   // like at, without the settings; nil without a file
	withoutFile bool               // the recipe consists of settings only
	settings    map[string]Setting // by path
	flags       map[string]string  // see [Options]
}

func newSource(file string, root *node) *source {
	s := &source{file: file, at: map[string]place{}}
	s.at[""] = place{root.line, root.col, root.line, root.col}
	s.walk("", root)
	return s
}

func (s *source) walk(path string, n *node) {
	for i, k := range n.kids {
		p := item(path, i)
		key := k
		if n.kind == mapping {
			key = n.keys[i]
			p = child(path, key.literal)
		}
		if _, again := s.at[p]; !again {
			s.at[p] = place{key.line, key.col, k.line, k.col}
			s.walk(p, k)
		}
	}
}

// problem reports msg at the value of path. A path that is not in the text is reported at the key of its
// nearest ancestor in the text.
func (s *source) problem(path, msg, hint string) Problem {
	p := Problem{
		Path: path,
		Msg:  msg,
		Hint: hint,
	}
	if s == nil {
		return p
	}
	if found, at, ok := s.setting(path); ok {
		p.flag = found.flagOf()
		if found.isOwn() {
			p.Msg = withoutKey(msg, at)
		}
		return p
	}
	if section := parent(path); s.withoutFile ||
		s.text != nil && s.text[section] == (place{}) && s.setsBelow(section) {
		if p.flag = s.flags[path]; p.flag != "" || s.withoutFile {
			return p
		}
	}
	p.File = s.file
	if at, ok := s.at[path]; ok && at.line > 0 {
		p.Line = at.line
		p.Column = at.col
		return p
	}
	for up := path; up != ""; {
		up = parent(up)
		if at, ok := s.at[up]; ok && at.keyLine > 0 {
			p.Line = at.keyLine
			p.Column = at.keyCol
			break
		}
	}
	return p
}

// withoutKey returns a message about a key without the name of the key, because the flag in front of it names the key.
func withoutKey(msg, path string) string {
	rest, found := strings.CutPrefix(msg, path)
	if !found {
		return msg
	}
	for _, separator := range []string{": ", " "} {
		if problem, ok := strings.CutPrefix(rest, separator); ok {
			return problem
		}
	}
	return msg
}

// atKey reports msg at the key of path rather than at its value.
func (s *source) atKey(path, msg, hint string) Problem {
	p := s.problem(path, msg, hint)
	if s != nil && p.flag == "" {
		if at, ok := s.at[path]; ok && at.keyLine > 0 {
			p.Line = at.keyLine
			p.Column = at.keyCol
		}
	}
	return p
}

// Check validates r again, because a change of its fields may violate the rules. Problems have the positions of
// their keys in the text that r was read from; those of keys without a position come first, in the order of the
// sections of a recipe.
func (r *Recipe) Check() Problems {
	problems := checkRules(r, thisBuild(), false)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}

// Place returns p with the position of its key in the text that r was read from. It is for problems caused by a
// change of r; without a text there is no position.
func (r *Recipe) Place(p Problem) Problem {
	at := r.src.problem(p.Path, p.Msg, p.Hint)
	at.err = p.err
	return at
}

func child(path, key string) string {
	return fault.Child(path, key)
}

func item(path string, i int) string {
	return fault.Item(path, i)
}

// parent cuts the last step off a path made by child and item.
func parent(path string) string {
	if strings.HasSuffix(path, `"]`) {
		// The quoted key may hold brackets and dots of its own.
		return path[:openingQuote(path)]
	}
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// openingQuote returns the index of the `["` that the final `"]` closes.
func openingQuote(path string) int {
	for i := len(path) - 3; i > 0; i-- {
		if path[i] != '"' {
			continue
		}
		escapes := 0
		for j := i - 1; j >= 0 && path[j] == '\\'; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i - 1
		}
	}
	return 0
}

// shortPath is a path of bounded length, for messages.
func shortPath(path string) string {
	if r := []rune(path); len(r) > 2*maxQuoted {
		return string(r[:2*maxQuoted]) + "…"
	}
	return path
}
