package dataset

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// TestJSONLinesHaveTheNamesOfTheSchema reads JSON Lines without a list of their keys, for which the schema has the names, and
// checks that a heading needs such a list.
func TestJSONLinesHaveTheNamesOfTheSchema(t *testing.T) {
	const text = `{"a": 1, "when": "2024-02-03", "who": "x"}` + "\n" + `{"who": "y", "a": 3}` + "\n"
	schema := Schema{
		Unit: "who",
		Columns: []Column{
			{Name: "a"},
			{Name: "when.day", Source: "when", Part: cell.DayPart, Date: "auto"},
			{Name: "when.month", Source: "when", Part: cell.MonthPart, Date: "auto"},
		},
	}
	path := tableFile(t, "t.jsonl", []byte(text))
	read, _, err := Read(context.Background(), path, schema, ReadOptions{})
	if err != nil || read.Len() != 2 || read.Float(0)[1] != 3 || read.Float(1)[0] <= 0 || read.Float(2)[0] != 2 {
		t.Errorf("%v, %v", read, err)
	}
	piped, _, err := ReadFrom(context.Background(), strings.NewReader(text), "stdin.jsonl", schema, ReadOptions{})
	if err != nil || piped.Len() != 2 || piped.Float(0)[1] != 3 || piped.ID(0) == piped.ID(1) {
		t.Errorf("%v, %v", piped, err)
	}
	if _, err := Header(path, ReadOptions{}); !errors.Is(err, ErrNoHeader) {
		t.Errorf("a heading without names: %v", err)
	}
	_, stats, err := Read(context.Background(), path, Schema{}, ReadOptions{})
	if err != nil || stats.Long+stats.Short != 0 {
		t.Errorf("no columns: %+v, %v", stats, err)
	}
}
