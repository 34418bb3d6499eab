package docs

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Limits of Go code. They may be lowered, not raised. Tests, which have tables of cases, have more on a line.
const (
	mostTokensPerLine = 8.3 // names, numbers and single marks
	mostOneWordShare  = .25 // of the unexported functions

	mostTestOneWordShare = .05
)

var bareWords = strings.Fields("of at as to in on by or is with from for over beside within under before after above " +
	"below beyond along near like most least all none each told said")

var funcName = regexp.MustCompile(`^func (?:\([^)]*\) )?([A-Za-z]\w*)[\[(]`)

// codeStyle holds the counts that are limited, over the lines of Go files.
type codeStyle struct {
	lines      int
	tokens     int
	unexported int
	oneWord    int
	bare       int
}

func (c *codeStyle) addLine(line string) {
	text := strings.TrimSpace(line)
	if text == "" || strings.HasPrefix(text, "//") {
		return
	}
	c.lines++
	c.tokens += tokensOf(text)
	m := funcName.FindStringSubmatch(line)
	if m == nil {
		return
	}
	lower := strings.ToLower(m[1])
	if lower[0] == m[1][0] {
		c.unexported++
		if lower == m[1] && !strings.ContainsAny(lower, "0123456789_") {
			c.oneWord++
		}
	}
	if slices.Contains(bareWords, strings.ToLower(m[1])) {
		c.bare++
	}
}

// tokensOf returns the number of words and of other characters that are not blank.
func tokensOf(text string) int {
	n := 0
	inWord := false
	for _, r := range text {
		word := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if word && !inWord || !word && !unicode.IsSpace(r) {
			n++
		}
		inWord = word
	}
	return n
}

// TestCodeStyleLimits checks that code stays spread over lines and that functions are named by a verb with object or a
// noun of the field.
func TestCodeStyleLimits(t *testing.T) {
	var c, tests codeStyle
	for _, name := range filesOf(t, ".go") {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		counted := &c
		if strings.HasSuffix(name, "_test.go") {
			counted = &tests
		}
		for line := range strings.Lines(string(text)) {
			counted.addLine(line)
		}
	}
	if c.lines < 100_000 || tests.lines < 100_000 {
		t.Fatalf(
			"%d lines of code, %d of tests",
			c.lines, tests.lines,
		)
	}
	c.check(t, "code", mostTokensPerLine, mostOneWordShare)
	tests.check(t, "tests", mostTokensPerLine, mostTestOneWordShare)
	if bare := c.bare + tests.bare; bare > 0 {
		t.Errorf("%d functions are named by a preposition or a quantifier", bare)
	}
}

// check compares tokens per line and the share of functions named by one word with their limits.
func (c *codeStyle) check(t *testing.T, kind string, tokensPerLine, oneWordShare float64) {
	t.Helper()
	rate := float64(c.tokens) / float64(c.lines)
	if rate > tokensPerLine {
		t.Errorf(
			"%s: %.2f tokens per line, at most %v are allowed: put one thing on a line",
			kind,
			rate,
			tokensPerLine,
		)
	}
	share := float64(c.oneWord) / float64(c.unexported)
	if share > oneWordShare {
		t.Errorf(
			"%s: %.1f%% of the unexported functions are named by one word, at most %v%% are allowed",
			kind,
			100*share,
			100*oneWordShare,
		)
	}
}

func TestCodeStyleCounts(t *testing.T) {
	var c codeStyle
	for line := range strings.Lines("// a comment\n\nfunc (x *T) told(a, b int) {\n\treturn x_1.f(2.5)\n}\nfunc sumOf() {}\nfunc At() {}\n") {
		c.addLine(line)
	}
	want := (codeStyle{
		lines:      5,
		tokens:     36,
		unexported: 2,
		oneWord:    1,
		bare:       2,
	})
	if c != want {
		t.Errorf(
			"counted %+v, want %+v",
			c, want,
		)
	}
}
