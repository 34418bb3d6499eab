package recipe

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestLongListsAreCompared checks that repeated items of lists are found in one pass: comparing every name of this header
// with every other would take minutes here.
func TestLongListsAreCompared(t *testing.T) {
	const names = 1 << 16
	header := make([]string, names)
	for j := range header {
		header[j] = "c" + strconv.Itoa(j)
	}
	text := func(header []string) []byte {
		return fmt.Appendf(
			nil,
			"data:\n  target: c7\n  header: [%s]\nprivacy: {epsilon: 1}\n",
			strings.Join(header, ", "),
		)
	}
	if _, problems := Parse("r.yaml", text(header)); len(problems) > 0 {
		t.Fatal(problems)
	}
	header[names-1] = "c9"
	_, problems := Parse("r.yaml", text(header))
	if len(problems) != 1 ||
		!strings.Contains(problems[0].Error(), `column "c9" is listed twice`) {
		t.Errorf("a repeated name: %v", problems)
	}
}

// TestManyExcludedColumns checks that the header of a wide table is compared with a long list of excluded columns in one pass:
// comparing every name with every other would take minutes here.
func TestManyExcludedColumns(t *testing.T) {
	const names = 1 << 16
	header := make([]string, names)
	for j := range header {
		header[j] = "c" + strconv.Itoa(j)
	}
	r, problems := Parse("r.yaml", fmt.Appendf(
		nil,
		"data: {path: t.csv, target: c7, exclude: [%s]}\nprivacy: {epsilon: 1}\n",
		strings.Join(header[9:], ", "),
	))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, err := r.Pipeline(header)
	if err != nil || len(p.Schema.Columns) != 9 {
		t.Errorf("%v, %+v", err, p)
	}
	got := r.UndeclaredDates(header, nil)
	if got != nil {
		t.Errorf("%q", got)
	}
	header[names-1] = "d"
	problems = r.Validate(header)
	if len(problems) != 1 ||
		!strings.Contains(
			problems[0].Error(),
			`the excluded column "c65535" is not in the header`,
		) {
		t.Errorf("a column that is not there: %v", problems)
	}
}

// TestRepeatedItems checks which items of a list are the same: names as they are written, other items by their value.
func TestRepeatedItems(t *testing.T) {
	word := func(s string) *node {
		return &node{kind: text, literal: s}
	}
	digits := func(s string, x float64) *node {
		return &node{
			kind:    number,
			literal: s,
			num:     x,
		}
	}
	truth := func(s string, x bool) *node {
		return &node{
			kind:    boolean,
			literal: s,
			truth:   x,
		}
	}
	pair := func(key string, value *node) *node {
		return &node{
			kind: mapping,
			keys: []*node{word(key)},
			kids: []*node{value},
		}
	}
	for name, tt := range map[string]struct {
		items         []*node
		names         bool
		first, second int
		found         bool
	}{
		"texts": {
			[]*node{
				word("a"),
				word("b"),
				word("b"),
				word("a"),
			},
			false,
			1,
			2,
			true,
		},
		"numbers": {
			[]*node{
				digits("1", 1),
				digits("2", 2),
				digits("1.0", 1),
			},
			false,
			0,
			2,
			true,
		},
		"names of numbers": {
			[]*node{digits("1", 1), digits("1.0", 1)},
			true,
			0,
			0,
			false,
		},
		"the same name": {
			[]*node{
				digits("1.0", 1),
				word("x"),
				digits("1.0", 1),
			},
			true,
			0,
			2,
			true,
		},
		"truth": {
			[]*node{truth("true", true), truth("True", true)},
			false,
			0,
			1,
			true,
		},
		"names of truth": {
			[]*node{truth("true", true), truth("True", true)},
			true,
			0,
			0,
			false,
		},
		"a text, a number": {
			[]*node{word("1"), digits("1", 1)},
			true, 0, 0, false,
		},
		"mappings": {
			[]*node{
				pair("a", word("x")),
				pair("b", word("x")),
				pair("a", word("x")),
			},
			false,
			0,
			2,
			true,
		},
		"different of kind": {
			[]*node{
				pair("a", word("x")),
				pair("a", digits("1", 1)),
			},
			false,
			0,
			0,
			false,
		},
		"none": {nil, true, 0, 0, false},
	} {
		first, second, found := repeated(tt.items, tt.names)
		if first != tt.first || second != tt.second || found != tt.found {
			t.Errorf(
				"%s: %d, %d, %v",
				name, first, second, found,
			)
		}
	}
}
