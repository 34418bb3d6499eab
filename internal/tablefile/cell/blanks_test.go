package cell

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		" \t":                    "",
		"yes":                    "yes",
		" yes\t":                 "yes",
		"yes\u00a0":              "yes",
		"\u3000yes\u202f \u2009": "yes",
		"\ufeffyes":              "yes",
		"yes\u200b":              "yes",
		"\u200e\u200fyes":        "yes",
		"\ryes\v":                "\ryes\v",
		"New\r\nYork":            "New York",
		"a\n\nb\r\n":             "a  b",
		"\u00a0\n":               "",
		"New\u00a0York":          "New York",
		"a\tb":                   "a\tb",
		"e\u0301te\u0301":        "été",
		"été":                    "été",
		"e\u200b\u0301":          "é",
		"ye\ufeffs":              "yes",
		"a\u200db":               "a\u200db",
		"Å":                      "Å",
		"\u212b":                 "Å",
		"\u1100\u1161":           "가",
		"q\u0323\u0307":          "q\u0323\u0307",
		"q\u0307\u0323":          "q\u0323\u0307",
		"\xff":                   "\xff",
		"x\xff ":                 "x\xff",
		"\u00a0\u00a0":           "",
	} {
		if got := Normal(text); got != want {
			t.Errorf(
				"%+q: %+q, want %+q",
				text, got, want,
			)
		}
	}
}

// TestNormalIsStable checks that normalisation is idempotent, and that surrounding blanks do not matter.
func TestNormalIsStable(t *testing.T) {
	blanks := rapid.StringOfN(
		rapid.SampledFrom([]rune(Blanks+Invisible)),
		0, 5, -1,
	)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(
			rapid.OneOf(
				rapid.Rune(),
				rapid.SampledFrom([]rune(Blanks+Invisible+"aé\u0301\u0323")),
			)).Draw(
			t,
			"text",
		)
		want := Normal(text)
		if again := Normal(want); again != want {
			t.Fatalf(
				"%+q becomes %+q, and that %+q",
				text, want, again,
			)
		}
		got := Normal(blanks.Draw(t, "before") + text + blanks.Draw(t, "after"))
		if got != want {
			t.Fatalf(
				"%+q: %+q with blanks around it, else %+q",
				text, got, want,
			)
		}
	})
}

// TestBlanks checks that the list in exported programs is that of package unicode.
func TestBlanks(t *testing.T) {
	listed := map[rune]bool{}
	for _, r := range Blanks {
		listed[r] = true
	}
	if !listed['\t'] ||
		!listed[' '] ||
		listed['\r'] {
		t.Error("of ASCII other characters are blanks than a tab and a space")
	}
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if unicode.IsSpace(r) != listed[r] {
			t.Errorf(
				"%+q: in the list %v",
				r, listed[r],
			)
		}
	}
}
