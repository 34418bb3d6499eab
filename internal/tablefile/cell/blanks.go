package cell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Blanks lists the blanks that are removed around a cell, and Invisible the characters without a width that tables
// contain by accident: zero-width spaces and joiners, direction marks, the word joiner and the byte order mark.
// Exported programs have the same lists. Control characters of ASCII other than the tab are not included.
const (
	Blanks    = "\t \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	Invisible = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
)

// Removed lists the characters of [Invisible] that [Normal] removes within a text as well. The others have a meaning
// between letters: joiners in Persian, in the scripts of India and in emoji.
const Removed = "\u200b\u2060\ufeff"

// Trim removes the characters of [Blanks] and [Invisible] around a cell. A line end within it becomes a blank,
// as in [AppendCell], so that a cell does not depend on whether its table format can represent one.
func Trim(s string) string {
	if strings.IndexByte(s, '\n') >= 0 {
		s = lineEndReplacer.Replace(s)
	}
	s = strings.Trim(s, " \t")
	if s == "" || s[0] < utf8.RuneSelf && s[len(s)-1] < utf8.RuneSelf {
		return s
	}
	return strings.TrimFunc(s, IsBlank)
}

// lineEndReplacer replaces each line end by a blank. A lone carriage return is not a line end.
var lineEndReplacer = strings.NewReplacer("\r\n", " ", "\n", " ")

// IsBlank reports whether r is a character that Trim removes, other than a line end.
func IsBlank(r rune) bool {
	return r == ' ' || r == '\t' ||
		r >= utf8.RuneSelf && (unicode.IsSpace(r) || strings.ContainsRune(Invisible, r))
}

// Normal returns the text of a category, a label or a privacy unit in the form used for comparisons: without
// surrounding blanks and the characters of [Removed], with plain blanks in place of others such as the no-break
// space, and in the Unicode normalization form NFC. So é is one value, whether it is stored as one character or
// as two.
func Normal(s string) string {
	s = Trim(s)
	if isASCII(s) {
		return s
	}
	return norm.NFC.String(plain.Replace(s))
}

// plain removes the characters of [Removed], and replaces blanks that are not ASCII.
var plain = func() *strings.Replacer {
	var pairs []string
	for _, r := range Removed {
		pairs = append(pairs, string(r), "")
	}
	for _, r := range Blanks {
		if r >= utf8.RuneSelf {
			pairs = append(pairs, string(r), " ")
		}
	}
	return strings.NewReplacer(pairs...)
}()

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
