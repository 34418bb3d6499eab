package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// scattered returns a text in pieces of random size.
type scattered struct {
	text []byte
	rng  *rand.Rand
}

func (s *scattered) Read(p []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(
		p[:min(len(p), 1+s.rng.IntN(40))],
		s.text,
	)
	s.text = s.text[n:]
	return n, nil
}

// cellBits lists the cells of a table record by record, numbers by their bits.
func cellBits(t *Table) [][]uint64 {
	out := make([][]uint64, t.Len())
	for j, c := range t.Schema().Columns {
		for i := range out {
			if c.Kind == Numeric {
				out[i] = append(
					out[i],
					math.Float64bits(t.Float(j)[i]),
				)
			} else {
				out[i] = append(out[i], uint64(t.Codes(j)[i]))
			}
		}
	}
	return out
}

// readStream reads a text with StreamFrom.
func readStream(
	t *testing.T, name, text string, schema Schema, opts ReadOptions,
) ([][]uint64, *Stats, error) {
	t.Helper()
	var out [][]uint64
	all := newStats(schema)
	type part struct {
		cells [][]uint64
		stats *Stats
	}
	err := StreamFrom(
		context.Background(),
		strings.NewReader(text),
		name,
		schema,
		opts,
		Consumer[part]{
			Begin: func(Head) error {
				return nil
			},
			Work: func(b *Batch) (part, error) {
				return part{cellBits(b.Table), b.Stats}, nil
			},
			Emit: func(p part) error {
				out = append(out, p.cells...)
				all.addStats(p.stats)
				return nil
			},
		},
	)
	return out, all, err
}

// readRecords reads a text with a RecordReader.
func readRecords(
	r io.Reader,
	name string,
	schema Schema,
	opts ReadOptions,
	limits StreamLimits,
	buffer int,
) ([][]uint64, *Stats, error) {
	f, err := NewStreamFormat(name, schema, opts, limits)
	if err != nil {
		return nil, nil, err
	}
	rr, err := f.Open(r, buffer)
	if err != nil {
		return nil, nil, err
	}
	var out [][]uint64
	all := newStats(schema)
	for {
		b, err := rr.Next()
		if err == io.EOF {
			return out, all, nil
		}
		if err != nil {
			return out, all, err
		}
		if b.First != int64(len(out)) ||
			b.Table.Len() == 0 {
			return out, all,
				fmt.Errorf(
					"a batch of %d records after %d, not %d",
					b.Table.Len(),
					len(out),
					b.First,
				)
		}
		out = append(out, cellBits(b.Table)...)
		all.addStats(b.Stats)
	}
}

// randomCSV returns a table of records with every kind of malformed text.
func randomCSV(rng *rand.Rand, names []string) string {
	cells := []string{"1", "-2.5", "1e3", "1e999", "", " ", "NA", "45 yrs", "<5", "1,5", "x", "red",
		" red ", `"red"`, `"`, `"a`, `b"`, `""`, `'`,
		"\t7", "2024-01-31", "true", "\u00a0", "\xff", "0x10", "+3", "1_000", "∞",
		strings.Repeat("9", 300)}
	ends := []string{
		"\n", "\n", "\n",
		"\r\n", "\n\n",
		"\r\n\r\n",
	}
	var b strings.Builder
	if rng.IntN(4) == 0 {
		b.WriteString("\uFEFF")
	}
	end := ends[rng.IntN(len(ends))]
	b.WriteString(strings.Join(names, ",") + end)
	for range rng.IntN(30) {
		width := len(names)
		if rng.IntN(4) == 0 {
			width = 1 + rng.IntN(len(names)+2)
		}
		for f := range width {
			if f > 0 {
				b.WriteString(",")
			}
			b.WriteString(cells[rng.IntN(len(cells))])
		}
		b.WriteString(ends[rng.IntN(len(ends))])
	}
	if rng.IntN(2) == 0 {
		b.WriteString("5,6")
	}
	return b.String()
}

