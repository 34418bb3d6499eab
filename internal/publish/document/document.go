// Package document writes pages for a person: the report of a release, and the results of a
// suite of experiments. A [Page] says what is on it; [HTML] and [Markdown] say it in a format.
//
// A page of HTML is one file that needs nothing from elsewhere: no network, no script. It is
// right in light, dark and print and on a phone's width, and its pictures are those of package
// chart. Equal pages give equal bytes. Every text is escaped, and what could turn or hide text
// is replaced, so that a page may hold names that come from anybody.
package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/publish/chart"
)

// A Page has a title, paragraphs and figures below it, and sections.
type Page struct {
	Title    string
	Lead     []string
	Identity []Fact // of the release, such as its publisher: names and texts
	Facts    []Fact
	Figure   chart.SVG // below the facts, with Caption
	Caption  string
	Wide     bool // for tables of many columns
	Sections []Section
}

// A Fact is a number that heads the page.
type Fact struct{ Name, Value, Note string }

// A Section of a page has a title and blocks in order. ID is a word of this program, which
// links and styles name.
type Section struct {
	ID, Title string
	Blocks    []Block
}

// A Block is one of: a paragraph, a warning, a picture with its numbers, a gallery, a table, a
// listing. One that has a Fold is hidden behind that text until it is opened.
type Block struct {
	Text     string
	Severity string // of a warning, whose message is Text: error, warning or note
	Label    string // of a warning: precedes the message
	Figure   chart.SVG
	Caption  string
	Table    *Table
	Code     string
	Fold     string
	Gallery  *Gallery
}

// A Gallery holds small pictures that share a legend.
type Gallery struct {
	Legend   []Sign
	Pictures []Picture
}

// A Sign of a legend says what curves of a style are.
type Sign struct {
	Swatch chart.SVG
	Name   string
}

// A Picture has a title, which stands above it.
type Picture struct {
	Title string
	SVG   chart.SVG
}

// A Table is a table of texts. The first column names the row.
type Table struct {
	Head  []string
	Rows  [][]string
	Words bool // cells are words, which may be many
	// Marks are what cells have beside their texts, one row per row of Rows; nil for nothing.
	Marks [][]Mark
}

// A Mark is what a cell has beside its text.
type Mark struct {
	Note   string  // shown below the text, smaller
	Heat   float64 // the colour, from -1 through 0 (none) to 1
	Strong bool
	Prose  bool // the text is a sentence
}

// markAt returns that of a cell.
func (t *Table) markAt(row, column int) Mark {
	if t.Marks == nil {
		return Mark{}
	}
	return t.Marks[row][column]
}

// replaceControls replaces characters that could turn or hide text.
func replaceControls(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsPrint(c) {
			return c
		}
		return utf8.RuneError
	}, s)
}
