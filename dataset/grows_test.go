package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// meanwhile is a context that runs a function when it is first checked.
type meanwhile struct {
	context.Context
	once *sync.Once
	do   func()
}

func (m meanwhile) Err() error {
	m.once.Do(m.do)
	return m.Context.Err()
}

// TestFileChanges checks that a file that grows or shrinks during a pass is rejected, for every format and
// every reader, as a whole and as a stream.
func TestFileChanges(t *testing.T) {
	lines := "x,y\n" + strings.Repeat("1,2\n", 50)
	objects := strings.Repeat("{\"x\":1}\n", 50)
	arrow, err := os.ReadFile(filepath.Join(
		"..",
		"testdata",
		"dialects",
		"pyarrow.feather",
	))
	if err != nil {
		t.Fatal(err)
	}
	parquet, err := os.ReadFile(filepath.Join(
		"..",
		"testdata",
		"dialects",
		"pyarrow.parquet",
	))
	if err != nil {
		t.Fatal(err)
	}
	header := `<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row>`
	for name, c := range map[string]struct {
		data   []byte
		column string
		opts   ReadOptions
	}{
		"t.csv": {[]byte(lines), "x", ReadOptions{chunk: 16}},
		"t.tsv": {[]byte(lines), "x", ReadOptions{ForceSlow: true}},
		"t.csv.gz": {
			gzipBytes([]byte(lines)),
			"x", ReadOptions{},
		},
		"t.CSV": {
			[]byte(lines),
			"x",
			ReadOptions{Format: Format{MultilineQuotes: true}},
		},
		"t.jsonl": {
			[]byte(objects), "x",
			ReadOptions{Names: []string{"x"}},
		},
		"t.parquet": {parquet, "preis", ReadOptions{}},
		"t.feather": {arrow, "preis", ReadOptions{}},
		"t.xlsx": {
			newWorkbook(t, header, "", "", ""),
			"x", ReadOptions{},
		},
	} {
		schema := numericSchema(c.column)
		for way, change := range map[string]func(f *os.File) error{
			"nothing": func(*os.File) error {
				return nil
			},
			"a record": func(f *os.File) error {
				_, err := f.WriteString("3,4\n")
				return err
			},
			"an end": func(f *os.File) error {
				return f.Truncate(int64(len(c.data)) - 1)
			},
		} {
			write := func() (path string, do func()) {
				path = tableFile(t, name, c.data)
				return path, func() {
					f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
					if err == nil {
						err = errors.Join(change(f), f.Close())
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
			check := func(how string, err error) {
				if way == "nothing" && err != nil {
					t.Errorf(
						"%s, %s: %v",
						name, how, err,
					)
				}
				var known *FileError
				foreign := way == "a record" &&
					!strings.HasSuffix(name, ".gz") &&
					!errors.Is(err, ErrUnreadable) // gzip reports it as damage
				if way != "nothing" && (!errors.As(err, &known) || foreign) {
					t.Errorf(
						"%s, %s, %s: %v",
						name, how, way, err,
					)
				}
			}
			path, do := write()
			_, _, err := Read(
				meanwhile{t.Context(), &sync.Once{}, do},
				path,
				schema,
				c.opts,
			)
			check("table", err)
			path, do = write()
			err = Stream(t.Context(), path, schema, c.opts, Consumer[int]{
				Begin: func(Head) error {
					do()
					return nil
				},
				Work: func(*Batch) (int, error) {
					return 0, nil
				},
				Emit: func(int) error {
					return nil
				},
			})
			check("stream", err)
		}
	}
}
