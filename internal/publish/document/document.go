// Package document writes pages for human readers: the report of a release, and the results of a suite of
// experiments. A [Page] is the content; [HTML] and [Markdown] write it in a format.
//
// An HTML page is one self-contained file without network access or scripts. It supports light and dark mode, print
// and the width of a phone, and its pictures are those of package chart. Equal pages give equal bytes. Every text is
// escaped, and characters that could reverse or hide text are replaced, so that a page may contain names from
// untrusted sources.
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

// A Fact is a key figure at the head of a page.
type Fact struct{ Name, Value, Note string }

// A Section of a page has a title and a list of blocks. ID is a constant of this program, used in links and styles.
type Section struct {
	ID     string
	Title  string
	Blocks []Block
}

// A Block is one of: a paragraph, a warning, a picture with its numbers, a gallery, a table, a listing. A block with
// a Fold is hidden behind that text until it is opened.
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

// A Gallery is a group of small pictures with a common legend.
type Gallery struct {
	Legend   []Sign
	Pictures []Picture
}

// A Sign is an entry of a legend: the meaning of a curve style.
type Sign struct {
	Swatch chart.SVG
	Name   string
}

// A Picture is a drawing with a title above it.
type Picture struct {
	Title string
	SVG   chart.SVG
}

// A Table is a table of texts. The first column contains the names of the rows.
type Table struct {
	Head  []string
	Rows  [][]string
	Words bool // cells are texts, possibly long ones
	// Intervals reports that a cell may end with an interval in parentheses. An HTML page has it below the value.
	Intervals bool
	// Marks are decorations of cells, one row per row of Rows; nil if there are no decorations.
	Marks [][]Mark
}

// A Mark is the decoration of a cell.
type Mark struct {
	Note   string  // shown below the text, smaller
	Heat   float64 // the colour, from -1 through 0 (none) to 1
	Strong bool
	Prose  bool // the text is a sentence
}

// markAt returns the mark of a cell.
func (t *Table) markAt(row, column int) Mark {
	if t.Marks == nil {
		return Mark{}
	}
	return t.Marks[row][column]
}

// replaceControls replaces characters that could reverse or hide text.
func replaceControls(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsPrint(c) {
			return c
		}
		return utf8.RuneError
	}, s)
}
