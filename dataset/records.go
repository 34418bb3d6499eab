package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
)

// records yields the records of a CSV file one by one with encoding/csv. The
// fields are valid until the next call.
type records interface {
	next() ([]string, error) // io.EOF after the last record
	line() int               // where the last record began, counted from 1
}

// records starts at the beginning of a file.
func (rd *reader) records(src io.Reader) records {
	br := bufio.NewReaderSize(src, 1<<16)
	if mark, _ := br.Peek(3); string(mark) == "\uFEFF" {
		br.Discard(3)
	}
	if rd.opts.MultilineQuotes {
		return &streamRecords{r: newCSV(br, rd.format.comma)}
	}
	return &lineRecords{lines: lineReader{path: rd.path, r: br}, split: newSplitter(rd.format.comma)}
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
	start int
}

func (s *streamRecords) next() ([]string, error) {
	fields, err := s.r.Read()
	if err != nil {
		return nil, err
	}
	s.start, _ = s.r.FieldPos(0)
	return fields, nil
}

func (s *streamRecords) line() int { return s.start }

// lineRecords takes every line that is not empty as one record.
type lineRecords struct {
	lines lineReader
	split *splitter
}

func (l *lineRecords) next() ([]string, error) {
	for {
		line, err := l.lines.next()
		if err != nil {
			return nil, err
		}
		if len(line) > 0 {
			return l.split.fields(line), nil
		}
	}
}

func (l *lineRecords) line() int { return l.lines.count }

// lineReader cuts a stream into lines.
type lineReader struct {
	path  string
	r     *bufio.Reader
	buf   []byte
	count int // lines so far
}

// next returns the next line without its end, or io.EOF after the last one.
func (l *lineReader) next() ([]byte, error) {
	raw, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.buf = l.buf[:0]
		for err == bufio.ErrBufferFull {
			l.buf = append(l.buf, raw...)
			raw, err = l.r.ReadSlice('\n')
		}
		l.buf = append(l.buf, raw...)
		raw = l.buf
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, io.EOF
	}
	l.count++
	line, _ := cutLine(raw)
	return line, nil
}

// cutLine returns the first line of data without its newline and the carriage
// return before it, and what follows. data must not be empty.
func cutLine(data []byte) (line, rest []byte) {
	if k := bytes.IndexByte(data, '\n'); k >= 0 {
		line, rest = data[:k], data[k+1:]
	} else {
		line = data
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}

// splitter splits single lines into fields with encoding/csv. One csv.Reader is
// fed line after line, each ended by io.EOF, after which it can go on reading.
type splitter struct {
	r    *csv.Reader
	buf  []byte
	todo []byte
}

func newSplitter(comma byte) *splitter {
	s := &splitter{}
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
	s.todo = s.buf
	fields, err := s.r.Read()
	if err != nil {
		return nil // unreachable with these options; still a record, of missing cells
	}
	return fields
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
