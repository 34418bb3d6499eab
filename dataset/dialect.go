package dataset

import "bytes"

// dialect describes how the text of a record is divided into fields. It is public: it is declared, or inferred
// from the header line.
//
// A field may be quoted, and then may contain separators. Writers differ in two respects that a header need not
// show: some write a space before a quote, and some put a backslash before a quote within a field where others
// double the quote. The dialect accepts all of them by a rule that depends on one record only:
//
//   - A record is well-formed if every quote belongs to a quoted field: an opening quote follows a separator, a
//     closing quote precedes one, possibly with spaces between them, and a quote within the field is doubled. A
//     well-formed record is parsed in this way.
//   - A record that is not well-formed, but becomes so if a backslash within quotes escapes the next character, is
//     parsed with backslashes. This is not tried if the format declares doubled quotes, and is tried first if it
//     declares backslashes.
//   - Any other record is parsed as encoding/csv does with LazyQuotes: only a quote directly after a separator
//     opens a field, a quote within it that does not precede a separator is part of it, and a field left open ends
//     with the record.
//
// With declared backslashes, an unquoted field \N is empty. In a format without quotes, a backslash escapes the
// next character anywhere.
type dialect struct {
	comma  byte
	quote  byte // 0: no character surrounds fields
	escape byte // as in [Format]
}

const backslash = '\\'

// isPlain reports whether every separator in data ends a field and no field needs unquoting.
func (d *dialect) isPlain(data []byte) bool {
	if d.quote != 0 && bytes.IndexByte(data, d.quote) >= 0 {
		return false
	}
	return d.escape != backslash || bytes.IndexByte(data, backslash) < 0
}

// quotingOf returns how a record is parsed: whether spaces may precede a quoted field, and whether backslashes
// escape.
func (d *dialect) quotingOf(record []byte) (blanks, escapes bool) {
	declared := d.escape == backslash
	switch {
	case d.quote == 0 || bytes.IndexByte(record, d.quote) < 0:
		return false, declared
	case !declared && d.wellFormed(record, false):
		return true, false
	case d.escape != d.quote && d.wellFormed(record, true):
		return true, true
	}
	return false, declared
}

// wellFormed reports whether a record is well-formed.
func (d *dialect) wellFormed(record []byte, escapes bool) bool {
	for rest := record; ; {
		k := bytes.IndexByte(rest, d.quote)
		if k < 0 {
			return true
		}
		before := bytes.TrimRightFunc(rest[:k], d.isBlank)
		if len(before) > 0 && before[len(before)-1] != d.comma {
			return false
		}
		after, closed := d.skipQuoted(rest[k+1:], escapes)
		if !closed {
			return false
		}
		rest = bytes.TrimLeftFunc(after, d.isBlank)
		if len(rest) == 0 {
			return true
		}
		if rest[0] != d.comma {
			return false
		}
	}
}

// skipQuoted returns the text after the closing quote of a field. text starts after the opening quote.
func (d *dialect) skipQuoted(
	text []byte,
	escapes bool,
) (rest []byte, closed bool) {
	for {
		k := d.indexSpecial(text, escapes)
		switch {
		case k < 0:
			return nil, false
		case text[k] == backslash && escapes:
			if k+1 == len(text) {
				return nil, false
			}
			text = text[k+2:]
		case k+1 < len(text) && text[k+1] == d.quote:
			text = text[k+2:]
		default:
			return text[k+1:], true
		}
	}
}

// indexSpecial returns the index of the first quote or escaping backslash in quoted text, or -1.
func (d *dialect) indexSpecial(text []byte, escapes bool) int {
	if !escapes {
		return bytes.IndexByte(text, d.quote)
	}
	for k, c := range text {
		if c == d.quote || c == backslash {
			return k
		}
	}
	return -1
}

// isBlank reports whether a character is a blank that may surround a quoted field.
func (d *dialect) isBlank(c rune) bool {
	return (c == ' ' || c == '\t') && c != rune(d.comma)
}

