package dataset

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// marker represents private content: no error may contain it.
const marker = "S3CR3T"

// checkError requires a FileError about path that wraps want and reveals no part of the content.
func checkError(t *testing.T, what string, err, want error) *FileError {
	t.Helper()
	var fe *FileError
	if !errors.Is(err, want) || !errors.As(err, &fe) {
		t.Fatalf(
			"%s: error %v, want a FileError that is %v",
			what, err, want,
		)
	}
	if strings.Contains(err.Error(), marker) {
		t.Errorf(
			"%s: the error repeats a cell: %v",
			what, err,
		)
	}
	if fe.Msg == "" ||
		fe.Path == "" ||
		!strings.Contains(err.Error(), fe.Path) {
		t.Errorf(
			"%s: the error does not say what and where: %v",
			what, err,
		)
	}
	return fe
}

func TestHeaderErrors(t *testing.T) {
	for _, c := range []struct {
		name, data   string
		want         error
		line, column int
	}{
		{"empty", "", ErrNoHeader, 1, 0},
		{"only a mark", "\uFEFF", ErrNoHeader, 1, 0},
		{"blank lines", "\n\r\n\n", ErrNoHeader, 1, 0},
		{
			"numbers",
			"1,2.5,-3\n4,5,6\n",
			ErrNoHeader, 1, 0,
		},
		{
			"numbers and gaps",
			"1,,NA,inf\n" + marker + "\n",
			ErrNoHeader, 1, 0,
		},
		{
			"quoted numbers",
			"\"1\",\"2\"\n",
			ErrNoHeader, 1, 0,
		},
		{"no name", "a,,b\n" + marker, ErrEmptyName, 1, 2},
		{"blank name", "\n\na, ,b\n", ErrEmptyName, 3, 2},
		{
			"duplicate",
			"a,b,\"" + marker + "\",b,c," + marker + "\n",
			ErrDuplicateColumn,
			1,
			4,
		},
		{"duplicate with blanks", "a,x,x \n", ErrDuplicateColumn, 1, 3},
		{"data for a header", marker + ",17,red\n", ErrNoColumn, 1, 0},
		{"other case", "A\n" + marker, ErrNoColumn, 1, 0},
	} {
		for _, opts := range []ReadOptions{
			{},
			{ForceSlow: true},
			{Format: Format{MultilineQuotes: true}},
		} {
			_, _, err := ReadFrom(
				context.Background(),
				strings.NewReader(c.data),
				"in.csv",
				numericSchema("a"),
				opts,
			)
			fe := checkError(t, c.name, err, c.want)
			if fe.Line != c.line ||
				fe.Column != c.column ||
				fe.Hint == "" {
				t.Errorf(
					"%s: at %d:%d with hint %q, want %d:%d and a hint",
					c.name,
					fe.Line,
					fe.Column,
					fe.Hint,
					c.line,
					c.column,
				)
			}
		}
		path := filepath.Join(t.TempDir(), "x.csv")
		writeFile(t, path, []byte(c.data))
		_, err := Header(path, ReadOptions{})
		if c.want != ErrNoColumn {
			checkError(t, c.name+" (Header)", err, c.want)
		} else if err != nil {
			t.Errorf(
				"%s: Header: %v",
				c.name, err,
			)
		}
	}
}

func TestAbsentColumnIsNamed(t *testing.T) {
	s := numericSchema("a", "price")
	_, _, err := ReadFrom(
		context.Background(),
		strings.NewReader("a,b\n1,2\n"),
		"stdin",
		s,
		ReadOptions{},
	)
	fe := checkError(t, "column", err, ErrNoColumn)
	if !strings.Contains(fe.Msg, `"price"`) {
		t.Errorf("%v does not name the column", err)
	}
	s = numericSchema("a")
	s.Unit = "person"
	_, _, err = ReadFrom(
		context.Background(),
		strings.NewReader("a,b\n1,2\n"),
		"stdin",
		s,
		ReadOptions{},
	)
	fe = checkError(t, "unit", err, ErrNoColumn)
	if !strings.Contains(fe.Msg, `"person"`) {
		t.Errorf("%v does not name the unit", err)
	}
}

func TestErrorText(t *testing.T) {
	e := &FileError{
		Path:   "x.csv",
		Line:   1,
		Column: 3,
		Msg:    "wrong",
		Hint:   "mend it",
		Err:    ErrEmptyName,
	}
	got := e.Error()
	if got != "x.csv:1:3: wrong; mend it" {
		t.Errorf("%q", got)
	}
	got = (&FileError{Path: "x.csv", Msg: "wrong"}).Error()
	if got != "x.csv: wrong" {
		t.Errorf("%q", got)
	}
}

