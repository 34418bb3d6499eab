package dataset

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestDetect checks that the dialect is inferred from the header line and reported. Declared settings are not
// detected, and rows have no influence.
func TestDetect(t *testing.T) {
	names := []string{"age", "secretjob", "y"}
	for _, c := range []struct {
		file, header string
		declared     Format
		notes        []string // expected content of the notes
	}{
		{"plain.csv", "age,secretjob,y", Format{}, nil},
		{"plain.tsv", "age\tsecretjob\ty", Format{}, nil},
		{"blanks.csv", `age, "secretjob" , y`, Format{}, nil},
		{
			"semicolons.csv",
			"age;secretjob;y",
			Format{},
			[]string{`--separator ";"`, "--decimal ,"},
		},
		{
			"quoted.csv",
			`"age";"secretjob";"y"`,
			Format{},
			[]string{`--separator ";"`, "--decimal ,"},
		},
		{
			"point.csv",
			"age;secretjob;y",
			Format{Decimal: '.'},
			[]string{`--separator ";"`},
		},
		{
			"comma.csv",
			"age;secretjob;y",
			Format{Decimal: ','},
			[]string{`--separator ";"`},
		},
		{
			"declared.csv",
			"age;secretjob;y",
			Format{Separator: ';'},
			[]string{"--decimal ,"},
		},
		{
			"tabs.csv",
			"age\tsecretjob\ty", Format{},
			[]string{"--separator tab"},
		},
		{
			"bars.csv",
			"age|secretjob|y", Format{},
			[]string{`--separator "|"`},
		},
		{
			"carets.csv",
			"age^secretjob^y", Format{},
			[]string{`--separator "^"`},
		},
		{
			"hive.csv",
			"age\x01secretjob\x01y", Format{},
			[]string{"--separator $"},
		},
		{
			"commas.tsv",
			"age,secretjob,y", Format{},
			[]string{"--separator ,"},
		},
		{
			"single.csv",
			"'age','secretjob','y'",
			Format{},
			[]string{"--quote single"},
		},
		{
			"both.csv",
			"'age';'secretjob';'y'",
			Format{Decimal: ','},
			[]string{`--separator ";" --quote single`},
		},
		{
			"single.tsv",
			"'age'\t'secretjob'\t'y'",
			Format{},
			[]string{"--quote single"},
		},
		{
			"excel.csv",
			"sep=;\nage;secretjob;y",
			Format{},
			[]string{
				`--separator ";", as its first line declares`,
				"--decimal ,",
			},
		},
		{
			"excel.csv",
			"sep=;\nage|secretjob|y",
			Format{Separator: '|'}, nil,
		},
		{
			"tab.csv",
			"\"sep=\t\"\nage\tsecretjob\ty",
			Format{},
			[]string{"--separator tab"},
		},
		{
			"crlf.csv",
			"sep=,\r\nage,secretjob,y\r",
			Format{},
			[]string{"--separator ,"},
		},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		for _, rows := range []string{
			"",
			"1;2,5;3\n",
			"1,2,3\n4|5|6\n",
			"'a';\"b\"\t\\\"\n",
		} {
			writeFile(t, path, []byte(c.header+"\n"+rows))
			got, err := ReadHeading(path, ReadOptions{Format: c.declared})
			if err != nil || !slices.Equal(got.Names, names) {
				t.Errorf(
					"%s: %q, %v",
					c.file, got.Names, err,
				)
				continue
			}
			lines, err := ReadHeading(path, withQuotes(c.declared))
			if err != nil || !reflect.DeepEqual(lines, got) {
				t.Errorf(
					"%s, with lines in quotes: %+v, %v, and %+v without",
					c.file,
					lines,
					err,
					got,
				)
			}
			if len(got.Notes) != len(c.notes) {
				t.Errorf(
					"%s: %+v, want %q",
					c.file, got.Notes, c.notes,
				)
				continue
			}
			for i, want := range c.notes {
				if !strings.Contains(got.Notes[i].Text, want) ||
					strings.Contains(got.Notes[i].Text, "secretjob") {
					t.Errorf(
						"%s: %q, want %q",
						c.file,
						got.Notes[i].Text, want,
					)
				}
			}
		}
	}
}

