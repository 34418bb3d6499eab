package dataset

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// header is the first record of a CSV file.
type header struct {
	names []string
	line  int
}

// readHeader reads and checks the first record. It fixes the dialect and whether empty lines are records.
func (rd *reader) readHeader(recs records) (header, error) {
	h, err := rd.headerOf(recs)
	rd.each = len(h.names) == 1 && !rd.format.json && rd.format.packed == tablefile.NotPacked
	return h, err
}

func (rd *reader) headerOf(recs records) (header, error) {
	if rd.opts.Names != nil {
		h := header{names: rd.opts.Names}
		if len(h.names) > maxColumns {
			return header{}, tooManyColumns(rd.path, 0)
		}
		return h, checkNames(rd.path, 0, h.names)
	}
	record, err := rd.headerRecord(recs)
	if err == io.EOF {
		return header{}, &FileError{
			Path: rd.path,
			Line: 1,
			Msg:  "is empty, so it has no header",
			Hint: "the first line must name the columns",
			Err:  ErrNoHeader,
		}
	}
	if err != nil {
		return header{}, err
	}
	cut := rd.newFieldCutter()
	fields := cut.firstFields(record, maxColumns+1)
	if len(fields) > maxColumns {
		return header{}, tooManyColumns(rd.path, recs.line())
	}
	h := header{
		line:  recs.line(),
		names: make([]string, len(fields)),
	}
	for f, name := range fields {
		h.names[f] = strings.Trim(name, " \t")
	}
	if rd.format.packed == tablefile.NotPacked {
		if err := rd.unreadableHeader(h.line, h.names); err != nil {
			return header{}, err
		}
	}
	if err := rd.numericHeader(h); err != nil {
		return header{}, err
	}
	return h, checkNames(rd.path, h.line, h.names)
}

// headerRecord returns the record that names the columns.
func (rd *reader) headerRecord(recs records) ([]byte, error) {
	line, err := recs.beginRecord()
	if wrong := rd.misnamedFile(rd.firstBytes()); wrong != nil {
		return nil, wrong
	}
	if err == nil && rd.skipSeparatorLine(line) {
		line, err = recs.beginRecord()
	}
	if err != nil {
		return nil, err
	}
	if !recs.tooLong() {
		if err := rd.detectFormat(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
			return nil, err
		}
		line, err = recs.completeRecord(line)
	}
	if recs.tooLong() {
		return nil, &FileError{
			Path: rd.path,
			Line: recs.line(),
			Msg:  fmt.Sprintf("the header is longer than %d bytes", rd.opts.maxLine()),
			Hint: "is this a table of text lines?",
			Err:  ErrFormat,
		}
	}
	return line, err
}

// numericHeader returns an error if all names of a header are numbers, unless the names known to the caller are
// among them. The first line of a table without a header line is a record, and a record of numbers looks the
// same.
func (rd *reader) numericHeader(h header) error {
	if !allNumbers(h.names) {
		return nil
	}
	if known := rd.knownNames(); len(known) > 0 && containsAll(h.names, known) {
		if len(rd.opts.Known) > 0 {
			rd.addNote("",
				"its header contains only numbers, which are taken as names because the target is one of them")
		}
		return nil
	}
	hint := "if it is a record, list all column names with --header a,b,c, or in a recipe data.header: [a, b, c] and data.format: {header: none}"
	if len(rd.schema.Columns) == 0 {
		hint += fmt.Sprintf(
			"; if it names the columns, use the name of the target as written there, or skip it with --skip %d and list the names",
			rd.opts.Format.Skip+1)
	} else {
		hint += "; if it names the columns, the required ones are missing"
	}
	return &FileError{
		Path: rd.path,
		Line: h.line,
		Msg:  "the first line contains only numbers, so the file seems to have no header",
		Hint: hint,
		Err:  ErrNoHeader,
	}
}

// maxColumns is the public limit on the number of columns of a file; checking a name takes about 100 bytes.
const maxColumns = 1 << 17

func tooManyColumns(path string, line int) error {
	return &FileError{
		Path: path,
		Line: line,
		Msg:  fmt.Sprintf("has more than %d columns", maxColumns),
		Hint: "keep only the columns you need, or transpose the table",
		Err:  ErrFormat,
	}
}

// allNumbers reports whether every field looks like the cell of a numeric column, and at least one like a
// number.
func allNumbers(fields []string) bool {
	some := false
	for _, field := range fields {
		switch _, what := cell.Number(field); {
		case what == unparseable, isBoolean(field):
			return false
		case what == good, what == nonfinite:
			some = true
		}
	}
	return some
}