func TestUnreadableFiles(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := numericSchema("a")
	read := func(path string) error {
		_, _, err := Read(ctx, path, s, ReadOptions{})
		_, herr := Header(path, ReadOptions{})
		if herr == nil ||
			err == nil ||
			herr.Error() != err.Error() {
			t.Errorf(
				"%s: Header says %v, Read %v",
				path, herr, err,
			)
		}
		return err
	}
	absent := checkError(
		t, "absent",
		read(filepath.Join(dir, "none.csv")),
		ErrUnreadable,
	)
	if !strings.Contains(absent.Msg, fs.ErrNotExist.Error()[5:]) &&
		absent.Hint != "check the path" {
		t.Errorf("%v", absent)
	}
	checkError(t, "directory", read(makeDir(t, dir, "d.csv")), ErrUnreadable)
	checkError(t, "suffix", read(filepath.Join(dir, "x.xls")), ErrFormat)
	checkError(
		t, "parquet.gz",
		read(filepath.Join(dir, "x.parquet.gz")),
		ErrFormat,
	)
	notGzip := filepath.Join(dir, "x.csv.gz")
	writeFile(
		t, notGzip,
		[]byte("a,b\n"+marker+",2\n"),
	)
	checkError(t, "not gzip", read(notGzip), ErrFormat)
	writeFile(t, notGzip, nil)
	checkError(t, "empty gzip", read(notGzip), ErrCorrupt)
	for _, name := range []string{"x.parquet", "x.arrow", "x.xlsx"} {
		_, _, err := ReadFrom(
			ctx, strings.NewReader(""),
			name, s, ReadOptions{},
		)
		checkError(t, "empty stream of "+name, err, ErrCorrupt)
	}
}

func TestDamagedGzip(t *testing.T) {
	whole := gzipBytes(append(floatCSV(2000, 3), marker...))
	path := filepath.Join(t.TempDir(), "x.csv.gz")
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0xFF
	checksum := bytes.Clone(whole)
	checksum[len(checksum)-8] ^= 1
	for name, data := range map[string][]byte{
		"half":           whole[:len(whole)/2],
		"no footer":      whole[:len(whole)-8],
		"one byte short": whole[:len(whole)-1],
		"only a header":  whole[:10],
		"flipped":        flipped,
		"checksum":       checksum,
		"garbage after":  append(bytes.Clone(whole), "garbage garbage"...),
	} {
		writeFile(t, path, data)
		for _, opts := range []ReadOptions{
			{},
			{ForceSlow: true},
			{Format: Format{MultilineQuotes: true}},
			{chunk: 50},
		} {
			table, stats, err := Read(
				context.Background(),
				path,
				numericSchema("x0"),
				opts,
			)
			checkError(t, name, err, ErrCorrupt)
			if table != nil || stats != nil {
				t.Errorf("%s: a table beside an error", name)
			}
		}
	}
}

// rewritten is a file that is replaced after some reads.
type rewritten struct {
	*bytes.Reader
	after int
	reads int
}

func (s *rewritten) ReadAt(p []byte, off int64) (int, error) {
	if s.reads++; s.reads > s.after {
		s.Reader = bytes.NewReader(bytes.Repeat(
			[]byte("7\n"),
			int(s.Size()/2),
		))
	}
	return s.Reader.ReadAt(p, off)
}

func TestFileThatChanges(t *testing.T) {
	data := []byte("a\n" + strings.Repeat("123\n", 500))
	for after := 1; after <= 3; after++ { // number of reads that still see the old content
		rd, err := newReader(
			"x.csv",
			fileKind{comma: ','},
			numericSchema("a"),
			ReadOptions{Workers: 1, chunk: 1000},
		)
		if err != nil {
			t.Fatal(err)
		}
		at := &rewritten{Reader: bytes.NewReader(data), after: after}
		_, _, err = rd.readCSV(
			context.Background(),
			bytes.NewReader(data),
			at,
			int64(len(data)),
		)
		checkError(t, "changed", err, ErrUnreadable)
	}
	rd, err := newReader(
		"x.csv",
		fileKind{comma: ','},
		numericSchema("a"), ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = rd.readCSV(
		context.Background(),
		bytes.NewReader(data),
		bytes.NewReader(data[:100]),
		int64(len(data)),
	)
	checkError(t, "shorter", err, ErrUnreadable)
}

// TestUnusableHeaders checks that a header in another encoding or with other line ends is rejected with a
// remedy, before any row is read.
func TestUnusableHeaders(t *testing.T) {
	for name, text := range map[string]string{
		"windows-1252":     "gr\xf6\xdfe,b,y\n1,2,3\n",
		"carriage returns": "a,b,y\r1,2,3\r4,5,6\r",
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Header(path, ReadOptions{})
		var file *FileError
		if !errors.Is(err, ErrFormat) ||
			!errors.As(err, &file) ||
			strings.ContainsAny(file.Msg, "23456") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