// TestDetectedIsRead checks, for every reader, that a detected dialect yields the same table as a declared one.
func TestDetectedIsRead(t *testing.T) {
	schema := Schema{Columns: []Column{
		{Name: "n"},
		{
			Name:       "c",
			Kind:       Category,
			Categories: []string{"x, y", "x; y", `say "z"`},
		},
		{Name: "it's"},
	}}
	for name, c := range map[string]struct {
		data     string
		declared Format
	}{
		"semicolons": {
			"n;c;it's\n1,5;x, y;2\n2;\"x; y\";3\n",
			Format{Separator: ';', Decimal: ','},
		},
		"single": {
			"'n','c','it\\'s'\n1,'x, y',2\n'2','x; y',3\n",
			Format{Quote: '\''},
		},
		"backslash": {
			"n,c,\"it's\",\"a \\\"b\\\"\"\n1,\"x, y\",2,3\n2,\"say \\\"z\\\"\",\\N,1\n",
			Format{Escape: backslash},
		},
	} {
		declared := c.declared
		detected := Format{Decimal: c.declared.Decimal}
		want := waysOf(
			[]byte(c.data), schema,
			ReadOptions{Format: declared},
		)["slow"]
		if want.err != "" || len(want.floats[0]) != 2 {
			t.Fatalf("%s: %+v", name, want)
		}
		for way, o := range waysOf(
			[]byte(c.data), schema,
			ReadOptions{Format: detected},
		) {
			if !reflect.DeepEqual(o, want) {
				t.Errorf(
					"%s, %s: %+v, want %+v",
					name, way, o, want,
				)
			}
		}
	}
}

// TestKnownNamesDecide checks that the names known to the caller resolve a header line whose names contain
// separators.
func TestKnownNamesDecide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	for _, c := range []struct {
		header string
		known  []string
		want   []string
	}{
		{
			"id;weight (kg, rounded);age",
			nil,
			[]string{"id;weight (kg", "rounded);age"},
		},
		{
			"id;weight (kg, rounded);age",
			[]string{"age"},
			[]string{"id", "weight (kg, rounded)", "age"},
		},
		{
			"id;weight (kg, rounded);age",
			[]string{"id;weight (kg"},
			[]string{"id;weight (kg", "rounded);age"},
		},
		{
			"id;weight (kg, rounded);age",
			[]string{"nobody"},
			[]string{"id;weight (kg", "rounded);age"},
		},
		{
			"a|b",
			[]string{"a|b"},
			[]string{"a|b"},
		},
		{"a|b", nil, []string{"a", "b"}},
		{
			"a|b;c",
			[]string{"a|b"},
			[]string{"a|b", "c"},
		},
	} {
		writeFile(t, path, []byte(c.header+"\n1\n"))
		got, err := ReadHeading(path, ReadOptions{Known: c.known})
		if err != nil || !slices.Equal(got.Names, c.want) {
			t.Errorf(
				"%s with %q: %q, %v",
				c.header, c.known, got.Names, err,
			)
		}
	}
	writeFile(
		t, path,
		[]byte("id;weight (kg, rounded);age\n1;2;3\n"),
	)
	table, _, err := Read(
		context.Background(), path,
		numericSchema("age"), ReadOptions{},
	)
	if err != nil || table.Float(0)[0] != 3 {
		t.Errorf("the schema does not decide: %v", err)
	}
	got, err := ReadHeading(path, ReadOptions{})
	if err != nil ||
		len(got.Notes) != 1 ||
		got.Notes[0].Code != "separator" ||
		!strings.Contains(got.Notes[0].Text, "3") {
		t.Errorf("%+v, %v", got.Notes, err)
	}
	writeFile(t, path, []byte("a|b;c\n1\n"))
	_, err = Header(path, ReadOptions{})
	if !errors.Is(err, ErrFormat) ||
		!strings.Contains(err.Error(), "semicolons or by bars") {
		t.Errorf("%v", err)
	}
}