// checkNames rejects names that are empty or occur twice, without repeating them.
func checkNames(path string, line int, names []string) error {
	first := make(map[string]int, len(names))
	for f, name := range names {
		switch {
		case !utf8.ValidString(name):
			return &FileError{
				Path:   path,
				Line:   line,
				Column: f + 1,
				Msg:    fmt.Sprintf("field %d of the header is not UTF-8", f+1),
				Hint:   formatRemedy("encoding", "windows-1252") + " (or latin1, cp850, …)",
				Err:    ErrFormat,
			}
		case strings.ContainsRune(name, '\r'):
			return &FileError{
				Path: path,
				Line: line,
				Msg:  "the header contains a carriage return; lines seem to end with a carriage return alone",
				Hint: "convert the line endings to line feeds",
				Err:  ErrFormat,
			}
		}
	}
	for f, name := range names {
		if name == "" {
			hint := "name it"
			if line > 0 {
				hint += fmt.Sprintf(
					", or list all names with --skip %d --header a,b,c; pandas and R write such a column without index=False or row.names=FALSE",
					line)
			}
			return &FileError{
				Path:   path,
				Line:   line,
				Column: f + 1,
				Msg:    fmt.Sprintf("field %d of the header has no name", f+1),
				Hint:   hint,
				Err:    ErrEmptyName,
			}
		}
		if g, ok := first[name]; ok {
			return &FileError{
				Path:   path,
				Line:   line,
				Column: f + 1,
				Msg: fmt.Sprintf(
					"fields %d and %d of the header have the same name",
					g+1,
					f+1,
				),
				Hint: "rename one of them",
				Err:  ErrDuplicateColumn,
			}
		}
		first[name] = f
	}
	return nil
}

// Targets of header fields that are not schema columns.
const (
	skipField = -1
	unitField = -2
	dateField = -3 // this value and below: the dates of the layout at dateField-target
)

// layout maps the fields of a line to columns.
type layout struct {
	fields  int   // in the header
	targets []int // per field up to the last one needed: schema column, skipField, unitField or dates
	dates   []*dates
}

// keptFields returns the number of fields of a record that a stream keeps: one more than the header has, which
// shows that the record is too long. A line of 16 MiB may have as many fields as bytes.
func (l layout) keptFields() int {
	return l.fields + 1
}

// bindColumns finds the declared columns in the header.
func (rd *reader) bindColumns(h header) (layout, error) {
	lay := layout{fields: max(1, len(h.names))} // a record of JSON Lines without columns has one cell
	var stored []string
	if rd.format.packed != tablefile.NotPacked {
		stored = storedLayouts
	}
	want := make(map[string]int, len(rd.schema.Columns)+1)
	for j := range rd.schema.Columns {
		c := &rd.schema.Columns[j]
		at, ok := want[c.dateSource()]
		switch {
		case !c.isDate():
			at = j
		case !ok || at > dateField:
			at = dateField - len(lay.dates)
			lay.dates = append(lay.dates, newDates(c.Date, stored...))
		}
		if c.isDate() {
			d := lay.dates[dateField-at]
			d.parts = append(d.parts, datePart{j, c.Part})
		}
		want[c.dateSource()] = at
	}
	if rd.hasUnit() {
		want[rd.schema.Unit] = unitField
	}
	for f, name := range h.names {
		target, ok := want[name]
		if !ok {
			continue
		}
		delete(want, name)
		for len(lay.targets) < f {
			lay.targets = append(lay.targets, skipField)
		}
		lay.targets = append(lay.targets, target)
	}
	for j := range rd.schema.Columns {
		if name := rd.schema.Columns[j].dateSource(); hasKey(want, name) {
			return layout{}, absentColumn(rd.path, h.line, name)
		}
	}
	if _, ok := want[rd.schema.Unit]; ok && rd.hasUnit() {
		return layout{}, absentColumn(rd.path, h.line, rd.schema.Unit)
	}
	return lay, nil
}

func hasKey(m map[string]int, name string) bool {
	_, ok := m[name]
	return ok
}

func absentColumn(path string, line int, name string) error {
	return &FileError{
		Path: path,
		Line: line,
		Msg:  fmt.Sprintf("there is no column %q", name),
		Hint: "names must match exactly, including upper and lower case",
		Err:  ErrNoColumn,
	}
}
