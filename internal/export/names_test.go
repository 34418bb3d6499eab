package export

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/regression"
)

// TestSQLNamesOfColumns checks that a model is refused if the database cannot tell two of its columns apart, and only then.
func TestSQLNamesOfColumns(t *testing.T) {
	var text bytes.Buffer
	if err := regression.EncodeModel(&text, modelKinds(t)["model-2"]); err != nil {
		t.Fatal(err)
	}
	decoded, err := regression.DecodeModel(&text)
	if err != nil {
		t.Fatal(err)
	}
	m := decoded.(*regression.Linear)
	for _, c := range []struct {
		first, second string
		refused       bool
	}{
		{"Age", "age", true},
		{"AGE Q1", "age q1", true},
		{"Ä", "ä", false},
		{"age", "aqe", false},
	} {
		m.Columns[0].Name, m.Columns[1].Name = c.first, c.second
		for _, dialect := range Dialects() {
			var out strings.Builder
			err := SQL(&out, m, dialect, "records")
			if want := c.refused && dialect != "postgres"; errors.Is(err, ErrKind) != want || (err == nil) == want {
				t.Errorf("%s: %q and %q: %v", dialect, c.first, c.second, err)
			}
		}
	}
}
