package sheetfile

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// row holds the cells of a row as text.
type row struct {
	text  []byte
	spans []span // of each column
	used  int    // number of columns up to the last non-empty one
	cells bool   // a cell of the row has a value, which may be an error or an empty text, or a formula
}

type span struct{ from, to int }

// Read implements io.Reader. Errors are io.EOF, those of this package, and those of the file.
func (l *Lines) Read(p []byte) (int, error) {
	for len(l.todo) == 0 {
		if l.failed == nil {
			l.failed = l.writeLine()
		}
		if l.failed != nil {
			return 0, l.failed
		}
	}
	n := copy(p, l.todo)
	l.todo = l.todo[n:]
	return n, nil
}

// writeLine writes the next line.
func (l *Lines) writeLine() error {
	l.out = l.out[:0]
	if l.pending == 0 {
		number, err := l.nextRow()
		if err != nil {
			return err
		}
		l.pending = number
	}
	l.row++
	switch {
	case l.row < l.pending && l.began && l.o.Gaps:
		l.writeRow(&row{})
	case l.row < l.pending:
		l.out = append(l.out, '\n')
	default:
		l.pending = 0
		l.began = l.began || l.row > l.o.Skip
		if l.o.Width == 0 && l.began {
			l.o.Width = l.now.used
		}
		l.writeRow(&l.now)
	}
	l.todo = l.out
	return nil
}

// writeRow appends the line of a row. It is not empty, so that it is a record.
func (l *Lines) writeRow(r *row) {
	width := r.used
	if l.row > l.o.Skip {
		width = max(width, l.o.Width)
	}
	for k := range width {
		if k > 0 {
			l.out = append(l.out, ',')
		}
		if k < r.used && len(l.out) < l.o.Most {
			at := r.spans[k]
			l.out = cell.AppendCell(l.out, string(r.text[at.from:at.to]))
		}
	}
	if len(l.out) == 0 {
		l.out = append(l.out, `""`...)
	}
	l.out = append(l.out, '\n')
}

// nextRow reads the next row of the sheet that is a record, and returns its number, from 1: a row with a value or a
// formula, or, up to the header, a row with a non-empty cell. Cells that are only formatted do not make a record.
func (l *Lines) nextRow() (int, error) {
	last := l.row
	for {
		token, err := l.sheet.nextToken()
		if err != nil {
			return 0, unexpectedEOF(err)
		}
		if e, ok := token.(xml.EndElement); ok && e.Name.Local == "sheetData" {
			return 0, io.EOF
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "row" {
			continue
		}
		number := last + 1
		if r := attributeValue(&e, "r"); r != "" {
			if number, err = strconv.Atoi(r); err != nil || number <= last {
				return 0, ErrDamaged
			}
		}
		if number > maxRows {
			return 0, ErrDamaged
		}
		l.now = row{
			text:  l.now.text[:0],
			spans: l.now.spans[:0],
		}
		if err := l.readCells(); err != nil {
			return 0, err
		}
		last = number
		if l.now.used > 0 || l.now.cells && l.o.Width > 0 && number > l.o.Skip {
			return number, nil
		}
	}
}

// readCells reads the cells of a row.
func (l *Lines) readCells() error {
	column := -1
	for {
		token, err := l.sheet.nextToken()
		if err != nil {
			return unexpectedEOF(err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			if e.Name.Local == "row" {
				return nil
			}
		case xml.StartElement:
			if e.Name.Local != "c" {
				continue
			}
			column++
			if r := attributeValue(&e, "r"); r != "" {
				if column = columnOf(r); column < 0 {
					return ErrDamaged
				}
			}
			if column >= maxColumns {
				return ErrDamaged
			}
			if err := l.readCell(&e, column); err != nil {
				return err
			}
		}
	}
}

// unexpectedEOF converts an end of file before the end of the sheet to an error.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return ErrDamaged
	}
	return err
}

// columnOf returns the column of a reference such as AB12, from 0, or -1 for an invalid reference.
func columnOf(ref string) int {
	n := 0
	for i := 0; i < len(ref); i++ {
		c := ref[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			if i == 0 {
				return -1
			}
			break
		}
		if n = 26*n + int(c-'A') + 1; n > maxColumns {
			return -1
		}
	}
	return n - 1
}

// readCell reads a cell up to its end.
func (l *Lines) readCell(e *xml.StartElement, column int) error {
	kind := attributeValue(e, "t")
	style := attributeValue(e, "s")
	l.now.cells = l.now.cells || kind != "" // a cell that is only formatted has neither a type nor an element
	from := len(l.now.text)
	value := false
	for {
		token, err := l.sheet.nextToken()
		if err != nil {
			return unexpectedEOF(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			value = e.Name.Local == "v"
			l.now.cells = true
			if e.Name.Local == "is" {
				if l.now.text, err = l.sheet.appendText(l.now.text, "is"); err != nil {
					return unexpectedEOF(err)
				}
			}
		case xml.CharData:
			if value {
				l.now.text = append(l.now.text, e[:min(len(e), maxText)]...)
			}
		case xml.EndElement:
			if value = false; e.Name.Local != "c" {
				continue
			}
			if err := l.convertValue(from, kind, style); err != nil {
				return err
			}
			if len(l.now.text) > l.o.Most+maxText { // this text is not examined
				l.now.text = l.now.text[:from]
			}
			l.now.addCell(column, span{from, len(l.now.text)})
			return nil
		}
	}
}

// addCell sets a cell; if a column occurs twice, the later cell is used.
func (r *row) addCell(column int, at span) {
	if at.from == at.to {
		return
	}
	for len(r.spans) <= column {
		r.spans = append(r.spans, span{})
	}
	r.spans[column] = at
	r.used = max(r.used, column+1)
}

// convertValue converts the stored value of a cell, which starts at from in the text of the row, to the text of
// the cell.
func (l *Lines) convertValue(from int, kind, style string) error {
	r := &l.now
	stored := string(bytes.TrimSpace(r.text[from:]))
	set := func(text string) {
		r.text = append(r.text[:from], text...)
	}
	switch kind {
	case "s":
		if stored == "" {
			set("")
			return nil
		}
		k, err := strconv.Atoi(stored)
		if err != nil || k < 0 || l.texts == nil {
			return ErrDamaged
		}
		text, err := l.texts.textAt(k)
		if err != nil {
			return err
		}
		r.text = append(r.text[:from], text...)
	case "str":
		r.text = decodeEscapes(r.text, from)
	case "inlineStr": // decoded by appendText
	case "b":
		switch stored {
		case "1", "true":
			set("TRUE")
		case "0", "false":
			set("FALSE")
		}
	case "e":
		set("")
	case "d":
		set(strings.Replace(stored, "T", " ", 1))
	default:
		if k, err := strconv.Atoi(style); err == nil && k >= 0 && k < len(l.dates) && l.dates[k] {
			if text, ok := dateOf(stored, l.is1904); ok {
				set(text)
				return nil
			}
		}
		if l.o.Comma {
			stored = strings.Replace(stored, ".", ",", 1)
		}
		set(stored)
	}
	return nil
}
