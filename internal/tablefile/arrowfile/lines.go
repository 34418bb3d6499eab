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
	left         int64 // remaining rows of the batch
	line, todo   []byte
	failed       error
}

// windows is the total number of bytes of all uncompressed buffers that are held at a time.
const windows = 1 << 25

// Lines returns the records with the cells of the columns in want; other cells are empty. Numbers have a
// decimal comma if comma is set. At most most bytes of a text are read.
func (f *File) Lines(want []bool, comma bool, most int) *Lines {
	n := 1
	for _, w := range want {
		if w {
			n += 3
		}
	}
	return &Lines{file: f, want: want, comma: comma, most: most,
		dictionaries: map[int64]*dictionary{},
		streams:      streams{f: f, window: max(512, min(1<<16, windows/n))}}
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

// nextLine writes a line or moves to the next batch.
func (l *Lines) nextLine() (err error) {
	defer recoverDamage(&err)
	if l.left == 0 {
		return l.openBatch()
	}
	return l.writeRow()
}

// writeRow writes a line.
func (l *Lines) writeRow() (err error) {
	l.line = l.line[:0]
	for i, c := range l.cursors {
		if i > 0 {
			l.line = append(l.line, ',')
		}
		if c == nil {
			continue
		}
		was := len(l.line)
		if l.line, err = c.appendCell(l.line); err != nil {
			return err
		}
		if was >= l.most { // this text is not examined
			l.line = l.line[:was]
		}
	}
	if len(l.line) == 0 {
		l.line = append(l.line, `""`...) // an empty line is not a record
	}
	l.line = append(l.line, '\n')
	l.todo = l.line
	l.left--
	return nil
}

// appendQuoted appends the text of a value that is not a text.
func (l *Lines) appendQuoted(line []byte, text string) []byte {
	if l.comma {
		text = strings.Replace(text, ".", ",", 1)
	}
	return cell.AppendCell(line, text)
}

// openBatch moves to the next batch and reads the dictionaries before it.
func (l *Lines) openBatch() error {
	f := l.file
	if l.next == 0 && f.random {
		for _, m := range f.messages {
			if m.kind == dictionaryMessage {
				if err := l.readDictionary(m); err != nil {
					return err
				}
			}
		}
	}
	for ; l.next < len(f.messages); l.next++ {
		m := f.messages[l.next]
		if m.kind == batchMessage {
			l.next++
			return l.openMessage(m)
		}
		if !f.random {
			if err := l.readDictionary(m); err != nil {
				return err
			}
		}
	}
	return io.EOF
}

// headerTable returns the header of a message.
func (f *File) headerTable(m message) (table, error) {
	t, err := f.readMetadata(m)
	if err != nil {
		return table{}, err
	}
	header, ok := t.tableField(2)
	if !ok {
		return table{}, ErrDamaged
	}
	return header, nil
}

// openMessage opens the columns of a batch.
func (l *Lines) openMessage(m message) error {
	header, err := l.file.headerTable(m)
	if err != nil {
		return err
	}
	b, err := l.file.readBody(m, header)
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
			if l.cursors[i], err = l.columnCursor(b, p, of); err != nil {
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

// readDictionary reads the values of a dictionary if a requested column uses it.
func (l *Lines) readDictionary(m message) error {
	header, err := l.file.headerTable(m)
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
	data, ok := header.tableField(1)
	if !ok {
		return ErrDamaged
	}
	b, err := l.file.readBody(m, data)
	if err != nil {
		return err
	}
	l.streams.reset()
	c, err := l.columnCursor(b, place{}, values)
	if err != nil {
		return err
	}
	d := &dictionary{}
	if old := l.dictionaries[id]; old != nil && header.byteField(2) != 0 { // more values
		d = old
	}
	for range b.rows {
		was := len(d.text)
		if d.text, err = c.appendCell(d.text); err != nil {
			return err
		}
		if err := l.streams.holdBytes(int64(len(d.text)-was) + 8); err != nil {
			return err
		}
		d.ends = append(d.ends, len(d.text))
	}
	l.dictionaries[id] = d
	return nil
}
