package main

import (
	"strings"
	"unicode"

	"github.com/dptrain/dptrain/internal/recipe"
)

// spreadsheetSafe returns a cell that a spreadsheet shows as the text that it is. A text that a spreadsheet may take for a formula, as
// =1+1 or @SUM(A1), gets an apostrophe before it. Numbers stay as they are.
func spreadsheetSafe(text string) string {
	if !startsFormula(text) {
		return text
	}
	return "'" + text
}

// startsFormula reports whether a spreadsheet may take a text for a formula: the first character that shows is one of = + - @, in
// ASCII or in full width, or there is a control character before it. A plain number is none.
func startsFormula(text string) bool {
	if recipe.IsPlainNumber(text) {
		return false
	}
	shown := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\uFEFF' })
	if before := text[:len(text)-len(shown)]; strings.ContainsAny(before, "\t\r\n") {
		return true
	}
	return strings.ContainsAny(firstRune(shown), "=+-@＝＋－＠")
}

// firstRune returns the first character of a text, or "".
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
