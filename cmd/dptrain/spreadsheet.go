package main

import (
	"strings"
	"unicode"

	"github.com/dptrain/dptrain/internal/recipe"
)

// spreadsheetSafe returns a cell that a spreadsheet shows as plain text. Text that a spreadsheet may take for a
// formula, such as =1+1 or @SUM(A1), is prefixed with an apostrophe. Numbers are unchanged.
func spreadsheetSafe(text string) string {
	if !startsFormula(text) {
		return text
	}
	return "'" + text
}

// startsFormula reports whether a spreadsheet may take text for a formula: the first visible character is one of = +
// - @, in ASCII or in full width, or a control character precedes it. Plain numbers are not formulas.
func startsFormula(text string) bool {
	if recipe.IsPlainNumber(text) {
		return false
	}
	shown := strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\uFEFF'
	})
	if before := text[:len(text)-len(shown)]; strings.ContainsAny(before, "\t\r\n") {
		return true
	}
	return strings.ContainsAny(firstRune(shown), "=+-@＝＋－＠")
}

// firstRune returns the first character of text, or "".
func firstRune(text string) string {
	for _, r := range text {
		return string(r)
	}
	return ""
}

// makeSafe makes the names of columns and of classes safe for spreadsheets.
func (s *scorer) makeSafe() {
	for i := range s.columns {
		c := &s.columns[i]
		c.name = spreadsheetSafe(c.name)
		var classes []string
		for _, class := range c.classes {
			classes = append(classes, spreadsheetSafe(class))
		}
		if c.classes != nil {
			c.classes = classes
		}
	}
}
