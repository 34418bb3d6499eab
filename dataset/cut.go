package dataset

import (
	"bytes"
	"io"
)

// fieldCutter splits a record into the fields that [dialect.fields] defines. It builds only the requested
// fields, because a line of 16 MiB may have as many fields as bytes.
type fieldCutter struct {
	d               *dialect
	blanks, escapes bool // the parsing mode of the record
	rest            []byte
	more            bool // there is a next field
	buf             []byte
}

// startRecord moves the cutter to the first field of a record.
func (c *fieldCutter) startRecord(record []byte) {
	c.rest = record
	c.more = true
	c.blanks, c.escapes = c.d.quotingOf(record)
}

// nextField cuts off the next field, which must exist, and returns its text, valid until the next call. The
// text is undefined if want is false.
func (c *fieldCutter) nextField(want bool) []byte {
	first := c.rest
	if c.blanks {
		first = bytes.TrimLeftFunc(first, c.d.isBlank)
	}
	if c.d.quote == 0 || len(first) == 0 || first[0] != c.d.quote {
		return c.nextUnquoted(want)
	}
	c.buf = c.buf[:0]
	keep := func(b []byte) {
		if want {
			c.buf = append(c.buf, b...)
		}
	}
	for line := first[1:]; ; {
		k := c.d.indexSpecial(line, c.escapes)
		if k < 0 { // the quote is left open
			keep(line)
			c.more = false
			return c.buf
		}
		keep(line[:k])
		if c.escapes && line[k] == backslash {
			line = c.unescapeInQuotes(line[k:], keep)
			continue
		}
		line = line[k+1:]
		if len(line) > 0 && line[0] == c.d.quote {
			keep(line[:1])
			line = line[1:]
			continue
		}
		end := bytes.TrimLeftFunc(line, c.d.isBlank)
		if len(end) == 0 {
			c.more = false
			return c.buf
		}
		if end[0] == c.d.comma {
			c.rest = end[1:]
			return c.buf
		}
		keep([]byte{c.d.quote}) // a quote within a quoted field is kept
	}
}

// unescapeInQuotes appends the character that an escape sequence within quotes denotes, and returns the rest of
// the line.
func (c *fieldCutter) unescapeInQuotes(line []byte, keep func([]byte)) []byte {
	switch {
	case len(line) == 1:
		keep(line)
		return nil
	case line[1] == c.d.quote || line[1] == backslash:
		keep(line[1:2])
	default:
		keep(line[:2])
	}
	return line[2:]
}

// nextUnquoted implements nextField for a field without quotes around it.
func (c *fieldCutter) nextUnquoted(want bool) []byte {
	line := c.rest
	if c.escapes && c.d.quote == 0 {
		return c.nextBackslashEscaped(want)
	}
	field := line
	k := bytes.IndexByte(line, c.d.comma)
	if c.more = k >= 0; c.more {
		field = line[:k]
		c.rest = line[k+1:]
	}
	if c.d.escape == backslash && string(field) == `\N` {
		return nil
	}
	return field
}

// nextBackslashEscaped implements nextField for a format without quotes, in which a backslash escapes any
// character.
func (c *fieldCutter) nextBackslashEscaped(want bool) []byte {
	c.buf = c.buf[:0]
	line := c.rest
	at := 0
	for ; at < len(line) && line[at] != c.d.comma; at++ {
		char := line[at]
		if char == backslash && at+1 < len(line) {
			at++
			char = unescape(line[at])
		}
		if want {
			c.buf = append(c.buf, char)
		}
	}
	if c.more = at < len(line); c.more {
		c.rest = line[at+1:]
	}
	if string(line[:at]) == `\N` {
		return nil
	}
	return c.buf
}

// countFields returns the number of remaining fields, and ends the record.
func (c *fieldCutter) countFields() int {
	n := 0
	for ; c.more; n++ {
		c.nextField(false)
	}
	return n
}

