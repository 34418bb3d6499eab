// Package sheetfile reads one sheet of a workbook in the format of Excel since 2007 (ECMA-376, Office Open XML)
// as lines of comma-separated text.
//
// A workbook is a zip file with an XML document per sheet, which is read sequentially. Memory holds one row,
// and the list of shared texts up to the last one that a cell has referred to. Every row of the sheet is a
// line, so that lines have the numbers of rows. Rows of cells without a value, which may be formatted, are empty lines. A row
// of empty texts and errors is a line of empty cells. The text of a cell is the stored value: a number in full,
// regardless of its format; the last result of a formula; empty for an error. A number is a date if its format
// has a day or a year. Characters that a text holds as an escape, such as _x000D_, are decoded.
package sheetfile

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

var (
	// ErrDamaged is returned for a workbook that is truncated or contradicts itself.
	ErrDamaged = errors.New("not a complete workbook")
	// ErrForeign is returned for a file that is not a zip file: a workbook with a password, or of an older format.
	ErrForeign = errors.New("not a workbook")
	// ErrNoSheet is returned if there is no sheet with the name.
	ErrNoSheet = errors.New("no such sheet")
	// ErrTooLarge is returned for shared texts that would take far more memory than the file has bytes.
	ErrTooLarge = errors.New("expands too much")
)

// Public limits. The numbers of cells per row and of rows per sheet are those of every program. A text has at
// most 32,767 characters. No program writes more than maxToken bytes of markup between two texts, or of a text.
const (
	maxColumns = 1 << 14
	maxRows    = 1 << 20
	maxToken   = 1 << 20
	maxText    = 1 << 17
)

// The public limit on shared texts: a number of bytes per byte of the file, and a constant.
const (
	textPerByte = 64
	freeText    = 1 << 26
)

// maxFormats is the maximum number of cell formats of a workbook; Excel allows 65,490.
const maxFormats = 1 << 17

// Options select the sheet and the format of numbers.
type Options struct {
	Sheet string // its name; empty: the first one
	Comma bool   // numbers are written with a decimal comma, as declared for texts
	Width int    // minimum number of cells of a line after Skip lines; 0: as in the first of these lines
	Skip  int
	Most  int  // maximum number of bytes read of a line
	Gaps  bool // a row without a value, after the header and between two others, is a line of empty cells
}

// Lines are the rows of a sheet.
type Lines struct {
	o       Options
	sheet   *tokens
	texts   *texts
	dates   []bool // by cell format
	is1904  bool
	row     int  // number of lines so far
	began   bool // a row after the skipped ones was written: the header, or a record
	now     row  // the last row that was read
	pending int  // its number, until its line is written
	out     []byte
	todo    []byte
	failed  error
}

// parts are the files within the workbook.
type parts struct {
	files map[string]*zip.File
	size  int64
}

// Open finds the sheet of a workbook.
func Open(at io.ReaderAt, size int64, o Options) (*Lines, error) {
	z, err := zip.NewReader(at, size)
	if err != nil {
		head := make([]byte, 4)
		if _, short := at.ReadAt(head, 0); short == nil && string(head) == "PK\x03\x04" {
			return nil, ErrDamaged
		}
		return nil, ErrForeign
	}
	p := parts{map[string]*zip.File{}, size}
	for _, f := range z.File {
		p.files[strings.TrimPrefix(f.Name, "/")] = f
	}
	book := "xl/workbook.xml"
	if related, err := p.relationsOf(""); err == nil {
		for _, r := range related {
			if strings.HasSuffix(r.kind, "/officeDocument") {
				book = r.target
			}
		}
	}
	l := &Lines{o: o}
	sheet, err := l.openBook(p, book)
	if err != nil {
		return nil, err
	}
	l.sheet, err = p.openPart(sheet)
	return l, err
}

// openPart opens a part as XML.
func (p parts) openPart(name string) (*tokens, error) {
	f := p.files[name]
	if f == nil {
		return nil, ErrDamaged
	}
	r, err := f.Open()
	if err != nil {
		return nil, damageError(err)
	}
	return newTokens(r), nil
}

// relation is a reference of a part to another part.
type relation struct{ id, kind, target string }

// relationsOf returns the relations of a part.
func (p parts) relationsOf(of string) ([]relation, error) {
	dir, file := path.Split(of)
	t, err := p.openPart(dir + "_rels/" + file + ".rels")
	if err != nil {
		return nil, err
	}
	var out []relation
	for {
		e, err := t.nextElement()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Name.Local != "Relationship" || len(out) > maxFormats {
			continue
		}
		r := relation{
			id:     attributeValue(e, "Id"),
			kind:   attributeValue(e, "Type"),
			target: attributeValue(e, "Target"),
		}
		if !strings.HasPrefix(r.target, "/") {
			r.target = path.Join("/", dir, r.target)
		}
		r.target = strings.TrimPrefix(r.target, "/")
		out = append(out, r)
	}
}

// openBook reads the list of sheets, and returns the part of the selected one.
func (l *Lines) openBook(p parts, name string) (string, error) {
	related, err := p.relationsOf(name)
	if err != nil {
		return "", err
	}
	target := map[string]relation{}
	for _, r := range related {
		target[r.id] = r
		switch {
		case strings.HasSuffix(r.kind, "/sharedStrings"):
			l.texts, err = newTexts(p, r.target)
		case strings.HasSuffix(r.kind, "/styles"):
			l.dates, err = readStyles(p, r.target)
		}
		if err != nil {
			return "", err
		}
	}
	t, err := p.openPart(name)
	if err != nil {
		return "", err
	}
	found := ""
	for {
		e, err := t.nextElement()
		switch {
		case err == io.EOF && found == "":
			return "", ErrNoSheet
		case err == io.EOF:
			return found, nil
		case err != nil:
			return "", err
		}
		switch e.Name.Local {
		case "workbookPr":
			on := attributeValue(e, "date1904")
			l.is1904 = on == "1" || on == "true"
		case "sheet":
			r := target[attributeValue(e, "id")]
			if found == "" && strings.HasSuffix(r.kind, "/worksheet") &&
				(l.o.Sheet == "" || string(decodeEscapes([]byte(attributeValue(e, "name")), 0)) == l.o.Sheet) {
				found = r.target
			}
		}
	}
}

// attributeValue returns the attribute whose local name is name.
func attributeValue(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
