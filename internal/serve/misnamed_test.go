package serve

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestBodiesOfOtherFormats checks that a body that is no CSV, although its content type says so, is refused by what it is.
func TestBodiesOfOtherFormats(t *testing.T) {
	_, web := startHandler(t, numbers, Limits{})
	wide := "\xff\xfe"
	for _, unit := range utf16.Encode([]rune("x,y\n1,2\n")) {
		wide += string([]byte{byte(unit), byte(unit >> 8)})
	}
	for body, want := range map[string]string{
		"\x1f\x8b\b\x00\x00\x00\x00\x00\x00\x03": "the body is gzip-compressed, not CSV; send CSV in UTF-8, without compression",
		"PAR1\x15\x00\x15\x10":                   "the body is a Parquet file, not CSV; send CSV in UTF-8, without compression",
		`{"x": 1}` + "\n" + `{"x": 2}` + "\n":    "the body is JSON Lines, not CSV; send CSV in UTF-8, without compression",
		wide:                                     "line 1: the header is UTF-16 text; set encoding",
	} {
		status, answer := postBody(t, web+"/predict", "text/csv", strings.NewReader(body))
		if status != http.StatusBadRequest || !strings.Contains(answer, want) {
			t.Errorf("%q: %d %s", body, status, answer)
		}
	}
}
