package arrowfile

import "github.com/dptrain/dptrain/internal/tablefile/cell"

// Lines are the records of a file, each a line of cells between commas. Ends of lines within texts are blanks.
type Lines struct {
	rows   *Rows
	cell   []byte
	line   []byte
	todo   []byte
	failed error
}

// Lines returns the records with the cells of the columns that want has as texts; other cells are empty. Numbers have a
// decimal comma if comma is set. At most most bytes of a text are read.
func (f *File) Lines(want []Want, comma bool, most int) *Lines {
	return &Lines{rows: f.ReadRows(want, comma, most)}
}

// Read implements io.Reader. Errors are io.EOF, those of this package, and those of the file.
func (l *Lines) Read(p []byte) (n int, err error) {
	for len(l.todo) == 0 {
		if l.failed == nil {
			l.failed = l.nextLine()
		}
		if l.failed != nil {
			return 0, l.failed
		}
	}
	n = copy(p, l.todo)
	l.todo = l.todo[n:]
	return n, nil
}

// nextLine writes a line.
func (l *Lines) nextLine() (err error) {
	defer recoverDamage(&err)
	if err := l.rows.begin(); err != nil {
		return err
	}
	l.line = l.line[:0]
	for i, c := range l.rows.cursors {
		if i > 0 {
			l.line = append(l.line, ',')
		}
		if c == nil {
			continue
		}
		if l.cell, err = c.appendCell(l.cell[:0]); err != nil {
			return err
		}
		if len(l.line) < l.rows.most { // a text behind that is not examined
			l.line = cell.AppendCell(l.line, string(l.cell))
		}
	}
	if len(l.line) == 0 {
		l.line = append(l.line, `""`...) // an empty line is not a record
	}
	l.line = append(l.line, '\n')
	l.todo = l.line
	return nil
}
