package dataset

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// records yields the records of a CSV file one by one. Its results are valid until the next call.
type records interface {
	next() ([]string, error)                     // io.EOF after the last record
	beginRecord() ([]byte, error)                // the first line of the next record
	completeRecord(first []byte) ([]byte, error) // the record that starts with this line
	line() int                                   // line on which the last record started, counted from 1
	tooLong() bool                               // the last record reached the limit
}

// newRecords returns the records of a source.
func (rd *reader) newRecords(src io.Reader) records {
	return rd.recordsOf(bufio.NewReaderSize(src, 1<<16))
}

// recordsOf is like records, for a buffered source.
func (rd *reader) recordsOf(br *bufio.Reader) records {
	if mark, _ := br.Peek(3); string(mark) == "\uFEFF" {
		br.Discard(3)
	}
	lines := lineReader{r: br, max: rd.opts.maxLine()}
	for range rd.opts.Format.Skip {
		if _, lines.failed = lines.nextRaw(); lines.failed != nil {
			break
		}
	}
	switch {
	case !rd.opts.Format.Lines() && !rd.opts.ForceSlow:
		return &quotedRecords{
			lines: lines,
			cut:   rd.newFieldCutter(),
			each:  &rd.each,
			most:  maxColumns + 1,
		}
	case !rd.opts.Format.Lines():
		return &slowRecords{
			lines: lines,
			d:     &rd.dialect,
			each:  &rd.each,
		}
	}
	return &lineRecords{
		lines: lines,
		d:     &rd.dialect,
		each:  &rd.each,
	}
}

// newFieldCutter returns a cutter that splits records of the format into fields.
func (rd *reader) newFieldCutter() fieldCutter {
	return fieldCutter{d: &rd.dialect}
}

// slowRecords yields records whose quoted fields may contain newlines. It is the reference for where they end.
type slowRecords struct {
	lines lineReader
	d     *dialect
	each  *bool // as in [lineRecords]
	start int
	used  int // bytes of the last record
}

func (s *slowRecords) next() ([]string, error) {
	line, err := s.beginRecord()
	if err != nil {
		return nil, err
	}
	record, err := s.completeRecord(line)
	return s.d.splitFields(string(record)), err
}

func (s *slowRecords) beginRecord() ([]byte, error) {
	for {
		s.used = 0
		line, err := s.oneLine()
		if err != nil {
			return nil, err
		}
		if s.start = s.lines.count; *s.each || strings.Trim(line, "\n") != "" {
			return []byte(line), nil
		}
	}
}

func (s *slowRecords) completeRecord(first []byte) ([]byte, error) {
	record := string(first)
	for lines := 1; ; lines++ {
		if s.d.recordEnds(strings.TrimSuffix(record, "\n"), lines) {
			return []byte(strings.TrimSuffix(record, "\n")), nil
		}
		if s.used >= s.lines.max {
			return []byte(record), nil
		}
		line, err := s.oneLine()
		if err == io.EOF || err == nil && line == "" {
			return []byte(record), nil
		}
		if err != nil {
			return nil, err
		}
		record += line
	}
}

// oneLine returns the next line. A carriage return before its newline, or at the end of the file, is dropped.
func (s *slowRecords) oneLine() (string, error) {
	raw, err := s.lines.nextRaw()
	if err != nil {
		return "", err
	}
	s.used += len(raw)
	line, ended := strings.CutSuffix(string(raw), "\n")
	line = strings.TrimSuffix(line, "\r")
	if ended {
		line += "\n"
	}
	return line, nil
}

func (s *slowRecords) line() int {
	return s.start
}

func (s *slowRecords) tooLong() bool {
	return s.used >= s.lines.max
}

// lineRecords yields every non-empty line as one record. If each is set it yields empty lines too: in a file of
// one column an empty line is a record with an empty cell.
type lineRecords struct {
	lines lineReader
	d     *dialect
	each  *bool
}

func (l *lineRecords) next() ([]string, error) {
	line, err := l.beginRecord()
	if err != nil {
		return nil, err
	}
	return l.d.splitFields(string(line)), nil
}

func (l *lineRecords) beginRecord() ([]byte, error) {
	for {
		line, err := l.lines.next()
		if err != nil || len(line) > 0 || *l.each {
			return line, err
		}
	}
}

func (l *lineRecords) completeRecord(first []byte) ([]byte, error) {
	return first, nil
}

func (l *lineRecords) line() int {
	return l.lines.count
}

func (l *lineRecords) tooLong() bool {
	return l.lines.long
}

// lineReader splits a stream into lines.
type lineReader struct {
	r     *bufio.Reader
	max   int // maximum number of bytes kept of a line, without its newline
	buf   []byte
	count int  // number of lines so far
	long  bool // the last line has max bytes or more
	// refuse makes a line of more than max bytes an error as soon as it has read that many bytes.
	refuse bool

	failed error // of the skipped bytes
}

// nextRaw returns the next line with its newline, or io.EOF after the last one. For an overlong line it returns the
// start and the newline.
func (l *lineReader) nextRaw() ([]byte, error) {
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
			l.keepPiece(piece)
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

// keepPiece appends a piece of a line without the newline, up to the length limit.
func (l *lineReader) keepPiece(piece []byte) {
	piece = bytes.TrimSuffix(piece, []byte{'\n'})
	l.buf = append(l.buf, piece[:min(len(piece), l.max-len(l.buf))]...)
}

// next returns the next line without its end, or io.EOF after the last one.
func (l *lineReader) next() ([]byte, error) {
	raw, err := l.nextRaw()
	if err != nil {
		return nil, err
	}
	line, _ := cutLine(raw, l.max)
	return line, nil
}

// cutLine returns the first most bytes of the first line of data, without its newline and the carriage return
// before it, and the rest of data after the line. data must not be empty.
func cutLine(data []byte, most int) (line, rest []byte) {
	if k := bytes.IndexByte(data, '\n'); k >= 0 {
		line = data[:k]
		rest = data[k+1:]
	} else {
		line = data
	}
	line = line[:min(len(line), most)]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}
