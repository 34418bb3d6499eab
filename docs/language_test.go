package docs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit/pages"
)

// markers are phrases that are rare in technical English and frequent in translated prose. Each matches a line of a
// comment or a sentence of a page.
var markers = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{
		"what as a noun",
		regexp.MustCompile(
			`^(\w+ )?(is|are|returns|says|holds|has|keeps|what) what\b|\bwhat (is|it|they|a|the|was|has|one|of|comes|stands|lies)\b`),
	},
	{
		"says, tells",
		regexp.MustCompile(`\b(says|say|said|told|tells)\b`),
	},
	{
		"none, nothing, nobody",
		regexp.MustCompile(`\b(none|nothing|nobody)\b`),
	},
	{
		"of which",
		regexp.MustCompile(`\bof (which|whom|those|them)\b`),
	},
	{
		"stands, lies",
		regexp.MustCompile(`\b(stands|stand|lies|lie)\b`),
	},
	{"so many", regexp.MustCompile(`\bso many\b`)},
}

// most are the largest numbers of markers per 1,000 lines, in the order of markers. They may be lowered, not raised.
var most = map[string][]float64{
	"comments":          {2, 1.2, 2.6, 3, .4, .2},
	"comments of tests": {.5, .5, 1.5, .6, .5, 0},
	"user pages":        {5, 1, 1, 1, 1, 0},
	"other pages":       {6, 3, 3, 4, 1, 0},
}

// TestLanguage checks that comments of Go files and pages have no more markers per 1,000 lines than the limits. A line of a page is a sentence; tables are left out, because some are generated.
func TestLanguage(t *testing.T) {
	lines := map[string][]string{}
	for _, name := range filesOf(t, ".go") {
		kind := "comments"
		if strings.HasSuffix(name, "_test.go") {
			kind = "comments of tests"
		}
		lines[kind] = append(lines[kind], commentLines(t, name)...)
	}
	for name, p := range readPages(t) {
		switch {
		case name == "CHANGELOG.md":
		case isUserPage(name):
			lines["user pages"] = append(lines["user pages"], pageLines(p)...)
		default:
			lines["other pages"] = append(lines["other pages"], pageLines(p)...)
		}
	}
	for kind, limits := range most {
		if len(lines[kind]) < 900 {
			t.Errorf(
				"%s: %d lines",
				kind, len(lines[kind]),
			)
		}
		for i, m := range markers {
			rate := ratePer1000(lines[kind], m.pattern)
			if rate > limits[i] {
				t.Errorf(
					"%s: %q occurs %.1f times per 1,000 lines, at most %g are allowed: rewrite some of them",
					kind,
					m.name,
					rate,
					limits[i],
				)
			}
		}
	}
}

// ratePer1000 returns the number of matches per 1,000 lines.
func ratePer1000(lines []string, pattern *regexp.Regexp) float64 {
	hits := 0
	for _, l := range lines {
		if pattern.MatchString(l) {
			hits++
		}
	}
	return 1000 * float64(hits) / float64(max(len(lines), 1))
}

// commentLines returns the lines of a Go file that are comments, without directives.
func commentLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
		if ok && !strings.HasPrefix(comment, "go:") {
			out = append(out, strings.TrimSpace(comment))
		}
	}
	return out
}

// pageLines returns the headings and sentences of a page. Tables, code and the targets of links are left out.
func pageLines(p pages.Page) []string {
	var out []string
	for _, l := range p.Prose {
		text := strings.TrimSpace(
			linkText.ReplaceAllString(code.ReplaceAllString(l.Text, "X"), "$1"))
		switch {
		case text == "" || strings.HasPrefix(text, "|"):
		default:
			out = append(out, splitSentences(text)...)
		}
	}
	return out
}

func TestMarkersAreCounted(t *testing.T) {
	p, err := pages.Parse(
		"a.md",
		"# A heading\n\nWhat it is, nobody says. `nothing` here.\n\n| none |\n| --- |\n\n[so many](says.md)\n",
	)
	if err != nil {
		t.Fatal(err)
	}
	lines := pageLines(p)
	want := []string{"# A heading", "What it is, nobody says. ", "X here.",
		"so many"}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
	for i, want := range []float64{0, 250, 250, 0, 0, 250} {
		got := ratePer1000(lines, markers[i].pattern)
		if got != want {
			t.Errorf(
				"%s: %g, want %g",
				markers[i].name, got, want,
			)
		}
	}
}

// isUserPage reports whether a page is for users: the index, tutorials, guides, explanation, and reference except the
// architecture of the code.
func isUserPage(name string) bool {
	switch path.Dir(name) {
	case "docs/tutorials", "docs/guide", "docs/explanation", "docs/reference", "docs/methods":
		return name != "docs/reference/architecture.md"
	}
	return name == "docs/README.md"
}
