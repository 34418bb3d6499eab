package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// FuzzDecode reads arbitrary bytes as a report. The report must be rejected with one of the two errors, or be written
// back unchanged and printed without terminal control characters.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 2 {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrContent) {
				t.Fatal(err)
			}
			return
		}
		var b, again strings.Builder
		if err := Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		r, err = Decode(strings.NewReader(b.String()))
		if err != nil {
			t.Fatalf(
				"%v in\n%s",
				err, b.String(),
			)
		}
		if err := Encode(&again, r); err != nil || again.String() != b.String() {
			t.Fatalf("another file after a round trip: %v", err)
		}
		var text strings.Builder
		if err := Text(&text, r); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(text.String(), func(c rune) bool {
			return c != '\n' && unicode.IsControl(c)
		}) {
			t.Fatalf("a control character in %q", text.String())
		}
	})
}

// TestDeepReport checks that a long, deeply nested file is rejected without writing out the path to each of its
// values.
func TestDeepReport(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 4000)
	data := `{"format":"` + Format + `","unprotected":[{"name":"x","value":` + deep +
		strings.Repeat("0,", 1<<20) + `0` + strings.Repeat("]}", 4000) + "}]}"
	if _, err := Decode(strings.NewReader(data)); !errors.Is(err, ErrContent) {
		t.Errorf("%v", err)
	}
	_, err := Decode(
		strings.NewReader(strings.Replace(
			data, "0]",
			`{"b":1,"b":2}]`,
			1,
		)))
	if err == nil ||
		!strings.Contains(
			err.Error(),
			`unprotected[0].value: key "b" is repeated`,
		) ||
		len(err.Error()) > 500 {
		t.Errorf("%v", err)
	}
}
