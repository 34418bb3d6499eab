// Package pages parses the Markdown pages of this repository, so that tests can check links, run the commands and
// compile the programs.
//
// The first word after a fence is the language of a block. The options after it are instructions for the tests:
//
//	```console exit=3         commands after "$ " and their output; the last one exits with code 3
//	```console varies         the same, but numbers are not compared
//	```sh                     commands that must succeed
//	```yaml file=houses.yaml  a file that the commands below it on the page read
//
// A block of commands is run by one of three runners (see [Block.Runner]): TestPages of cmd/dptrain, .ci/run, or
// scripts/long.sh pages. The latter two must be named, optionally with a reason after a colon:
//
//	```sh by=long: an hour    scripts/long.sh pages runs it
//	```sh by=ci               every line is also in .ci/run
//
// Options for running a block:
//
//	put=FILE:houses.csv       replaces FILE on the page by houses.csv; + is a blank
//	quick=10:1                the same, in the tests only; scripts/long.sh pages runs the block as written
//	in=copy                   the folder: see places in cmd/dptrain/pages_places_replay_test.go
//	tables                    needs public tables in tables/; skipped if they are missing
//	needs=buildah,node        skipped if a program is missing
//	background                the last line that starts with dptrain runs until the lines below it are done
package pages

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Page is one Markdown file.
type Page struct {
	Path   string // as given to Parse
	Lines  []string
	Prose  []Line // lines outside blocks
	Blocks []Block
}

// A Line is a line of text with its number in the file, from 1.
type Line struct {
	Number int
	Text   string
}

// A Block is a fenced block.
type Block struct {
	Line     int    // number of the opening fence
	Language string // first word after the fence
	Options  string // rest of the fence line
	Text     string // with a line break at the end, unless it is empty
}

// Parse parses a page. A fence is ``` at the start of a line; an indented or unclosed fence is an error.
func Parse(path, text string) (Page, error) {
	p := Page{Path: path, Lines: strings.Split(text, "\n")}
	inside := false
	for i, l := range p.Lines {
		fence := strings.HasPrefix(l, "```")
		switch {
		case fence && !inside:
			inside = true
			language, options, _ := strings.Cut(strings.TrimPrefix(l, "```"), " ")
			p.Blocks = append(p.Blocks,
				Block{
					Line:     i + 1,
					Language: language,
					Options:  strings.TrimSpace(options),
				})
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
		return Page{},
			fmt.Errorf("%s:%d: a block is not closed", path, p.Blocks[len(p.Blocks)-1].Line)
	}
	return p, nil
}

// The runners of a block of commands.
const (
	Tests = "tests" // TestPages of cmd/dptrain
	CI    = "ci"    // .ci/run has its lines
	Long  = "long"  // scripts/long.sh pages
)

// names are the names of the options of a block.
var names = []string{"exit", "varies", "file", "invalid", "by", "put", "quick", "in", "tables",
	"needs", "background"}

// Runner returns the runner of a block: [Tests], [CI] or [Long].
func (b Block) Runner() string {
	if by := b.Option("by"); by != "" {
		return by
	}
	return Tests
}

// words returns the list of options, and the reason after them.
func (b Block) words() (options []string, reason string) {
	text, reason, _ := strings.Cut(b.Options+" ", ": ")
	return strings.Fields(text), strings.TrimSpace(reason)
}

// Reason returns the reason for the options of a block, or "".
func (b Block) Reason() string {
	_, reason := b.words()
	return reason
}

// Unknown returns unknown options.
func (b Block) Unknown() []string {
	options, _ := b.words()
	return slices.DeleteFunc(options, func(o string) bool {
		name, _, _ := strings.Cut(o, "=")
		return slices.Contains(names, name)
	})
}

// Option returns the value of an option name=value, or "".
func (b Block) Option(name string) string {
	options, _ := b.words()
	for _, o := range options {
		if value, ok := strings.CutPrefix(o, name+"="); ok {
			return value
		}
	}
	return ""
}

// Has reports whether a block has an option without a value.
func (b Block) Has(name string) bool {
	options, _ := b.words()
	return slices.Contains(options, name)
}

// Commands returns the text of a block with the replacements of its options, including those of quick if quick
// is set.
func (b Block) Commands(quick bool) string {
	options, _ := b.words()
	text := b.Text
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		if word, by, ok := strings.Cut(value, ":"); ok &&
			(name == "put" || name == "quick" && quick) {
			text = replaceWord(text, word, strings.ReplaceAll(by, "+", " "))
		}
	}
	return text
}

// replaceWord replaces all occurrences of a word between spaces.
func replaceWord(text, word, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, " ")
		for j, c := range cells {
			if c == word {
				cells[j] = by
			}
		}
		lines[i] = strings.Join(cells, " ")
	}
	return strings.Join(lines, "\n")
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

// Anchor returns the anchor of a heading on GitHub: lower case, hyphens for spaces, no other punctuation.
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
