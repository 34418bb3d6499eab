package recipe

import (
	"errors"
	"testing"
)

// TestOpenBracket checks that the position of a bracket mistake is that of the bracket, not the line reported by the
// library.
func TestOpenBracket(t *testing.T) {
	for _, tt := range []struct {
		src       string
		line, col int // 0 if all brackets match
	}{
		{"data: {a: 1, b: [1, 2", 1, 7},
		{"data:\n  x: [a, b\n  y: c\n", 2, 6},
		{
			"a: 1\nb: 2\nc: {x: 1, y: [1, 2]\nd: {z: 3}\n",
			3, 4,
		},
		{"a: 1\nb: [1, 2}\n", 2, 4},
		{
			"a: {b: 'it''s ]', c: \"\\\"}\", d: 1} # [{\n# {\nb: x]y[\nc: http://a/[b\n",
			0, 0,
		},
		{
			"a:\n- [1, 2]\n- {b: 1}\n- - [3\n",
			4, 5,
		},
		{
			"a: [\n  # }\n  1,\n  2\n]\n",
			0, 0,
		},
		{"", 0, 0},
		{
			"a: \"[\n  {\"\nb: [1]\n",
			0, 0,
		},
		{"a: \"\\", 0, 0},
		{"a: \"\\\nb\"\nc: [", 3, 4},
	} {
		line, col, ok := openBracket(tt.src)
		if line != tt.line ||
			col != tt.col ||
			ok != (tt.line > 0) {
			t.Errorf(
				"%q: %d:%d %v, want %d:%d",
				tt.src, line, col, ok,
				tt.line, tt.col,
			)
		}
	}
}

// TestSyntaxPlaces checks that mistakes found by the library are reported at their positions.
func TestSyntaxPlaces(t *testing.T) {
	for src, want := range map[string][2]int{
		"task: classification\ndata: {path: x, classes: [no, yes]\nprivacy: {epsilon: 1}\n": {2, 7},
		"privacy: {epsilon: 1\ndata:\n  path: x\n": {1,
			10},
		"privacy: {epsilon: 1}\ndata: {path: x\n  target: y\n}\n": {2, 1},
		"privacy: {epsilon: 1}\ndata:\n  path: *x\n":              {3, 9},
	} {
		_, problems := Parse("r.yaml", []byte(src))
		var p Problem
		if !errors.As(problems, &p) ||
			p.Line != want[0] ||
			p.Column != want[1] {
			t.Errorf(
				"%q: %v, want %v",
				src, problems, want,
			)
		}
	}
}