// TestForeignHeaders checks that a table written for another reader is rejected with a hint how to fix it,
// based on the header line alone and without repeating a name from it.
func TestForeignHeaders(t *testing.T) {
	for _, c := range []struct {
		file, header, hint string
		declared           Format
	}{
		{
			"bars.csv",
			"age|secretjob|y",
			`--separator "|"`,
			Format{Separator: ','},
		},
		{
			"semicolons.csv",
			"age;secretjob;y",
			`decimal ","`,
			Format{Separator: ','},
		},
		{
			"latin.csv",
			"age,secretjob,gr\xf6\xdfe",
			"--encoding windows-1252",
			Format{},
		},
		{
			"little.csv",
			"\xff\xfea\x00g\x00e\x00,\x00y\x00",
			"--encoding utf-16,",
			Format{},
		},
		{
			"big.csv",
			"\xfe\xff\x00a\x00g\x00e\x00,\x00y",
			"--encoding utf-16,",
			Format{},
		},
		{
			"bare.csv",
			"a\x00g\x00e\x00,\x00y\x00",
			"--encoding utf-16le,",
			Format{},
		},
		{
			"table.csv",
			`"age" "secretjob" "y"`,
			"write.csv", Format{},
		},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.header+"\n1;2,5;3\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Header(path, ReadOptions{Format: c.declared})
		var known *FileError
		if !errors.As(err, &known) ||
			!errors.Is(err, ErrFormat) ||
			!strings.Contains(known.Hint, c.hint) {
			t.Errorf("%s: %v", c.file, err)
		} else if strings.Contains(err.Error(), "secretjob") {
			t.Errorf(
				"%s: the message repeats the header: %v",
				c.file, err,
			)
		}
	}
	for file, header := range map[string]string{
		"one.csv": "price",
		"two.csv": "a;b,c",
		"bom.csv": "\xef\xbb\xbfage,y",
		"t.tsv":   "a\tb",
	} {
		path := filepath.Join(t.TempDir(), file)
		err := os.WriteFile(path, []byte(header+"\n"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Header(path, ReadOptions{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestNumericHeaders checks that a first line of numbers is a header if it has the names known to the caller,
// and a record otherwise.
func TestNumericHeaders(t *testing.T) {
	for _, header := range []string{
		"0,1", "2023,2024",
		"0.5,1.5",
		"1e3,NA,2", "0;1",
		"-1,+1,7",
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		writeFile(t, path, []byte(header+"\n10,20,30\n"))
		names := strings.FieldsFunc(header, func(r rune) bool {
			return r == ',' || r == ';'
		})
		for _, known := range [][]string{
			nil, {"y"},
			{names[0], "y"},
			{names[0] + ".0"},
		} {
			_, err := Header(path, ReadOptions{Known: known})
			checkError(t, header, err, ErrNoHeader)
			if err == nil ||
				len(names[1]) > 1 &&
					strings.Contains(strings.TrimPrefix(err.Error(), path), names[1]) ||
				!strings.Contains(err.Error(), "--header") {
				t.Errorf("%s: %v", header, err)
			}
		}
		for _, known := range [][]string{names, names[1:], names[:1]} {
			got, err := ReadHeading(path, ReadOptions{Known: known})
			if err != nil ||
				!slices.Equal(got.Names, names) ||
				len(got.Notes) == 0 {
				t.Errorf(
					"%s with %q: %+v, %v",
					header, known, got, err,
				)
			}
		}
		table, _, err := Read(
			context.Background(),
			path,
			numericSchema(names[0]),
			ReadOptions{},
		)
		if err != nil || table.Len() != 1 {
			t.Errorf("%s: %v", header, err)
		}
		_, _, err = Read(
			context.Background(),
			path,
			numericSchema(names[0], "y"),
			ReadOptions{},
		)
		checkError(t, header, err, ErrNoHeader)
		_, _, err = ReadFrom(
			context.Background(),
			bytes.NewReader([]byte(header+"\n1,2\n")),
			"stdin",
			Schema{},
			ReadOptions{},
		)
		checkError(t, header, err, ErrNoHeader)
		got, err := Header(path, ReadOptions{Names: names})
		if err != nil || !slices.Equal(got, names) {
			t.Errorf(
				"names that are listed: %q, %v",
				got, err,
			)
		}
	}
}

// withQuotes returns options to read a format whose quoted cells may contain line breaks.
func withQuotes(f Format) ReadOptions {
	f.MultilineQuotes = true
	return ReadOptions{Format: f}
}