func recordSchema() Schema {
	return Schema{Columns: []Column{
		{Name: "a"},
		{
			Name:       "color",
			Kind:       Category,
			Categories: []string{"red", "true", "5"},
		},
		{Name: "b"},
		{
			Name:   "when.month",
			Source: "when",
			Date:   AutoDate,
			Part:   "month",
		},
		{
			Name:   "when.weekday",
			Source: "when",
			Date:   AutoDate,
			Part:   "weekday",
		},
	}}
}

// TestRecordReaderIsStream checks that a RecordReader reads, record by record, the same cells and counts as
// StreamFrom, regardless of how the bytes arrive and how small its buffers are.
func TestRecordReaderIsStream(t *testing.T) {
	schema := recordSchema()
	rng := rand.New(rand.NewPCG(1, 2))
	limits := func() StreamLimits {
		return StreamLimits{
			Line:  4096,
			Cells: []int{1, 12, 4096}[rng.IntN(3)],
		}
	}
	check := func(name, text string, opts ReadOptions) {
		t.Helper()
		want, wantStats, err := readStream(t, name, text, schema, opts)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got, gotStats, err := readRecords(
			&scattered{[]byte(text), rng},
			name,
			schema,
			opts,
			limits(),
			[]int{16, 64, 4096}[rng.IntN(3)],
		)
		if err != nil ||
			!reflect.DeepEqual(got, want) ||
			!reflect.DeepEqual(gotStats, wantStats) {
			for i := range min(len(got), len(want)) {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Errorf(
						"record %d: %x, want %x",
						i+1, got[i], want[i],
					)
				}
			}
			t.Fatalf("%s %+v %.2000q: %d records, %+v, want %d, %+v (%v)", name, opts, text,
				len(got), gotStats, len(want), wantStats, err)
		}
	}
	for range 1200 {
		text := randomCSV(
			rng,
			[]string{"when", "other", "b", "color", "a"},
		)
		check("x.csv", text, ReadOptions{})
		check("x.csv", text, ReadOptions{Format: Format{MultilineQuotes: true}})
		check(
			"x.csv",
			text,
			ReadOptions{Format: Format{
				Quote:   '\'',
				Strict:  true,
				Missing: []float64{1},
			}},
		)
		unmarked := strings.TrimPrefix(text, "\uFEFF")
		check(
			"x.csv",
			unmarked,
			ReadOptions{Format: Format{NoQuote: true, Encoding: "windows-1252"}},
		)
		check(
			"x.csv",
			"title\n\n"+unmarked,
			ReadOptions{Format: Format{Skip: 2}},
		)
		check(
			"x.csv", text,
			ReadOptions{Names: []string{"a", "b", "color", "when"}},
		)
	}
	values := []string{"null", "true", "false", "1", "-0", "1e999", "1E400",
		"123456789012345678901", `"red"`, `" red\n"`, `"\ud800"`, `"\u00e9"`,
		`"45 yrs"`, `"<5"`, `[1,{"a":2}]`, `{"a":[5]}`, `"2024-01-31"`, `""`, `"\""`, "\"\xff\""}
	names := []string{`"a"`, `"b"`, `"color"`, `"when"`, `"unknown"`, `"\u0061"`, `"\u0000"`, `""`,
		"\"\xff\""}
	for range 1200 {
		var b strings.Builder
		b.WriteString([]string{
			"{}\n",
			"{\"b\":1}\n",
			"{\"unknown\":1,\"b\":1}\r\n",
		}[rng.IntN(3)])
		for range rng.IntN(20) {
			b.WriteString([]string{"{", " { ", "\t{"}[rng.IntN(3)])
			for m := range rng.IntN(6) {
				if m > 0 {
					b.WriteString([]string{",", " ,\t"}[rng.IntN(2)])
				}
				b.WriteString(names[rng.IntN(len(names))] + []string{":", " : "}[rng.IntN(2)] +
					values[rng.IntN(len(values))])
			}
			b.WriteString("}" + []string{"\n", "\r\n", "\n \n", " \n"}[rng.IntN(4)])
		}
		check(
			"x.jsonl",
			b.String(),
			ReadOptions{Names: []string{"color", "a", "b", "when"}},
		)
	}
}

