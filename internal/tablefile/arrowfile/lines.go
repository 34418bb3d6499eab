package arrowfile

import (
	"io"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Lines are the records of a file, each a line of cells between commas. Ends of lines within texts are blanks.
type Lines struct {
	file         *File
	want         []bool
	comma        bool // the decimal mark
	most         int
	streams      streams
	dictionaries map[int64]*dictionary
	next         int // message
	cursors      []*cursor
	left         int64 // rows of the batch
	line, todo   []byte
	failed       error
}

// windows is how many bytes of all buffers together are held at a time where they are not compressed.
const windows = 1 << 25

// Lines returns the records with the cells of the columns in want; others are empty. Numbers have a decimal comma if comma is
// set. Of a text only most bytes are read.
func (f *File) Lines(want []bool, comma bool, most int) *Lines {
	n := 1
	for _, w := range want {
		if w {
			n += 3
		}
	}
	return &Lines{file: f, want: want, comma: comma, most: most, dictionaries: map[int64]*dictionary{},
		streams: streams{f: f, window: max(512, min(1<<16, windows/n))}}
}

// Read implements io.Reader. Errors are io.EOF, those of this package, and those of the file.
func (l *Lines) Read(p []byte) (n int, err error) {
	for len(l.todo) == 0 {
		if l.failed == nil {
			l.failed = l.step()
		}
		if l.failed != nil {
			return 0, l.failed
		}
	}
	n = copy(p, l.todo)
	l.todo = l.todo[n:]
	return n, nil
}

// step writes a line or goes to the next batch.
func (l *Lines) step() (err error) {
	defer recoverDamage(&err)
	if l.left == 0 {
		return l.batch()
	}
	return l.row()
}

// row writes a line.
func (l *Lines) row() (err error) {
	l.line = l.line[:0]
	for i, c := range l.cursors {
		if i > 0 {
			l.line = append(l.line, ',')
		}
		if c == nil {
			continue
		}
		was := len(l.line)
		if l.line, err = c.next(l.line); err != nil {
			return err
		}
		if was >= l.most { // nothing there will be looked at
			l.line = l.line[:was]
		}
	}
	if len(l.line) == 0 {
		l.line = append(l.line, `""`...) // an empty line is no record
	}
	l.line = append(l.line, '\n')
	l.todo = l.line
	l.left--
	return nil
}

// cell appends the text of a value that is no text.
func (l *Lines) cell(line []byte, text string) []byte {
	if l.comma {
		text = strings.Replace(text, ".", ",", 1)
	}
	return cell.AppendCell(line, text)
}

// batch goes to the next batch, and reads the dictionaries before it.
func (l *Lines) batch() error {
	f := l.file
	if l.next == 0 && f.random {
		for _, m := range f.messages {
			if m.kind == dictionaryMessage {
				if err := l.dictionary(m); err != nil {
					return err
				}
			}
		}
	}
	for ; l.next < len(f.messages); l.next++ {
		m := f.messages[l.next]
		if m.kind == batchMessage {
			l.next++
			return l.open(m)
		}
		if !f.random {
			if err := l.dictionary(m); err != nil {
				return err
			}
		}
	}
	return io.EOF
}

// header returns the header of a message.
func (f *File) header(m message) (table, error) {
	t, err := f.metadata(m)
	if err != nil {
		return table{}, err
	}
	header, ok := t.table(2)
	if !ok {
		return table{}, ErrDamaged
	}
	return header, nil
}

// open opens the columns of a batch.
func (l *Lines) open(m message) error {
	header, err := l.file.header(m)
	if err != nil {
		return err
	}
	b, err := l.file.body(m, header)
	if err != nil {
		return err
	}
	l.streams.reset()
	for _, d := range l.dictionaries {
		l.streams.held += int64(len(d.text))
	}
	l.cursors = make([]*cursor, len(l.file.Fields))
	var p place
	for i := range l.file.Fields {
		of := &l.file.Fields[i]
		if l.want[i] && of.Readable {
			if l.cursors[i], err = l.cursor(b, p, of); err != nil {
				return err
			}
		}
		if p, err = b.nextBuffer(p, of.skip); err != nil {
			return err
		}
	}
	l.left = b.rows
	return nil
}

// dictionary reads the values of a dictionary if a column that is wanted has it.
func (l *Lines) dictionary(m message) error {
	header, err := l.file.header(m)
	if err != nil {
		return err
	}
	id := header.int64(0)
	var values *Field
	for i := range l.file.Fields {
		of := &l.file.Fields[i]
		if l.want[i] && of.Readable && of.kind == runs {
			of = of.values
		}
		if l.want[i] && of.kind == coded && of.dict == id {
			values = of.values
		}
	}
	if values == nil {
		return nil
	}
	data, ok := header.table(1)
	if !ok {
		return ErrDamaged
	}
	b, err := l.file.body(m, data)
	if err != nil {
		return err
	}
	l.streams.reset()
	c, err := l.cursor(b, place{}, values)
	if err != nil {
		return err
	}
	d := &dictionary{}
	if old := l.dictionaries[id]; old != nil && header.byte(2) != 0 { // more values
		d = old
	}
	for range b.rows {
		was := len(d.text)
		if d.text, err = c.next(d.text); err != nil {
			return err
		}
		if err := l.streams.hold(int64(len(d.text)-was) + 8); err != nil {
			return err
		}
		d.ends = append(d.ends, len(d.text))
	}
	l.dictionaries[id] = d
	return nil
}
