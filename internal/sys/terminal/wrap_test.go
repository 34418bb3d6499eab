package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"
)

func TestWrapper(t *testing.T) {
	ledger := "my.ledger: unknown data set \"trees\"; there is only \"houses\"; register it with `dptrain ledger init my.ledger --dataset NAME --epsilon TOTAL`\n"
	for _, c := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"not a terminal", ledger, 0, ledger},
		{"a narrow terminal", ledger, minWidth - 1, ledger},
		{"a line of the width", strings.Repeat("ab ", 20) + "\nx\n", 60, strings.Repeat("ab ", 20) + "\nx\n"},
		{"a command", ledger, 80, "my.ledger: unknown data set \"trees\"; there is only \"houses\"; register it with\n" +
			"  `dptrain ledger init my.ledger --dataset NAME --epsilon TOTAL`\n"},
		{"a margin", "ok\n    " + strings.Repeat("word ", 10) + "end", 40, "ok\n    word word word word word word word\n      word word word end"},
		{"wide characters", strings.Repeat("東京 ", 10), 40, strings.Repeat("東京 ", 7) + "東京\n  東京 東京"},
		{"a long word", "path " + strings.Repeat("x", 50) + " is missing", 40, "path\n  " + strings.Repeat("x", 50) + "\n  is missing"},
		{"one backquote", "a ` b " + strings.Repeat("word ", 9) + "end", 40, "a ` b word word word word word word word\n  word word end"},
	} {
		for size := 1; size <= len(c.in); size += 7 { // for several splits into writes
			var got bytes.Buffer
			v := NewWrapper(&got, func() int { return c.width })
			for rest := c.in; rest != ""; {
				piece := rest[:min(size, len(rest))]
				rest = rest[len(piece):]
				n, err := v.Write([]byte(piece))
				if n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := v.Flush(); err != nil || got.String() != c.want {
				t.Fatalf("%s, in pieces of %d:\n%s, %v\n%s", c.name, size, got.String(), err, c.want)
			}
		}
	}
}

// TestWrapperKeepsWords checks that wrapping only moves words: it loses, adds and splits no word, and no line is wider than the
// terminal unless it consists of one word or command.
func TestWrapperKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching("( {0,3}([a-z東é`]{1,9} ){0,30}[a-z]*\n){0,3}").Draw(t, "text")
		width := rapid.IntRange(minWidth, 120).Draw(t, "width")
		got := ""
		for line := range strings.Lines(in) {
			got += wrap(line, width)
		}
		if a, b := strings.Fields(in), strings.Fields(got); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Fatalf("words\n%q\nbecame\n%q", a, b)
		}
		for line := range strings.Lines(got) {
			line = strings.Trim(line, " \n")
			if n := len(words(line)); n > 1 && text.StringWidth(line) > width {
				t.Fatalf("a line of %d words has %d of %d columns: %q", n, text.StringWidth(line), width, line)
			}
		}
	})
}

func TestWidthOfFile(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if n := Width(f); n != 0 {
		t.Fatalf("the null device has %d columns", n)
	}
}
