package chart

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"
)

// TestLastTick checks that the label of a tick at the right end of the axis stays in the picture, in the largest type.
func TestLastTick(t *testing.T) {
	p := Plot{Title: "t", Series: []Series{{X: []float64{0, 20200, 202000}, Y: []float64{0, 1, 2}}}}
	found := 0
	for _, m := range regexp.MustCompile(`<text x="([0-9.]+)"[^>]*>([0-9,]+)</text>`).FindAllStringSubmatch(string(p.SVG()), -1) {
		at, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if half := letter * float64(utf8.RuneCountInString(m[2])) / 2; at > 60 && at+half > width {
			t.Errorf("%s ends at %v of %v", m[2], at+half, width)
		}
		found++
	}
	if found < 4 {
		t.Errorf("%d labels were found", found)
	}
}

// TestBreakLinesAtMarks checks that a long name is broken after a mark in it, if there is one.
func TestBreakLinesAtMarks(t *testing.T) {
	for text, want := range map[string][]string{
		"Aufnahmedatum.month":     {"Aufnahmedatum.", "month"},
		"default.payment.next":    {"default.payment.", "next"},
		"a.bcdefghijklmnopqrstuv": {"a.bcdefghijklmnopq", "rstuv"},
		"abcdefghijklmnopqrstuv":  {"abcdefghijklmnopqr", "stuv"},
		"two words of a label":    {"two words of a", "label"},
	} {
		if got := breakLines(text, barLetter); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
