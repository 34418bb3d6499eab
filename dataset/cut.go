package dataset

import (
	"bytes"
	"io"
)

// fieldCutter cuts a record into fields as encoding/csv does with LazyQuotes, without making
// those that nobody wants: a line of 16 MiB may have as many fields as bytes.
type fieldCutter struct {
	comma byte
	quote byte
	rest  []byte
	more  bool // there is a next field
	buf   []byte
}

// start begins with the first field of a record.
func (c *fieldCutter) start(record []byte) { c.rest, c.more = record, true }

// next cuts off a field, of which there must be one, and returns it without its quotes,
// valid until the next call; anything if it is not wanted.
func (c *fieldCutter) next(want bool) []byte {
	line := c.rest
	if len(line) == 0 || line[0] != c.quote {
		k := bytes.IndexByte(line, c.comma)
		if c.more = k >= 0; !c.more {
			return line
		}
		c.rest = line[k+1:]
		return line[:k]
	}
	c.buf = c.buf[:0]
	keep := func(b []byte) {
		if want {
			c.buf = append(c.buf, b...)
		}
	}
	for line = line[1:]; ; {
		k := bytes.IndexByte(line, c.quote)
		if k < 0 { // the quote is left open
			keep(line)
			c.more = false
			return c.buf
		}
		keep(line[:k])
		line = line[k+1:]
		switch {
		case len(line) == 0:
			c.more = false
			return c.buf
		case line[0] == c.quote:
			keep(line[:1])
			line = line[1:]
		case line[0] == c.comma:
			c.rest = line[1:]
			return c.buf
		default: // a quote within a quoted field stands for itself
			keep([]byte{c.quote})
		}
	}
}

// count returns how many fields are left, and ends the record.
func (c *fieldCutter) count() int {
	n := 0
	for ; c.more; n++ {
		c.next(false)
	}
	return n
}

// first returns the first fields of a record, at most most.
func (c *fieldCutter) first(record []byte, most int) []string {
	var out []string
	for c.start(record); c.more && len(out) < most; {
		out = append(out, string(c.next(true)))
	}
	return out
}

// leftOpen reports whether a quote is open at the end of a line, its newline included, given
// whether one is at its beginning.
func (c *fieldCutter) leftOpen(line []byte, open bool) bool {
	for {
		if !open {
			if len(line) == 0 || line[0] != c.quote {
				k := bytes.IndexByte(line, c.comma)
				if k < 0 {
					return false
				}
				line = line[k+1:]
				continue
			}
			open, line = true, line[1:]
		}
		k := bytes.IndexByte(line, c.quote)
		if k < 0 {
			return true
		}
		line = line[k+1:]
		switch {
		case len(line) == 0 || len(line) == 1 && line[0] == '\n':
			return false
		case line[0] == c.quote:
			line = line[1:]
		case line[0] == c.comma:
			open, line = false, line[1:]
		}
	}
}

// quotedRecords yields records whose quoted fields may hold newlines. [streamRecords] is its
// definition.
type quotedRecords struct {
	lines lineReader
	cut   fieldCutter
	buf   []byte
	start int
	used  int // bytes of the last record
	most  int // fields that next returns of a record; [streamRecords] returns all
}

// raw returns the next record, valid until the next call, for a fieldCutter.
func (q *quotedRecords) raw() ([]byte, error) {
	q.used = 0
	line := []byte{'\n'}
	for len(line) == 0 || len(line) == 1 && line[0] == '\n' {
		if q.used >= q.lines.max { // by empty lines
			q.used = 0
		}
		var err error
		if line, err = q.oneLine(); err != nil {
			return nil, err
		}
	}
	q.start = q.lines.count
	if !q.cut.leftOpen(line, false) {
		return bytes.TrimSuffix(line, []byte{'\n'}), nil
	}
	q.buf = append(q.buf[:0], line...)
	for q.used < q.lines.max {
		line, err := q.oneLine()
		if err == io.EOF || err == nil && len(line) == 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		q.buf = append(q.buf, line...)
		if !q.cut.leftOpen(line, true) {
			return bytes.TrimSuffix(q.buf, []byte{'\n'}), nil
		}
	}
	return q.buf, nil // what is left open holds the last newline
}

// oneLine returns the next line, which ends in a newline alone, or in nothing at the end of the file.
func (q *quotedRecords) oneLine() ([]byte, error) {
	line, err := q.lines.raw()
	if err != nil {
		return nil, err
	}
	q.used += len(line)
	n := len(line)
	switch {
	case n >= 2 && line[n-2] == '\r' && line[n-1] == '\n':
		line[n-2] = '\n'
		line = line[:n-1]
	case line[n-1] == '\r':
		line = line[:n-1]
	}
	return line, nil
}

func (q *quotedRecords) next() ([]string, error) {
	record, err := q.raw()
	if err != nil {
		return nil, err
	}
	return q.cut.first(record, q.most), nil
}

func (q *quotedRecords) line() int { return q.start }

func (q *quotedRecords) tooLong() bool { return q.used >= q.lines.max }
