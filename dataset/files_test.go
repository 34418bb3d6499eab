package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// jsonWays reads JSON Lines with every reader.
func jsonWays(data []byte, schema Schema, common ReadOptions) map[string]outcome {
	ctx := context.Background()
	out := map[string]outcome{}
	for _, slow := range []bool{true, false} {
		for _, chunk := range []int{1, 7, 0} {
			opts := common
			opts.ForceSlow = slow
			opts.chunk = chunk
			opts.Workers = 2
			rd, err := newReader(
				"x.jsonl",
				fileKind{comma: ',', json: true},
				schema, opts,
			)
			if err != nil {
				return map[string]outcome{"slow": {err: err.Error()}}
			}
			name := fmt.Sprintf("slow %v, chunk %d", slow, chunk)
			if slow && chunk == 0 {
				name = "slow"
			}
			out[name] = outcomeOf(
				rd.readCSV(
					ctx,
					bytes.NewReader(data),
					bytes.NewReader(data),
					int64(len(data)),
				))
			var g gathered
			err = streamCSV(
				ctx,
				rd,
				func(context.Context) io.Reader {
					return bytes.NewReader(data)
				},
				0,
				g.newConsumer(schema),
			)
			out["batches, "+name] = g.outcomeAfter(err)
		}
	}
	return out
}

// TestJSONLines checks that keys are columns and that no line causes an error.
func TestJSONLines(t *testing.T) {
	data := "\uFEFF" + `{"a": 1.5, "c": "x", "u": "p", "rest": [1, 2]}

{"c":"a \"b\", c","u":7,"a":"45 kg","more":{"a":9}}
not an object
{"a":null,"c":true,"a":2}
  {"a":1e999,"c":"two
{"c":"two\nlines","a":"NA"}` + "\n[1,2]\n"
	schema := Schema{
		Unit: "u",
		Columns: []Column{
			{Name: "a"},
			{
				Name: "c",
				Kind: Category,
				Categories: []string{
					"x",
					`a "b", c`,
					"true", "two lines",
				},
			},
		},
	}
	opts := ReadOptions{Names: []string{
		"a", "rest", "c",
		"u",
	}}
	all := jsonWays([]byte(data), schema, opts)
	for name, o := range all {
		if !reflect.DeepEqual(o, all["slow"]) {
			t.Errorf(
				"%s gives %+v, slow %+v",
				name, o, all["slow"],
			)
		}
	}
	table, stats, err := ReadFrom(
		context.Background(),
		strings.NewReader(data),
		"x.jsonl",
		schema,
		opts,
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []int32{0, 1, 4, 2, 4, 3, 4}
	if !slices.Equal(table.Codes(1), want) {
		t.Errorf(
			"codes %v, want %v",
			table.Codes(1), want,
		)
	}
	nan := Column{}
	equalFloats(
		t,
		"a",
		table.Float(0),
		[]float64{1.5, 45, nan.missingValue(), 2, nan.missingValue(), nan.missingValue(),
			nan.missingValue()},
	)
	if stats.NoUnit != 5 {
		t.Errorf("%d records of nobody", stats.NoUnit)
	}
	_, err = fileHeading(writeTemp(t, "x.jsonl", data), ReadOptions{})
	if !errors.Is(err, ErrNoHeader) ||
		!strings.Contains(err.Error(), "--header") {
		t.Errorf("%v", err)
	}
	names, err := Header(writeTemp(t, "x.ndjson", data), opts)
	if err != nil || !slices.Equal(names, opts.Names) {
		t.Errorf("%v, %v", names, err)
	}
}

// FuzzJSONLines checks that every line that is not blank is one record, and that all readers agree.
func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"a\":1}\n{\"c\":\"x\"}\n",
		"\n \t\n[]\n{\"a\":\"\\\"\"}", "{\"a\":\"1\\n2\"}\r\n{\"a\":{\"b\":\",\"}}", "\xff",
		"{\"c\":\"\\ud800\"}", "null\n\"\n"} {
		f.Add([]byte(s))
	}
	schema := Schema{Columns: []Column{
		{Name: "a"},
		{
			Name:       "c",
			Kind:       Category,
			Categories: []string{"x"},
		},
	}}
	f.Fuzz(func(t *testing.T, data []byte) {
		all := jsonWays(
			data, schema,
			ReadOptions{Names: []string{"a", "c"}},
		)
		want := 0
		for line := range bytes.SplitSeq(
			bytes.TrimPrefix(data, []byte("\uFEFF")),
			[]byte{'\n'},
		) {
			if len(bytes.TrimSpace(line)) > 0 {
				want++
			}
		}
		if all["slow"].stats.Rows != want {
			t.Errorf(
				"%d records of %d lines",
				all["slow"].stats.Rows, want,
			)
		}
		for name, o := range all {
			if !reflect.DeepEqual(o, all["slow"]) {
				t.Errorf(
					"%s gives %+v, slow %+v",
					name, o, all["slow"],
				)
			}
		}
	})
}

