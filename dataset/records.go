package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
)

// records yields the records of a CSV file one by one. The fields are valid until the
// next call.
type records interface {
	next() ([]string, error) // io.EOF after the last record
	line() int               // where the last record began, counted from 1
	tooLong() bool           // the last record reached the limit
}

// records starts at the beginning of a file.
func (rd *reader) records(src io.Reader) records {
	return rd.recordsOf(bufio.NewReaderSize(src, 1<<16))
}

// recordsOf is records for a source with a buffer.
func (rd *reader) recordsOf(br *bufio.Reader) records {
	if mark, _ := br.Peek(3); string(mark) == "\uFEFF" {
		br.Discard(3)
	}
	lines := lineReader{r: br, max: rd.opts.maxLine()}
	for range rd.opts.Format.Skip {
		if _, lines.failed = lines.raw(); lines.failed != nil {
			break
		}
	}
	switch {
	case rd.opts.MultilineQuotes && !rd.opts.ForceSlow:
		return &quotedRecords{lines: lines, cut: rd.cutter(), most: maxColumns + 1}
	case rd.opts.MultilineQuotes:
		feed := &lineFeed{lines: lines, quote: rd.quote, skipped: lines.count}
		return &streamRecords{r: newCSV(feed, rd.format.comma), feed: feed}
	}
	return &lineRecords{lines: lines, split: newSplitter(rd.format.comma, rd.quote)}
}

// cutter cuts records of the format into fields.
func (rd *reader) cutter() fieldCutter {
	return fieldCutter{comma: rd.format.comma, quote: rd.quote}
}

// exchange makes of the quote of a format that of encoding/csv, and the other way round.
func exchange(text []byte, quote byte) {
	if quote == '"' {
		return
	}
	for i, c := range text {
		switch c {
		case quote:
			text[i] = '"'
		case '"':
			text[i] = quote
		}
	}
}

// exchangeAll is exchange for fields.
func exchangeAll(fields []string, quote byte) []string {
	if quote == '"' {
		return fields
	}
	for i := range fields {
		b := []byte(fields[i])
		exchange(b, quote)
		fields[i] = string(b)
	}
	return fields
}

func newCSV(r io.Reader, comma byte) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = rune(comma)
	c.FieldsPerRecord = -1
	c.LazyQuotes = true
	c.ReuseRecord = true
	return c
}

// streamRecords lets encoding/csv find the ends of records, which may lie lines
// after their beginnings. With LazyQuotes and no fixed field count it has no
// syntax errors; an open quote ends with the file.
type streamRecords struct {
	r     *csv.Reader
	feed  *lineFeed
	start int
}

func (s *streamRecords) next() ([]string, error) {
	s.feed.used = 0
	fields, err := s.r.Read()
	for err == io.EOF && s.feed.ended { // only empty lines so far
		s.feed.used, s.feed.ended = 0, false
		fields, err = s.r.Read()
	}
	s.feed.ended = false
	if err != nil {
		return nil, err
	}
	s.start, _ = s.r.FieldPos(0)
	s.start += s.feed.skipped
	return exchangeAll(fields, s.feed.quote), nil
}

// lineFeed hands a csv.Reader at most one line per call, so that it never holds
// more than the line it is at, and ends a record that reached the limit by
// io.EOF, after which the csv.Reader can go on reading.
type lineFeed struct {
	lines   lineReader
	quote   byte
	skipped int // lines before the header
	todo    []byte
	used    int  // by the record being read
	ended   bool // the record, not the file
}

// Read implements io.Reader.
func (f *lineFeed) Read(p []byte) (int, error) {
	if len(f.todo) == 0 {
		if f.used >= f.lines.max {
			f.ended = true
			return 0, io.EOF
		}
		raw, err := f.lines.raw()
		if err != nil {
			return 0, err
		}
		exchange(raw, f.quote)
		f.todo = raw
	}
	n := copy(p, f.todo)
	f.todo = f.todo[n:]
	f.used += n
	return n, nil
}

func (s *streamRecords) line() int { return s.start }

