package main

import (
	"strings"
	"testing"
)

// TestPredictNotesObjects checks what predict prints about JSON Lines with lines that are not objects, and with columns that no
// record has: notes, an error for --strict, and an error if no line is an object.
func TestPredictNotesObjects(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	const (
		lines  = "note: new.jsonl: 2 lines are not JSON objects, the first in record 2; all their values count as missing\n"
		line   = "note: new.jsonl: 1 line is not a JSON object, the first in record 2; all their values count as missing\n"
		absent = "note: new.jsonl: no record has a value for \"a\"; names must match exactly, including upper and lower case\n"
		none   = "new.jsonl: no line is a JSON object; write each record as one object in a line of its own, such as {\"age\": 41}\n"
	)
	object := `{"a": 1, "b": "north"}` + "\n"
	many := strings.Repeat(object, 100_000)
	for _, c := range []struct {
		text, note string
		strict     bool // --strict refuses the text
	}{
		{object + object, "", false},
		{object + `{"b": "north"}` + "\n", "", false},
		{object + "[1]\n" + object, line, true},
		{object + "\n{\"a\":\nnull\n", lines, true},
		{many + "a,b\n" + many + "1\n", strings.Replace(lines, "record 2", "record 100001", 1), true},
		{`{"A": 1, "b": "north"}` + "\n", absent, false},
		{"a,b\n1,north\n", none, true},
		{`[{"a": 1}]`, none, true},
		{"\x1f\x8b\b\x00", none, true},
		{"", "", false},
	} {
		writeFile(t, "new.jsonl", c.text)
		got := dptrain(t, "predict", "model.json", "new.jsonl", "--header", "a,b")
		if got.stderr != c.note || (got.code == exitData) != (c.note == none) {
			t.Errorf("%.60q: code %d, %q", c.text, got.code, got.stderr)
		}
		strict := dptrain(t, "predict", "model.json", "new.jsonl", "--header", "a,b", "--strict")
		if (strict.code == exitData) != c.strict || c.strict && !strings.Contains(strict.stderr, "is not a JSON object") {
			t.Errorf("%.60q: code %d, %q", c.text, strict.code, strict.stderr)
		}
	}
}