// firstFields returns the first fields of a record, at most the given number.
func (c *fieldCutter) firstFields(record []byte, most int) []string {
	var out []string
	for c.startRecord(record); c.more && len(out) < most; {
		out = append(out, string(c.nextField(true)))
	}
	return out
}

// completeRecord reports whether a line is well-formed under the dialect, so that it is a record of its own.
func (d *dialect) completeRecord(line []byte) bool {
	if d.quote == 0 {
		return false
	}
	return d.escape != backslash && d.wellFormed(line, false) ||
		d.escape != d.quote && d.wellFormed(line, true)
}

// leftOpen reports whether a field is open at the end of a line, including its newline, given whether one is
// open at its start.
func (d *dialect) leftOpen(line []byte, open bool) bool {
	escapes := d.escape == backslash
	if d.quote == 0 {
		return escapes && d.endsEscaped(line)
	}
	for {
		if !open {
			if len(line) == 0 || line[0] != d.quote {
				k := bytes.IndexByte(line, d.comma)
				if k < 0 {
					return false
				}
				line = line[k+1:]
				continue
			}
			open = true
			line = line[1:]
		}
		k := d.indexSpecial(line, escapes)
		if k < 0 {
			return true
		}
		if escapes && line[k] == backslash {
			line = line[min(k+2, len(line)):]
			continue
		}
		line = line[k+1:]
		if len(line) > 0 && line[0] == d.quote {
			line = line[1:]
			continue
		}
		end := bytes.TrimLeftFunc(line, d.isBlank)
		if len(end) == 0 || len(end) == 1 && end[0] == '\n' {
			return false
		}
		if end[0] == d.comma {
			open = false
			line = end[1:]
		}
	}
}

// endsEscaped reports whether a backslash escapes the end of a line.
func (d *dialect) endsEscaped(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	n := len(line) - len(bytes.TrimRight(line, `\`))
	return n%2 != 0
}

// quotedRecords yields records whose quoted fields may contain newlines. [slowRecords] is the reference.
type quotedRecords struct {
	lines lineReader
	cut   fieldCutter
	each  *bool // as in [lineRecords]
	buf   []byte
	start int
	used  int // bytes of the last record
	most  int // maximum number of fields that next returns per record; [slowRecords] returns all
}

// nextRaw returns the next record, valid until the next call, for a fieldCutter.
func (q *quotedRecords) nextRaw() ([]byte, error) {
	line, err := q.beginRecord()
	if err != nil {
		return nil, err
	}
	return q.completeRecord(line)
}

// beginRecord returns the first line of the next record.
func (q *quotedRecords) beginRecord() ([]byte, error) {
	for {
		q.used = 0
		line, err := q.oneLine()
		if err != nil {
			return nil, err
		}
		if q.start = q.lines.count; *q.each || len(line) > 1 || len(line) == 1 && line[0] != '\n' {
			return line, nil
		}
	}
}

// completeRecord returns the record whose first line is given.
func (q *quotedRecords) completeRecord(line []byte) ([]byte, error) {
	record := bytes.TrimSuffix(line, []byte{'\n'})
	if q.cut.d.completeRecord(record) || !q.cut.d.leftOpen(line, false) {
		return record, nil
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
		if !q.cut.d.leftOpen(line, true) {
			return bytes.TrimSuffix(q.buf, []byte{'\n'}), nil
		}
	}
	return q.buf, nil // a field left open includes the last newline
}

// oneLine returns the next line, which ends in a single newline, or at the end of the file.
func (q *quotedRecords) oneLine() ([]byte, error) {
	line, err := q.lines.nextRaw()
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
	record, err := q.nextRaw()
	if err != nil {
		return nil, err
	}
	return q.cut.firstFields(record, q.most), nil
}

func (q *quotedRecords) line() int {
	return q.start
}

func (q *quotedRecords) tooLong() bool {
	return q.used >= q.lines.max
}
