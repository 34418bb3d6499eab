package docs

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit/pages"
)

// Limits of the user documentation: pages, words on all pages outside blocks, and words about one method.
const (
	mostPages       = 38
	mostWords       = 40_000
	mostMethodWords = 600
)

// TestSizeOfUserPages checks that the pages for users, apart from the index, stay within the limits of pages and
// words.
func TestSizeOfUserPages(t *testing.T) {
	count := 0
	words := 0
	for name, p := range readPages(t) {
		if isUserPage(name) && name != "docs/README.md" {
			count++
			words += countWords(p.Prose)
		}
	}
	if count > mostPages || words > mostWords {
		t.Errorf(
			"%d pages for users with %d words; at most %d with %d are allowed",
			count,
			words,
			mostPages,
			mostWords,
		)
	}
	if count < mostPages/2 {
		t.Errorf("%d pages for users", count)
	}
}

// countWords returns the number of words of lines, as wc counts them.
func countWords(lines []pages.Line) int {
	n := 0
	for _, l := range lines {
		n += len(strings.Fields(l.Text))
	}
	return n
}

// TestMethodPages checks that every method that a recipe can name has a short section for users with a link to the
// page of its proof. That page has the algorithm, the proof and the limits, in this order.
func TestMethodPages(t *testing.T) {
	all := readPages(t)
	elsewhere := map[string]string{
		"dpfs":  "dpfsdr",
		"crfs":  "dpfsdr",
		"auto":  "",
		"none":  "",
		"fixed": "",
	}
	selections, models := recipe.Available()
	for _, method := range slices.Concat(selections, models) {
		name := method
		if other, ok := elsewhere[method]; ok {
			name = other
		}
		if name == "" {
			continue
		}
		section := methodSection(all, name)
		n := countWords(section)
		if n == 0 || n > mostMethodWords {
			t.Errorf(
				"the section of %s in docs/methods has %d words, want 1 to %d",
				name,
				n,
				mostMethodWords,
			)
		}
		proof := "docs/proofs/" + name + ".md"
		if !slices.ContainsFunc(section, func(l pages.Line) bool {
			return strings.Contains(l.Text, "(../proofs/"+name+".md)")
		}) {
			t.Errorf(
				"the section of %s in docs/methods has no link to %s",
				name, proof,
			)
		}
		p, ok := all[proof]
		if !ok {
			t.Errorf("%s has no page with its proof", method)
			continue
		}
		last := -1
		for _, want := range []string{"Algorithm", "Sensitivity and proof", "Limits"} {
			at := slices.Index(p.Headings(), want)
			if at <= last {
				t.Errorf(
					"%s: no heading %q in its place",
					p.Path, want,
				)
			}
			last = at
		}
	}
}

// methodSection returns the text below the heading of a method in docs/methods, outside blocks.
func methodSection(all map[string]pages.Page, method string) []pages.Line {
	var out []pages.Line
	for name, p := range all {
		if path.Dir(name) != "docs/methods" {
			continue
		}
		open := false
		for _, l := range p.Prose {
			if strings.HasPrefix(l.Text, "## ") {
				open = l.Text == "## "+method
				continue
			}
			if open {
				out = append(out, l)
			}
		}
	}
	return out
}

// movedLine matches a line of docs/moved.md.
var movedLine = regexp.MustCompile(`(?m)^\| (\S+\.md) \| \[[^\]]*\]\((\S+?)\) \|$`)

// TestMovedPages checks that the earlier location of a page is free, and that scripts/site_hooks.py can read every
// line of docs/moved.md. TestLinks follows the links.
func TestMovedPages(t *testing.T) {
	const page = "docs/moved.md"
	text, err := fs.ReadFile(tree, page)
	if err != nil {
		t.Fatal(err)
	}
	moved := movedLine.FindAllStringSubmatch(string(text), -1)
	for _, m := range moved {
		_, err := fs.Stat(tree, "docs/"+m[1])
		if err == nil {
			t.Errorf(
				"%s: docs/%s exists",
				page, m[1],
			)
		}
	}
	rows := strings.Count(string(text), "\n| ")
	if len(moved) < 30 || len(moved) != rows-2 {
		t.Errorf(
			"%s: %d of %d rows are moves",
			page, len(moved), rows-2,
		)
	}
}

// TestNavigationListsEveryPage checks that mkdocs.yml lists every page of this folder once.
func TestNavigationListsEveryPage(t *testing.T) {
	text, err := fs.ReadFile(tree, "mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, nav, _ := strings.Cut(string(text), "\nnav:\n")
	listed := map[string]int{}
	for _, name := range regexp.MustCompile(`\S+\.md`).FindAllString(nav, -1) {
		listed["docs/"+name]++
	}
	all := readPages(t)
	for name := range all {
		if strings.HasPrefix(name, "docs/") && listed[name] != 1 {
			t.Errorf(
				"mkdocs.yml lists %s %d times",
				name, listed[name],
			)
		}
	}
	for name := range listed {
		if _, ok := all[name]; !ok {
			t.Errorf(
				"mkdocs.yml lists %s, which does not exist",
				name,
			)
		}
	}
}
