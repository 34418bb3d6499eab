package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignHeaders: a table that was written for another reader is refused with the name
// of the remedy, judged on the header line alone, and without a name from it.
func TestForeignHeaders(t *testing.T) {
	for _, c := range []struct{ file, header, hint string }{
		{"bank.csv", `"age";"secretjob";"y"`, `--separator ";"`},
		{"plain.csv", "age;secretjob;y", `decimal ","`},
		{"tabs.csv", "age\tsecretjob\ty", "--separator tab"},
		{"bars.csv", "age|secretjob|y", `--separator "|"`},
		{"commas.tsv", "age,secretjob,y", `--separator ","`},
		{"latin.csv", "age,secretjob,gr\xf6\xdfe", "--encoding windows-1252"},
		{"little.csv", "\xff\xfea\x00g\x00e\x00,\x00y\x00", "--encoding utf-16,"},
		{"big.csv", "\xfe\xff\x00a\x00g\x00e\x00,\x00y", "--encoding utf-16,"},
		{"sep.csv", "sep=;", `--skip 1, or in a recipe data.format: {skip: 1}, and set separator with --separator ";"`},
		{"single.csv", "'age','secretjob'", "--quote single"},
		{"bare.csv", "a\x00g\x00e\x00,\x00y\x00", "--encoding utf-16le,"},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.header+"\n1;2,5;3\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Header(path, ReadOptions{})
		var known *FileError
		if !errors.As(err, &known) || !errors.Is(err, ErrFormat) || !strings.Contains(known.Hint, c.hint) {
			t.Errorf("%s: %v", c.file, err)
		} else if strings.Contains(err.Error(), "secretjob") {
			t.Errorf("%s: the message repeats the header: %v", c.file, err)
		}
	}
	for file, header := range map[string]string{"one.csv": "price", "two.csv": "a;b,c", "bom.csv": "\xef\xbb\xbfage,y", "t.tsv": "a\tb"} {
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, []byte(header+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Header(path, ReadOptions{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
