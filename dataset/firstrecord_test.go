package dataset

import (
	"context"
	"math"
	"testing"
)

// TestFirstRecordCausesNoError checks that the first line of a file without a header line, a private record,
// never causes an error. The table is the same as with that record elsewhere: it has one more record, and the
// others do not change.
func TestFirstRecordCausesNoError(t *testing.T) {
	records := map[string]string{
		"t.csv":   "1,2\n3,4\n",
		"t.jsonl": "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n",
	}
	hostile := []string{
		"\x00",
		"1\x00",
		"{\"a\":1}\x00",
		"{\"a\":1,\"b\":\"\x00\"}",
		"\x00\x00\x00\x00",
		"1\x00,\x002\x00",
		"a\x00b\x00",
		"\x00a\x00b",
		"\xff\xfe1,2",
		"\xfe\xff1,2",
		"\xff",
		"ÿþ,2",
		"PAR1",
		"PAR1\x00",
		"PAR1,\x15",
		"ORC\x01",
		"ARROW1\x00\x00",
		"SQLite format 3\x00",
		"%PDF-1.7",
		"{\\rtf",
		"<html>",
		"<?xml",
		"[1,2]",
		"{",
		"}",
		"[{\"a\":1}]",
		"version https://git-lfs.github.com/spec/v1",
		"\x80\x04\x95"[:1] + ",2",
		"BZh9",
		"12345678DUCK\x00",
		"PK\x03\x04\x14\x00",
		"PK\x05\x06",
		"\x1f\x8b\x08\x00",
		"\x1f\x8b",
		"\x28\xb5\x2f\xfd\x04",
		"\xfd7zXZ\x00",
		"BZh91AY&SY",
		"\xff\xff\xff\xff\x10\x01\x00\x00",
		"7z\xbc\xaf\x27\x1c",
		"Rar!\x1a\x07",
		"Obj\x01",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
		"\x93NUMPY",
		"\xff\xfe\x00\x00",
		"\x1b[0m",
		"\x7f",
	}
	for name, rest := range records {
		for _, first := range hostile {
			tab, _, err := Read(
				context.Background(),
				writeTemp(t, name, first+"\n"+rest),
				numericSchema("a", "b"),
				ReadOptions{Names: []string{"a", "b"}},
			)
			if err != nil {
				t.Errorf(
					"%s, first record %q: %v",
					name, first, err,
				)
				continue
			}
			if tab.Len() != 3 ||
				tab.Float(0)[1] != 1 ||
				tab.Float(1)[2] != 4 {
				t.Errorf(
					"%s, first record %q: %v",
					name, first, tab.Float(0),
				)
			}
			x := tab.Float(0)[0]
			if !math.IsNaN(x) && x != 1 {
				t.Errorf(
					"%s, first record %q: a cell is %v",
					name, first, x,
				)
			}
		}
	}
}