func (s *streamRecords) tooLong() bool { return s.feed.used >= s.feed.lines.max }

// lineRecords takes every line that is not empty as one record.
type lineRecords struct {
	lines lineReader
	split *splitter
}

func (l *lineRecords) next() ([]string, error) {
	line, err := l.raw()
	if err != nil {
		return nil, err
	}
	return l.split.fields(line), nil
}

// raw returns the next line that is not empty.
func (l *lineRecords) raw() ([]byte, error) {
	for {
		if line, err := l.lines.next(); err != nil || len(line) > 0 {
			return line, err
		}
	}
}

func (l *lineRecords) line() int { return l.lines.count }

func (l *lineRecords) tooLong() bool { return l.lines.long }

// lineReader cuts a stream into lines.
type lineReader struct {
	r     *bufio.Reader
	max   int // bytes kept of a line, not counting its newline
	buf   []byte
	count int  // lines so far
	long  bool // the last line has max bytes or more
	// refuse makes a line of more than max bytes an error as soon as that many bytes are read.
	refuse bool

	failed error // of what was skipped
}

// raw returns the next line with its newline, or io.EOF after the last one. Of a
// line that is too long it returns the beginning, and the newline.
func (l *lineReader) raw() ([]byte, error) {
	if l.failed != nil {
		return nil, l.failed
	}
	piece, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull || len(piece) > l.max {
		l.buf = l.buf[:0]
		for {
			if l.refuse && len(l.buf)+len(bytes.TrimSuffix(piece, []byte{'\n'})) > l.max {
				l.count++
				return nil, errLongLine
			}
			l.keep(piece)
			if err != bufio.ErrBufferFull {
				break
			}
			piece, err = l.r.ReadSlice('\n')
		}
		if err == nil {
			l.buf = append(l.buf, '\n')
		}
		piece = l.buf
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(piece) == 0 {
		return nil, io.EOF
	}
	l.count++
	l.long = len(piece) > l.max || len(piece) == l.max && err != nil
	return piece, nil
}

// keep appends what fits of a piece of a line, without the newline.
func (l *lineReader) keep(piece []byte) {
	piece = bytes.TrimSuffix(piece, []byte{'\n'})
	l.buf = append(l.buf, piece[:min(len(piece), l.max-len(l.buf))]...)
}

// next returns the next line without its end, or io.EOF after the last one.
func (l *lineReader) next() ([]byte, error) {
	raw, err := l.raw()
	if err != nil {
		return nil, err
	}
	line, _ := cutLine(raw, l.max)
	return line, nil
}

// cutLine returns the first most bytes of the first line of data, without its
// newline and the carriage return before it, and what follows the line. data must
// not be empty.
func cutLine(data []byte, most int) (line, rest []byte) {
	if k := bytes.IndexByte(data, '\n'); k >= 0 {
		line, rest = data[:k], data[k+1:]
	} else {
		line = data
	}
	line = line[:min(len(line), most)]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}

// splitter splits single lines into fields with encoding/csv. One csv.Reader is
// fed line after line, each ended by io.EOF, after which it can go on reading.
type splitter struct {
	r     *csv.Reader
	quote byte
	buf   []byte
	todo  []byte
}

func newSplitter(comma, quote byte) *splitter {
	s := &splitter{quote: quote}
	s.r = newCSV(s, comma)
	return s
}

// fields splits a line that is not empty. The result is valid until the next
// call.
func (s *splitter) fields(line []byte) []string {
	s.buf = append(s.buf[:0], line...)
	if line[len(line)-1] == '\r' {
		s.buf = append(s.buf, '\r') // encoding/csv drops one at the end of its input
	}
	exchange(s.buf, s.quote)
	s.todo = s.buf
	fields, err := s.r.Read()
	if err != nil {
		return nil // unreachable with these options; still a record, of missing cells
	}
	return exchangeAll(fields, s.quote)
}

// Read implements io.Reader for the csv.Reader.
func (s *splitter) Read(p []byte) (int, error) {
	if len(s.todo) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.todo)
	s.todo = s.todo[n:]
	return n, nil
}