// splitFields divides a record into fields. It is the byte-by-byte reference; [fieldCutter] does the same faster.
func (d *dialect) splitFields(record string) []string {
	if d.escape != backslash {
		if fields, strict, _ := d.parseRecord(record, true, false); strict {
			return fields
		}
	}
	if d.escape == backslash || d.escape == 0 {
		if fields, strict, _ := d.parseRecord(record, true, true); strict {
			return fields
		}
	}
	fields, _, _ := d.parseRecord(record, false, d.escape == backslash)
	return fields
}

// parseRecord divides a record into fields with fixed settings: whether spaces may precede a quoted field, and
// whether backslashes escape. strict reports that the record is well-formed, open that its last field would
// continue if there were more text.
func (d *dialect) parseRecord(
	record string,
	blanks, escapes bool,
) (fields []string, strict, open bool) {
	strict = true
	for at := 0; ; at++ {
		f := fieldParser{
			d:       d,
			record:  record,
			at:      at,
			blanks:  blanks,
			escapes: escapes,
			strict:  true,
		}
		fields = append(fields, f.parseField())
		strict = strict && f.strict
		at = f.at
		if at == len(record) {
			return fields, strict, f.open
		}
	}
}

// fieldParser parses one field of a record.
type fieldParser struct {
	d       *dialect
	record  string
	at      int // the next byte; after parse, the separator or the end
	blanks  bool
	escapes bool
	strict  bool
	open    bool
	text    []byte
}

func (f *fieldParser) parseField() string {
	first := f.at
	if f.blanks {
		first = f.skipBlanks(first)
	}
	if f.d.quote != 0 && first < len(f.record) && f.record[first] == f.d.quote {
		f.at = first + 1
		f.parseQuoted()
		return string(f.text)
	}
	start := f.at
	f.parseBare()
	if f.d.escape == backslash && f.record[start:f.at] == `\N` {
		return ""
	}
	return string(f.text)
}

// skipBlanks returns the index of the first byte from at on that is not a blank.
func (f *fieldParser) skipBlanks(at int) int {
	for at < len(f.record) && f.d.isBlank(rune(f.record[at])) {
		at++
	}
	return at
}

// parseQuoted parses a field up to the separator after its closing quote.
func (f *fieldParser) parseQuoted() {
	for ; f.at < len(f.record); f.at++ {
		c := f.record[f.at]
		last := f.at+1 == len(f.record)
		switch {
		case f.escapes && c == backslash && !last:
			f.at++
			next := f.record[f.at]
			if next != f.d.quote && next != backslash {
				f.text = append(f.text, backslash)
			}
			f.text = append(f.text, next)
		case c != f.d.quote:
			f.text = append(f.text, c)
		case !last && f.record[f.at+1] == f.d.quote:
			f.at++
			f.text = append(f.text, c)
		default:
			end := f.skipBlanks(f.at + 1)
			if end == len(f.record) || f.record[end] == f.d.comma {
				f.at = end
				return
			}
			f.text = append(f.text, c)
			f.strict = false
		}
	}
	f.open = true
	f.strict = false
}

// parseBare parses a field without quotes around it.
func (f *fieldParser) parseBare() {
	everywhere := f.escapes && f.d.quote == 0
	for ; f.at < len(f.record) && f.record[f.at] != f.d.comma; f.at++ {
		c := f.record[f.at]
		switch {
		case everywhere && c == backslash && f.at+1 == len(f.record):
			f.open = true
		case everywhere && c == backslash:
			f.at++
			f.text = append(f.text, unescape(f.record[f.at]))
			continue
		case f.d.quote != 0 && c == f.d.quote:
			f.strict = false
		}
		f.text = append(f.text, c)
	}
}

// unescape returns the character that a backslash followed by c denotes in unquoted text, as MySQL and
// PostgreSQL write it.
func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'v':
		return '\v'
	case '0':
		return 0
	case 'Z':
		return 0x1a
	}
	return c
}

// recordEnds reports whether a record ends with its first line, or with the lines so far if those are several.
func (d *dialect) recordEnds(record string, lines int) bool {
	if lines == 1 {
		_, doubled, _ := d.parseRecord(record, true, false)
		_, escaped, _ := d.parseRecord(record, true, true)
		if d.quote != 0 &&
			(doubled && d.escape != backslash ||
				escaped && (d.escape == backslash || d.escape == 0)) {
			return true
		}
	}
	_, _, open := d.parseRecord(record, false, d.escape == backslash)
	return !open
}
