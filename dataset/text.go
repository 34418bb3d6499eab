package dataset

import "io"

// Text yields the records of a CSV stream as text, the header first, by the rules
// of [Read]: as many records, each of the same line. It is for copying a table
// whose owner asked for a copy.
type Text struct {
	comma rune
	recs  records
}

// NewText starts at the beginning of r. name says what r holds, as for
// [ReadFrom].
func NewText(r io.Reader, name string, opts ReadOptions) (*Text, error) {
	fm, err := formatOf(name)
	if err != nil {
		fm = fileKind{comma: ','}
	}
	rd, err := newReader(name, fm, Schema{}, opts)
	if err != nil {
		return nil, err
	}
	src, err := rd.inflate(r)
	if err != nil {
		return nil, err
	}
	return &Text{comma: rune(fm.comma), recs: rd.records(src)}, nil
}

// Comma returns what separates the fields.
func (t *Text) Comma() rune { return t.comma }

// Next returns the fields of the next record, valid until the next call, or
// io.EOF after the last one. Its other errors are those of [ReadFrom].
func (t *Text) Next() ([]string, error) { return t.recs.next() }

// Line returns the line in which the last record began, counted from 1.
func (t *Text) Line() int { return t.recs.line() }
