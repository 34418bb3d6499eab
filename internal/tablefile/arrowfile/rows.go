package arrowfile

import "io"

// A Want is how [Rows.Read] reads a column.
type Want uint8

// Columns are skipped, read as text, or as numbers; the latter need [Field.Stored]. A number that is stored in fewer than 64
// bits has its shortest text, as a CSV file has it, or all digits of its value in 64 bits.
const (
	Skip Want = iota
	AsText
	AsFullText
	AsNumber
)

// A Cell is a cell of a column. If it is empty, IsNumber is false and Text has no bytes.
type Cell struct {
	Number   float64
	IsNumber bool
	Text     []byte // valid until the next record is read
}

// Rows reads the records of a file.
type Rows struct {
	file         *File
	want         []Want
	comma        bool // the decimal mark
	most         int
	streams      streams
	dictionaries map[int64]*dictionary
	next         int // message
	cursors      []*cursor
	left         int64 // remaining rows of the batch
}

// windows is the total number of bytes of all uncompressed buffers that are held at a time.
const windows = 1 << 25

// ReadRows returns the records with the cells of the wanted columns. Numbers that are read as text
// have a decimal comma if comma is set. At most most bytes of a text are read.
func (f *File) ReadRows(want []Want, comma bool, most int) *Rows {
	n := 1
	for _, w := range want {
		if w != Skip {
			n += 3
		}
	}
	return &Rows{
		file:         f,
		want:         want,
		comma:        comma,
		most:         most,
		dictionaries: map[int64]*dictionary{},
		streams: streams{
			f:      f,
			window: max(512, min(1<<16, windows/n)),
		},
	}
}

// Read reads the next record into cells, one for each column of the file. The errors are io.EOF
// after the last record, those of this package, and those of the file.
func (r *Rows) Read(cells []Cell) (err error) {
	defer recoverDamage(&err)
	if err := r.begin(); err != nil {
		return err
	}
	for i, c := range r.cursors {
		cell := &cells[i]
		*cell = Cell{}
		switch {
		case c == nil:
		case r.want[i] == AsNumber:
			cell.Number, cell.IsNumber, err = c.nextNumber()
		default:
			c.text, err = c.appendCell(c.text[:0])
			cell.Text = c.text
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin moves to the next record.
func (r *Rows) begin() error {
	for r.left == 0 {
		if err := r.openBatch(); err != nil {
			return err
		}
	}
	r.left--
	return nil
}

// openBatch moves to the next batch and reads the dictionaries before it.
func (r *Rows) openBatch() error {
	f := r.file
	if r.next == 0 && f.random {
		for _, m := range f.messages {
			if m.kind == dictionaryMessage {
				if err := r.readDictionary(m); err != nil {
					return err
				}
			}
		}
	}
	for ; r.next < len(f.messages); r.next++ {
		m := f.messages[r.next]
		if m.kind == batchMessage {
			r.next++
			return r.openMessage(m)
		}
		if !f.random {
			if err := r.readDictionary(m); err != nil {
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
func (r *Rows) openMessage(m message) error {
	header, err := r.file.headerTable(m)
	if err != nil {
		return err
	}
	b, err := r.file.readBody(m, header)
	if err != nil {
		return err
	}
	r.streams.reset()
	for _, d := range r.dictionaries {
		r.streams.held += int64(len(d.text))
	}
	r.cursors = make([]*cursor, len(r.file.Fields))
	var p place
	for i := range r.file.Fields {
		of := &r.file.Fields[i]
		if r.want[i] != Skip && of.Readable {
			if r.cursors[i], err = r.columnCursor(b, p, of, r.want[i]); err != nil {
				return err
			}
		}
		if p, err = b.nextBuffer(p, of.skip); err != nil {
			return err
		}
	}
	r.left = b.rows
	return nil
}

// readDictionary reads the values of a dictionary if a requested column uses it.
func (r *Rows) readDictionary(m message) error {
	header, err := r.file.headerTable(m)
	if err != nil {
		return err
	}
	id := header.int64(0)
	var values *Field
	want := AsText
	for i := range r.file.Fields {
		of := &r.file.Fields[i]
		if r.want[i] != Skip && of.Readable && of.kind == runs {
			of = of.values
		}
		if r.want[i] != Skip && of.kind == coded && of.dict == id {
			values = of.values
			want = max(want, r.want[i])
		}
	}
	if values == nil {
		return nil
	}
	data, ok := header.tableField(1)
	if !ok {
		return ErrDamaged
	}
	b, err := r.file.readBody(m, data)
	if err != nil {
		return err
	}
	r.streams.reset()
	c, err := r.columnCursor(b, place{}, values, want)
	if err != nil {
		return err
	}
	d := &dictionary{}
	if old := r.dictionaries[id]; old != nil && header.byteField(2) != 0 { // more values
		d = old
	}
	for range b.rows {
		was := len(d.text)
		if d.text, err = c.appendCell(d.text); err != nil {
			return err
		}
		if err := r.streams.holdBytes(int64(len(d.text)-was) + 8); err != nil {
			return err
		}
		d.ends = append(d.ends, len(d.text))
	}
	r.dictionaries[id] = d
	return nil
}