// TestJSONCells checks that jsonObjects finds the same values as encoding/json.
func TestJSONCells(t *testing.T) {
	names := []string{"a", "b", "é"}
	objects := newJSONObjects(names, false)
	texts := []string{`{}`, `{"a":1}`, `{"a":1,"a":"x"}`, `{"b":{"a":[1,"}"]},"a":"\"}"}`,
		"{\"\u00e9\":2,\"\\u00e9\":3}", `[1]`, `5`, `"a"`, `null`, `{"a":1`, `{"a":1}}`,
		`{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
		`{"a":` + strings.Repeat("[", 20000), "{\"a\":\"x\ty\"}", `{"a":01}`,
		` {"a" : -1.5e3 , "b":true}	`}
	for _, text := range texts {
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil {
			want = nil
		}
		objects.recordLine([]byte(text))
		for i, name := range names {
			if string(objects.values[i]) != string(want[name]) {
				t.Errorf(
					"%.60s: %s is %.60s, want %.60s",
					text,
					name,
					objects.values[i],
					want[name],
				)
			}
		}
	}
}

// TestRecordReaderDoesNotWait checks that a record is returned when its line is complete, even if the start of
// the next line has arrived, and after empty lines.
func TestRecordReaderDoesNotWait(t *testing.T) {
	schema := Schema{Columns: []Column{{Name: "a"}}}
	for name, c := range map[string]struct {
		opts  ReadOptions
		parts []string
		want  []int // number of records after each part
	}{
		"x.csv": {
			ReadOptions{},
			[]string{
				"a,b\n1\n2",
				"\n\n\r\n",
				"3\n4\n5\n\n6",
				"\n",
			},
			[]int{1, 1, 3, 1},
		},
		"q.csv": {
			ReadOptions{Format: Format{MultilineQuotes: true}},
			[]string{
				"a,b\n1\n\"2\n",
				"\"\n3\n4,\"\n\n",
				"\"\n",
			},
			[]int{1, 2, 1},
		},
		// In a file of one column an empty line is a record.
		"one.csv": {
			ReadOptions{},
			[]string{
				"a\n1\n2",
				"\n\n\r\n",
				"3\n4",
			},
			[]int{1, 3, 1},
		},
		"quote.csv": {
			ReadOptions{Format: Format{MultilineQuotes: true}},
			[]string{
				"a\n1\n\"2\n",
				"\"\n\n4",
			},
			[]int{1, 2},
		},
		"x.jsonl": {
			ReadOptions{},
			[]string{
				"{\"a\":1}\n{\"a\"",
				":2}\n \n",
				"{}\n{}\n{",
			},
			[]int{1, 1, 2},
		},
	} {
		f, err := NewStreamFormat(
			name,
			schema,
			c.opts,
			StreamLimits{Line: 100, Cells: 100},
		)
		if err != nil {
			t.Fatal(err)
		}
		in, out := io.Pipe()
		next := make(chan string)
		go func() {
			for part := range next {
				_, _ = io.WriteString(out, part)
			}
			_ = out.Close()
		}()
		next <- c.parts[0]
		r, err := f.Open(in, 64)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			for want > 0 {
				b, err := r.Next()
				if err != nil {
					t.Fatal(name, err)
				}
				want -= b.Table.Len()
			}
			if want < 0 {
				t.Errorf(
					"%s: %d records too many after part %d",
					name, -want, i,
				)
			}
			if i+1 < len(c.parts) {
				next <- c.parts[i+1]
			}
		}
		close(next)
		_, _ = io.Copy(io.Discard, in)
	}
}

// TestRecordReaderRefuses checks that a malformed record causes an error with its position that repeats no part
// of its content, and that the records before it are returned.
func TestRecordReaderRefuses(t *testing.T) {
	schema := Schema{Columns: []Column{
		{Name: "area"},
		{Name: "b"},
	}}
	long := strings.Repeat("7", 200)
	for _, c := range []struct {
		name, text   string
		opts         ReadOptions
		records      int
		line, column int
		err          error
	}{
		{"x.csv", "", ReadOptions{}, 0, 1, 0, ErrNoHeader},
		{"x.csv", "area\n", ReadOptions{}, 0, 1, 0, ErrNoColumn},
		{
			"x.csv",
			"area,area,b\n",
			ReadOptions{}, 0, 1, 2, ErrDuplicateColumn,
		},
		{
			"x.csv",
			"area,b," + long,
			ReadOptions{}, 0, 1, 0, ErrLongLine,
		},
		{
			"x.csv",
			"area,b\n1,2\n\n" + long,
			ReadOptions{}, 1, 4, 0, ErrLongLine,
		},
		{
			"x.csv",
			"area,b\n1,2\n\"" + strings.Repeat("7\n", 200),
			ReadOptions{Format: Format{MultilineQuotes: true}},
			1,
			52,
			0,
			ErrLongLine,
		},
		{
			"x.jsonl",
			"{}\n{\"area\":}\n",
			ReadOptions{}, 1, 2, 9, ErrFormat,
		},
		{
			"x.jsonl",
			"{}\n  [7]",
			ReadOptions{}, 1, 2, 3, ErrFormat,
		},
		{
			"x.jsonl",
			"{}\n\n{\"area\":7",
			ReadOptions{}, 1, 3, 9, ErrFormat,
		},
		{
			"x.jsonl",
			"{}\nnull\n",
			ReadOptions{}, 1, 2, 1, ErrFormat,
		},
		{
			"x.jsonl",
			"\n{} {}\n",
			ReadOptions{}, 0, 2, 4, ErrFormat,
		},
		{
			"x.jsonl",
			"{}\n{\"area\":" + long + "}\n",
			ReadOptions{}, 1, 2, 0, ErrLongLine,
		},
		{
			"x.jsonl",
			`{"b":1,"AREA ":7777}`,
			ReadOptions{}, 0, 1, 0, ErrNoColumn,
		},
		{
			"x.jsonl",
			`{"c":1,"d":7777}`,
			ReadOptions{}, 0, 1, 0, ErrNoColumn,
		},
		{
			"x.jsonl",
			"{\"b\":1,\"area\":2,\"Area\":3}\n{\"Area\":7}",
			ReadOptions{}, 2, 0, 0, nil,
		},
		{
			"x.jsonl",
			"\uFEFF{}\n",
			ReadOptions{}, 1, 0, 0, nil,
		},
	} {
		got, _, err := readRecords(
			strings.NewReader(c.text),
			c.name,
			schema,
			c.opts,
			StreamLimits{Line: 100, Cells: 1},
			16,
		)
		var file *FileError
		errors.As(err, &file)
		switch {
		case len(got) != c.records:
			t.Errorf(
				"%q: %d records, want %d (%v)",
				c.text, len(got),
				c.records, err,
			)
		case c.err == nil && err != nil, c.err != nil && !errors.Is(err, c.err):
			t.Errorf(
				"%q: %v, want %v",
				c.text, err, c.err,
			)
		case c.err != nil &&
			(file.Line != c.line ||
				file.Column != c.column ||
				strings.Contains(err.Error(), "77")):
			t.Errorf(
				"%q: %v, want line %d, column %d",
				c.text, err, c.line, c.column,
			)
		}
	}
}

// TestRecordReaderHoldsLittle checks that the memory held for an object does not grow with its names, its depth
// or its values.
func TestRecordReaderHoldsLittle(t *testing.T) {
	var names bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&names, `"n%d":%d,`, i, i)
	}
	for what, text := range map[string]string{
		"names":     "{" + names.String() + `"a":1}`,
		"one name":  "{" + strings.Repeat(`"a":1,`, 10_000) + `"a":1}`,
		"depth":     `{"a":1,"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}",
		"long text": `{"a":1,"x":"` + strings.Repeat("y", 100_000) + `"}`,
	} {
		objects := newJSONObjects([]string{"a"}, false)
		objects.recordLine([]byte(text))
		n := testing.AllocsPerRun(5, func() {
			objects.recordLine([]byte(text))
		})
		if n > 40 {
			t.Errorf("%s: %v allocations", what, n)
		}
		if string(objects.out) != "1\n" {
			t.Errorf("%s: %q", what, objects.out)
		}
	}
}
