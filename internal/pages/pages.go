// Package pages reads the Markdown pages of this repository, so that tests can check links,
// run the commands that are shown and compile the programs.
//
// The first word after a fence is the language of a block. What follows tells the tests what
// to do with it:
//
//	```console exit=3         commands after "$ " and what they print; the last one ends with code 3
//	```console varies         the same, but numbers are not compared
//	```sh no-run: minutes     commands that the tests leave out, and why
//	```yaml file=houses.yaml  a file that the commands below it on the page read
package pages

import (
	"fmt"
	"strings"
	"unicode"
)

// A Page is one Markdown file.
type Page struct {
	Path   string // as it was given to Parse
	Lines  []string
	Prose  []Line // what is outside blocks
	Blocks []Block
}

// A Line has its number in the file, from 1.
type Line struct {
	Number int
	Text   string
}

// A Block is what stands between two fences.
type Block struct {
	Line     int    // number of the opening fence
	Language string // the first word after it
	Options  string // what follows the language
	Text     string // with a line break at the end, unless it is empty
}

// Parse reads a page. A fence begins with ``` at the start of a line; one that is never
// closed, or that is indented, is an error.
func Parse(path, text string) (Page, error) {
	p := Page{Path: path, Lines: strings.Split(text, "\n")}
	inside := false
	for i, l := range p.Lines {
		fence := strings.HasPrefix(l, "```")
		switch {
		case fence && !inside:
			inside = true
			language, options, _ := strings.Cut(strings.TrimPrefix(l, "```"), " ")
			p.Blocks = append(p.Blocks, Block{Line: i + 1, Language: language, Options: strings.TrimSpace(options)})
		case fence:
			inside = false
		case inside:
			p.Blocks[len(p.Blocks)-1].Text += l + "\n"
		case strings.HasPrefix(strings.TrimSpace(l), "```"):
			return Page{}, fmt.Errorf("%s:%d: an indented fence", path, i+1)
		default:
			p.Prose = append(p.Prose, Line{i + 1, l})
		}
	}
	if inside {
		return Page{}, fmt.Errorf("%s:%d: a block is not closed", path, p.Blocks[len(p.Blocks)-1].Line)
	}
	return p, nil
}

// Option returns the value of an option name=value, or "".
func (b Block) Option(name string) string {
	for _, o := range strings.Fields(b.Options) {
		if value, ok := strings.CutPrefix(o, name+"="); ok {
			return value
		}
	}
	return ""
}

// Skipped returns why the tests do not run a block, and whether they do not.
func (b Block) Skipped() (reason string, skipped bool) {
	return strings.CutPrefix(b.Options, "no-run: ")
}

// Headings returns the texts of the headings, without their marks.
func (p Page) Headings() []string {
	var out []string
	for _, l := range p.Prose {
		if strings.HasPrefix(l.Text, "#") {
			out = append(out, strings.TrimSpace(strings.TrimLeft(l.Text, "#")))
		}
	}
	return out
}

// Anchor returns the anchor that GitHub gives a heading: lower case, hyphens for spaces,
// no other punctuation.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
