package cell

import (
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		rule       Text
		text, want string
	}{
		{Text{}, "New  York", "New  York"},
		{Text{Fold: FoldExact}, "New  York", "New  York"},
		{Text{Fold: FoldBlanks}, "New \t York", "New York"},
		{Text{Fold: FoldCase}, "New \t YORK", "new york"},
		{
			Text{Fold: FoldCase},
			"GRÜN ΑΣ ЖЏ ×",
			"grün ας жџ ×"[:0] + "grün ασ жџ ×",
		},
		{Text{Fold: FoldCase}, "İŞ", "İŞ"},
		{Text{Prefix: 3}, "A01.12", "A01"},
		{Text{Prefix: 3}, "A0", "A0"},
		{Text{Prefix: 2}, "äöü", "äö"},
		{Text{Prefix: 2}, "A B", "A"},
		{Text{Prefix: 2, Fold: FoldCase}, "None", "None"},
		{Text{Prefix: 2, Hash: 7}, "", ""},
		{Text{Prefix: 2}, "none", "no"},
		{Text{Hash: 64}, "NA", "NA"},
	} {
		got := c.rule.Value(c.text)
		if got != c.want {
			t.Errorf(
				"%+v of %q: %q, want %q",
				c.rule, c.text, got, c.want,
			)
		}
	}
}

// TestTextTwice checks that applying a rule twice equals applying it once, except for buckets; that lower case is that
// of Unicode; that the hash is that of the library; and that every value of a rule that hashes is a bucket.
func TestTextTwice(t *testing.T) {
	small := func(text string) bool {
		for _, rule := range []Text{
			{Fold: FoldBlanks},
			{Fold: FoldCase},
			{Prefix: 3},
			{Fold: FoldCase, Prefix: 5},
		} {
			once := rule.Value(Trim(text))
			if rule.Value(once) != once {
				t.Errorf(
					"%+v of %q: %q and then %q",
					rule, text, once, rule.Value(once),
				)
			}
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(text))
		return fnv32(text) == h.Sum32()
	}
	if err := quick.Check(small, nil); err != nil {
		t.Error(err)
	}
	capital, lowered := Capitals()
	if small := strings.ToLower(capital); small != lowered ||
		len([]rune(capital)) != 26+30+26+32+16 {
		t.Errorf(
			"%q, %q: %d letters",
			capital, lowered, len([]rune(capital)),
		)
	}
	for _, r := range capital {
		if !unicode.IsUpper(r) {
			t.Errorf("%q is no capital letter", r)
		}
	}
	rule := Text{Hash: 10}
	for _, text := range []string{
		"a", "b", "c",
		"#3", "ü",
	} {
		if !slices.Contains(rule.Buckets(), rule.Value(text)) {
			t.Errorf(
				"%q of %q",
				rule.Value(text), text,
			)
		}
	}
}
