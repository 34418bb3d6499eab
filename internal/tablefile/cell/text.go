package cell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Text is the rule that maps the text of a category cell to a value. The zero Text is exact: the text as
// [Normal] returns it. A Text is public: it comes from a recipe, and its result for a cell depends on that cell
// alone. Models list values as a Text returns them, and exported programs contain the same rules.
type Text struct {
	Fold   string // FoldExact, which "" is too, FoldBlanks or FoldCase
	Prefix int    // number of leading characters to keep; 0: all
	Hash   int    // number of buckets that values are hashed to; 0: no hashing
}

// The foldings, in addition to removing surrounding blanks. FoldExact makes no other change, FoldBlanks also
// reduces runs of blanks to one, and FoldCase also ignores case.
const (
	FoldExact  = "exact"
	FoldBlanks = "blanks"
	FoldCase   = "case"
)

// Limits of a Text.
const (
	MaxPrefix = 64
	MaxHash   = 1024
)

// Exact reports whether values are texts as [Normal] returns them.
func (t Text) Exact() bool {
	return t.Prefix == 0 && t.Hash == 0 && (t.Fold == "" || t.Fold == FoldExact)
}

// Known reports whether this version knows the rule.
func (t Text) Known() bool {
	return (t.Fold == "" || t.Fold == FoldExact || t.Fold == FoldBlanks || t.Fold == FoldCase) &&
		t.Prefix >= 0 && t.Prefix <= MaxPrefix && t.Hash >= 0 && t.Hash <= MaxHash
}

// Value returns the value of a text. A marker of a missing value is unchanged. Otherwise the folding, the prefix,
// without blanks at its end, and the bucket apply in this order.
func (t Text) Value(text string) string {
	text = Normal(text)
	if t.Exact() || MissingWord(text) {
		return text
	}
	if t.Fold == FoldBlanks || t.Fold == FoldCase {
		text = oneBlank(text)
	}
	if t.Fold == FoldCase {
		text = strings.Map(lowerRune, text)
	}
	if t.Prefix > 0 {
		text = Trim(truncate(text, t.Prefix))
	}
	if t.Hash > 0 {
		return bucketName(fnv32(text) % uint32(t.Hash)) //nolint:gosec // at most MaxHash
	}
	return text
}

// Buckets lists the values of a Text with hashing.
func (t Text) Buckets() []string {
	out := make([]string, t.Hash)
	for k := range out {
		out[k] = bucketName(uint32(k)) //nolint:gosec // at most MaxHash
	}
	return out
}

func bucketName(k uint32) string {
	return "#" + strconv.FormatUint(uint64(k), 10)
}

// oneBlank replaces every run of blanks and tabs by one blank.
func oneBlank(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == ' ' || r == '\t'
	}), " ")
}

// lowerRune returns the lower-case form of an upper-case Latin letter of ASCII or Latin-1, or of a Greek or
// Cyrillic one. All other characters are unchanged, so that every language and database can do the same.
func lowerRune(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z', r >= 'À' && r <= 'Þ' && r != '×', r >= 'Α' && r <= 'Ϋ' && r != 0x3a2,
		r >= 'А' && r <= 'Я':
		return r + 32
	case r >= 'Ѐ' && r <= 'Џ':
		return r + 80
	}
	return r
}

// Capitals returns the letters that FoldCase changes, and their lower-case forms in the same order.
func Capitals() (capital, small string) {
	var a, b strings.Builder
	for r := rune('A'); r <= 'Я'; r++ {
		if s := lowerRune(r); s != r {
			a.WriteRune(r)
			b.WriteRune(s)
		}
	}
	return a.String(), b.String()
}

// truncate returns the first characters of a text.
func truncate(text string, n int) string {
	at := 0
	for range n {
		if at == len(text) {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at]
}

// fnv32 is the hash FNV-1a of 32 bits of the bytes of a text.
func fnv32(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return h
}
