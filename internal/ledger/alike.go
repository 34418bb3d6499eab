package ledger

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// findLookalike returns a registered name that a person may confuse with name, or "".
func (b *Book) findLookalike(name string) string {
	shape := visualForm(name)
	for _, a := range b.Datasets {
		if visualForm(a.Name) == shape {
			return a.Name
		}
	}
	return ""
}

// visualForm maps names that look alike to the same text: it unifies compatibility forms and letter case, drops marks
// without width, and replaces letters of other scripts that look like Latin ones.
func visualForm(name string) string {
	name = cases.Fold().String(norm.NFKD.String(name))
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.Is(unicode.Cf, c), unicode.Is(unicode.Variation_Selector, c):
			return -1
		case unicode.IsSpace(c), c == '-', c == '_', unicode.Is(unicode.Pd, c):
			return '-'
		}
		if latin, ok := latinLookalike(c); ok {
			return latin
		}
		return c
	}, name)
}

// latinLookalike returns the Latin letter or digit that a small letter of another script resembles (Unicode Technical
// Standard 39, the single letters in common use).
func latinLookalike(c rune) (rune, bool) {
	const pairs = "аaвbсcԁdеeһhіiјjкkӏlмmнhоoрpԛqгrѕsтtцuѵvԝwхxуy" + // Cyrillic
		"αaβbγyιiκkνvοoρpτtυuχxωw" + // Greek
		"ⅼlıi0o1l" // others that are taken for each other
	list := []rune(pairs)
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] == c {
			return list[i+1], true
		}
	}
	return c, false
}
