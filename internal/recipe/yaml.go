package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// This is the only file that uses the YAML library, so that the library can be replaced easily.

const (
	maxDepth    = 32      // nesting of a recipe; four levels are in use
	maxExpanded = 100_000 // nodes that aliases may add
)

// readYAML converts text to a tree, or explains why it cannot. Messages of this stage never quote the text: it may be
// a table given by mistake.
func readYAML(file string, src []byte) (root *node, problems Problems) {
	c := &converter{file: file}
	// The library has panicked on hostile input in the past; a bad file must lead to an error.
	defer func() {
		if recover() != nil {
			root, problems = nil, c.fail(1, 1, "the file is not valid YAML", "")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, c.fail(1, 1, "the recipe is empty", "`dptrain init` writes a starter")
	case err != nil:
		return nil, c.syntax(err, src)
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, c.syntax(err, src)
	default:
		return nil,
			c.fail(second.Line, second.Column,
				"a recipe must be a single YAML document, but a second one starts here",
				"remove the --- line, or split the file")
	}
	if len(doc.Content) == 0 {
		return nil, c.fail(1, 1, "the recipe is empty", "`dptrain init` writes a starter")
	}
	root = c.convert(doc.Content[0], 0, false)
	return root, c.problems
}

type converter struct {
	file     string
	expanded int
	stopped  bool
	problems Problems
}

func (c *converter) fail(line, col int, msg, hint string) Problems {
	c.problems = append(c.problems,
		Problem{
			File:   c.file,
			Line:   line,
			Column: col,
			Msg:    msg,
			Hint:   hint,
		})
	return c.problems
}

// convert copies n, following aliases. It always returns a node; parts that could not be converted are null and
// reported in problems.
func (c *converter) convert(n *yaml.Node, depth int, aliased bool) *node {
	out := &node{line: n.Line, col: n.Column}
	if c.stopped {
		return out
	}
	if depth > maxDepth {
		c.stopped = true
		c.fail(
			n.Line,
			n.Column,
			fmt.Sprintf("nested more than %d levels deep", maxDepth),
			"",
		)
		return out
	}
	if aliased {
		if c.expanded++; c.expanded > maxExpanded {
			c.stopped = true
			c.fail(
				n.Line,
				n.Column,
				fmt.Sprintf("aliases (*name) expand to more than %d values", maxExpanded),
				"write the values out",
			)
			return out
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.convert(n.Alias, depth+1, true)
	case yaml.SequenceNode:
		out.kind = list
		c.collection(n, "!!seq")
		for _, k := range n.Content {
			out.kids = append(out.kids, c.convert(k, depth+1, aliased))
		}
	case yaml.MappingNode:
		out.kind = mapping
		c.collection(n, "!!map")
		c.entries(out, n, depth, aliased)
	default:
		c.scalar(out, n)
	}
	return out
}

func (c *converter) collection(n *yaml.Node, tag string) {
	if t := n.ShortTag(); t != tag {
		c.fail(n.Line, n.Column, "the tag "+quoted(t)+" is not accepted", "remove it")
	}
}

// entries converts a mapping. It rejects merge keys, keys that are not plain texts, and repeated keys.
func (c *converter) entries(out *node, n *yaml.Node, depth int, aliased bool) {
	first := map[string]*node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			c.fail(
				key.Line,
				key.Column,
				"a key must be text, not a list or a mapping",
				"",
			)
			continue
		}
		if key.ShortTag() == "!!merge" {
			c.fail(key.Line, key.Column, "merge keys (<<) are not accepted",
				"repeat the keys, or use an alias for the whole value")
			continue
		}
		k := &node{
			kind:    text,
			line:    n.Content[i].Line,
			col:     n.Content[i].Column,
			literal: key.Value,
		}
		if before, again := first[k.literal]; again {
			c.fail(
				k.line,
				k.col,
				fmt.Sprintf("the key %s is given twice", quoted(k.literal)),
				fmt.Sprintf("the first one is at line %d", before.line),
			)
			continue
		}
		first[k.literal] = k
		out.keys = append(out.keys, k)
		out.kids = append(out.kids, c.convert(n.Content[i+1], depth+1, aliased))
	}
}

