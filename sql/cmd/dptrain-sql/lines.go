package main

import (
	"bufio"
	"bytes"
	"io"
)

// lines writes each row as exactly one non-empty line of CSV. The end of a record must not depend on the
// content of a cell, so line ends inside cells become blanks.
type lines struct {
	w       *bufio.Writer
	columns []column
}

// newLines writes the header.
func newLines(to io.Writer, columns []column) *lines {
	l := &lines{bufio.NewWriterSize(to, 1<<18), columns}
	for i, c := range columns {
		l.writeCell(i, []byte(c.name))
	}
	_ = l.w.WriteByte('\n') // an error stays until flush
	return l
}

// writeRow writes a row, whose values are in the text format of the server; nil is NULL.
func (l *lines) writeRow(values [][]byte) error {
	for i, v := range values {
		if l.columns[i].boolean {
			switch string(v) {
			case "t":
				v = []byte("true")
			case "f":
				v = []byte("false")
			}
		}
		l.writeCell(i, v)
	}
	return l.w.WriteByte('\n')
}

// writeCell writes the cell of column i. A cell that is alone in its line is quoted, so that the line is not
// empty.
func (l *lines) writeCell(i int, v []byte) {
	if i > 0 {
		_ = l.w.WriteByte(',')
	}
	quoted := len(l.columns) == 1 || bytes.ContainsAny(v, ",\"\r\n")
	if !quoted {
		l.w.Write(v)
		return
	}
	_ = l.w.WriteByte('"')
	for _, c := range v {
		switch c {
		case '\r', '\n':
			c = ' '
		case '"':
			_ = l.w.WriteByte('"')
		}
		_ = l.w.WriteByte(c)
	}
	_ = l.w.WriteByte('"')
}

// flush writes the buffered lines and returns the first write error.
func (l *lines) flush() error {
	return l.w.Flush()
}