// writeTemp writes a file into a new folder.
func writeTemp(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	err := os.WriteFile(path, []byte(content), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSeveralFiles checks that the files of one pattern form one table in the order of their names, and that a
// file with another header is rejected by name.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte("a,u\n4,q\n5\n")); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	put("t-1.csv", "a,u\n1,p\nx,q\n")
	put("t-2.csv", "a,u\n")
	put("t-3.csv.gz", packed.String())
	schema := Schema{Unit: "u", Columns: []Column{{Name: "a"}}}
	ctx := context.Background()
	pattern := filepath.Join(dir, "t-*")
	table, stats, err := Read(ctx, pattern, schema, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nan := Column{}
	equalFloats(
		t, "a", table.Float(0),
		[]float64{1, nan.missingValue(), 4, 5},
	)
	if table.ID(1) != table.ID(2) ||
		table.ID(0) == table.ID(1) ||
		stats.Rows != 4 ||
		stats.NoUnit != 1 ||
		stats.Columns[0].Unparseable != 1 {
		t.Errorf("%+v", stats)
	}
	names, err := Header(pattern, ReadOptions{})
	if err != nil ||
		!slices.Equal(names, []string{"a", "u"}) {
		t.Errorf("%v, %v", names, err)
	}
	found, _, err := Read(
		ctx,
		pattern,
		Schema{Columns: []Column{{Name: "u", Kind: Category, Found: true}}},
		ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	words, counts := found.View().CountWords(0)
	if len(words) != 2 ||
		counts[slices.Index(words, "q")] != 2 ||
		counts[slices.Index(words, "p")] != 1 {
		t.Errorf("words %v, counts %v", words, counts)
	}
	put("t-4.csv", "u,a\n1,2\n")
	for _, err := range []error{
		errorOfTwo(Header(pattern, ReadOptions{})),
		errorOfThree(Read(ctx, pattern, schema, ReadOptions{})),
	} {
		if !errors.Is(err, ErrNoColumn) ||
			!strings.Contains(
				err.Error(),
				"t-4.csv:1: the header differs from that of",
			) {
			t.Errorf("%v", err)
		}
	}
	for _, missing := range []string{
		"none-*.csv",
		"t-[.csv",
	} {
		_, _, err := Read(ctx, filepath.Join(dir, missing), schema, ReadOptions{})
		if !errors.Is(
			err, ErrUnreadable) {
			t.Errorf("%s: %v", missing, err)
		}
	}
	put("[1].csv", "a,u\n9,z\n")
	table, _, err = Read(
		ctx,
		filepath.Join(dir, "[1].csv"),
		schema,
		ReadOptions{},
	)
	if err != nil || table.Len() != 1 {
		t.Errorf(
			"a file that is called like a pattern: %v",
			err,
		)
	}
}

func errorOfTwo[A any](_ A, err error) error {
	return err
}

func errorOfThree[A, B any](_ A, _ B, err error) error {
	return err
}

// TestHeadingFrom checks that the header is read and that no byte of the stream is lost.
func TestHeadingFrom(t *testing.T) {
	data := "a,b\n" + strings.Repeat("1,2\n", 50_000)
	heading, rest, err := HeadingFrom(t.Context(), strings.NewReader(data), "stdin", ReadOptions{})
	if err != nil ||
		!slices.Equal(heading.Names, []string{"a", "b"}) {
		t.Fatalf("%v, %v", heading, err)
	}
	all, err := io.ReadAll(rest)
	if err != nil || string(all) != data {
		t.Errorf(
			"%d of %d bytes, %v",
			len(all), len(data), err,
		)
	}
}

// TestNoHeader checks that the columns of a file without a header line have the given names, and that its first
// line is a record.
func TestNoHeader(t *testing.T) {
	for _, content := range []string{
		"1,2\n3,4\n",
		"\uFEFF1,2\n3,4\n",
		"\n1,2\n\n3,4",
	} {
		table, _, err := Read(
			context.Background(),
			writeTemp(t, "x.csv", content),
			numericSchema("b", "a"),
			ReadOptions{Names: []string{"a", "b"}},
		)
		if err != nil {
			t.Fatal(err)
		}
		equalFloats(t, content, table.Float(0), []float64{2, 4})
		equalFloats(t, content, table.Float(1), []float64{1, 3})
	}
}

// TestHeadingFromEnds checks that a reader of a header that never comes ends with its context, and that the rest of a stream
// does as well.
func TestHeadingFromEnds(t *testing.T) {
	for _, name := range []string{"stdin", "stdin.parquet"} {
		ctx, cancel := context.WithCancel(t.Context())
		in, out := io.Pipe()
		go func() {
			_, _ = out.Write([]byte("a,"))
			cancel()
		}()
		if _, _, err := HeadingFrom(ctx, in, name, ReadOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		_ = in.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	go func() {
		_, _ = out.Write([]byte("a,b\n1,2\n"))
		cancel()
	}()
	_, rest, err := HeadingFrom(ctx, in, "stdin", ReadOptions{})
	if err == nil {
		_, err = io.ReadAll(rest)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the rest: %v", err)
	}
	_ = in.Close()
}