func (c *converter) scalar(out *node, n *yaml.Node) {
	out.literal = n.Value
	ok := true
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp": // a date is a text in a recipe
		out.kind = text
	case "!!bool":
		out.kind = boolean
		ok = n.Decode(&out.truth) == nil
	case "!!int", "!!float":
		out.kind = number
		out.whole = tag == "!!int"
		ok = n.Decode(&out.num) == nil
		switch {
		case isOutOfRange(n.Value):
			out.kind = text
		case !IsPlainNumber(n.Value) && !math.IsInf(out.num, 0) && !math.IsNaN(out.num):
			out.kind, out.notation = text, true // a name may have this form, and is taken literally
		}
	case "!!null":
		out.kind = null
	default:
		ok = false
	}
	if !ok {
		out.kind = text
		c.fail(
			n.Line,
			n.Column,
			"the tag "+quoted(n.ShortTag())+" is not accepted here",
			"remove it",
		)
	}
}

var unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// explanations maps parts of the library's messages to messages of this package. Other messages are not shown,
// because they might quote the text.
var explanations = []struct{ part, msg, hint string }{
	{"found character that cannot start any token", "this character cannot start a value",
		"put the value in quotes; use spaces, not tabs"},
	{"mapping values are not allowed", "a `: ` where no key is allowed",
		"check the indentation, or quote the text"},
	{"did not find expected ',' or", "a bracket or brace is not closed, or a comma is missing", ""},
	{"could not find expected ':'", "a key without a colon", ""},
	{"did not find expected key", "the indentation does not match the lines above",
		"all keys of a section must start in the same column"},
	{"did not find expected '-' indicator", "the indentation does not match the list above",
		"all items of a list must start in the same column"},
	{"found unexpected end of stream", "a quote is not closed", ""},
	{"unknown escape character", "unknown escape after \\ in double quotes",
		"use single quotes, or \\\\"},
	{"unknown anchor", "an alias (*name) refers to an anchor (&name) that does not exist",
		"quote the value if it starts with an asterisk"},
	{"control characters are not allowed", "a control character", "is this a text file?"},
	{"UTF-8", "the file is not UTF-8 text", "save it as UTF-8"},
	{"UTF-16", "the file is not UTF-8 text", "save it as UTF-8"},
}

// syntax converts an error of the library. The library reports lines only, some of them one too early or
// elsewhere (placeOf); a tab in the indentation is detected separately.
func (c *converter) syntax(err error, src []byte) Problems {
	m := yamlLine.FindStringSubmatch(err.Error())
	line := 1
	what := ""
	if m != nil {
		what = m[2]
		if l, e := strconv.Atoi(m[1]); e == nil {
			line = l
		}
	}
	lines := strings.Split(string(src), "\n")
	for l := max(line-1, 1); l <= min(line+1, len(lines)); l++ {
		indent := lines[l-1][:len(lines[l-1])-len(strings.TrimLeft(lines[l-1], " \t"))]
		if col := strings.IndexByte(indent, '\t'); col >= 0 {
			return c.fail(l, col+1, "a tab in the indentation", "use spaces")
		}
	}
	line, col := placeOf(what, lines, line)
	for _, e := range explanations {
		if strings.Contains(what, e.part) {
			return c.fail(line, col, "not valid YAML: "+e.msg, e.hint)
		}
	}
	return c.fail(line, col, "not valid YAML", "")
}

// placeOf locates a syntax mistake that the library reports for a line: it searches for a bracket, or for an alias
// without an anchor; for other mistakes it returns the first character of the line.
func placeOf(what string, lines []string, line int) (int, int) {
	at := func(line, bytes int) (int, int) {
		return line, utf8.RuneCountInString(lines[line-1][:bytes]) + 1
	}
	if strings.Contains(what, "did not find expected ',' or") {
		if l, col, ok := openBracket(strings.Join(lines, "\n")); ok {
			return at(l, col-1)
		}
		line++ // the library counts from 0 here
	}
	if name := unknownAnchor.FindStringSubmatch(what); name != nil {
		for i, text := range lines {
			if b := strings.Index(text, "*"+name[1]); b >= 0 {
				return at(i+1, b)
			}
		}
	}
	line = min(line, len(lines))
	return at(line, len(lines[line-1])-len(strings.TrimLeft(lines[line-1], " ")))
}

// isPlainText reports whether s, unquoted, reads back as the text s.
func isPlainText(s string) bool {
	var n yaml.Node
	if yaml.Unmarshal([]byte(s), &n) != nil || len(n.Content) != 1 {
		return false
	}
	v := n.Content[0]
	return v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" && v.Value == s
}
