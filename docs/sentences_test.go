package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit/pages"
)

// longest is the number of words that a sentence may have.
const longest = 30

var (
	sentenceEnd = regexp.MustCompile("[.!?][)\"*]*\\s+(\\S)")
	listMark    = regexp.MustCompile(`^([*-]|\d+\.) `)
	linkText    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	word        = regexp.MustCompile(`[\pL\pN]`)
	longWord    = regexp.MustCompile(`\pL{2}`)
)

// sentences splits a paragraph.
func sentences(text string) []string {
	var out []string
	for {
		m := sentenceEnd.FindStringSubmatchIndex(text)
		if m == nil {
			return append(out, text)
		}
		out, text = append(out, text[:m[2]]), text[m[2]:]
	}
}

// spoken returns the paragraphs and items of lists of a page, each as one line. Tables, headings and
// indented formulas are left out, code counts as one word and a link as its text.
func spoken(p pages.Page) []pages.Line {
	var out []pages.Line
	open := false
	last := 0
	for _, l := range p.Prose {
		text := strings.TrimSpace(l.Text)
		formula := strings.HasPrefix(l.Text, "    ") && !open
		ends := text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "|") || formula
		item := listMark.MatchString(text)
		switch {
		case ends:
			open = false
		case open && !item && l.Number == last+1:
			out[len(out)-1].Text += " " + text
		default:
			out, open = append(out, pages.Line{Number: l.Number, Text: listMark.ReplaceAllString(text, "")}), true
		}
		last = l.Number
	}
	for i := range out {
		out[i].Text = linkText.ReplaceAllString(code.ReplaceAllString(out[i].Text, "X"), "$1")
	}
	return out
}

// words counts what has a letter or a digit; among formulas, what has two letters.
func words(sentence string, counts *regexp.Regexp) int {
	n := 0
	for _, w := range strings.Fields(sentence) {
		if counts.MatchString(w) {
			n++
		}
	}
	return n
}

// TestSentences: no sentence is longer than 30 words. In the pages that have formulas, those of methods,
// the reference, the laboratory and contributors, a symbol or a number is no word.
func TestSentences(t *testing.T) {
	checked := 0
	for name, p := range all(t) {
		if name == "CHANGELOG.md" {
			continue
		}
		counts := longWord
		if name == "README.md" || name == "docs/README.md" || strings.HasPrefix(name, "docs/tutorials/") || strings.HasPrefix(name, "docs/guide/") {
			counts = word
		}
		for _, l := range spoken(p) {
			for _, s := range sentences(l.Text) {
				checked++
				if n := words(s, counts); n > longest {
					t.Errorf("%s:%d: %d words: %s", name, l.Number, n, s)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d sentences", checked)
	}
}

func TestSentencesAreCounted(t *testing.T) {
	p := pages.Page{Prose: []pages.Line{
		{Number: 1, Text: "# A heading"},
		{Number: 2, Text: "One `two three` [four five](six.md)."},
		{Number: 3, Text: "Six. (Seven, eight)"},
		{Number: 4, Text: "* nine"},
		{Number: 5, Text: "  ten"},
		{Number: 6, Text: ""},
		{Number: 7, Text: "    x = y"},
	}}
	var got []int
	for _, l := range spoken(p) {
		for _, s := range sentences(l.Text) {
			got = append(got, words(s, word))
		}
	}
	want := []int{4, 1, 2, 2}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
