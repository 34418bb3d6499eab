package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/dptrain/dptrain/internal/tablefile"
)

// A StreamFormat is a prepared reader of new records from many streams, such as the bodies of requests to a
// server. It may be used from several goroutines at once.
//
// Records and cells are those of [Stream], but they are read in the goroutine of the caller, as soon as they
// arrive, and in memory that is bounded by the limits. Since the records are new and not private, two things
// are errors that [Stream] tolerates: a line above the limit, and a line of JSON Lines that is not an object.
type StreamFormat struct {
	reader  reader
	limits  StreamLimits
	objects jsonObjects // for JSON; its values and its text are not those of a stream
	lay     layout      // for JSON
}

// StreamLimits bound the memory of a [RecordReader].
type StreamLimits struct {
	Line  int // maximum number of bytes of a line; at least 2
	Cells int // maximum number of cells of the declared columns in a batch, unless one record has more
}

// NewStreamFormat prepares the reading of streams. name identifies a stream in messages, and its suffix is that
// of its format, as for [StreamFrom]. JSON objects need no opts.Names: their keys are the columns of the
// schema. Errors are those of [StreamFrom] that do not depend on the stream.
func NewStreamFormat(
	name string,
	schema Schema,
	opts ReadOptions,
	limits StreamLimits,
) (*StreamFormat, error) {
	if kind, _, _ := tablefile.ParsePath(name); kind.JSON {
		opts.Names = sourcesOf(schema)
	}
	opts.line = limits.Line
	rd, err := streamReader(name, schema, opts)
	if err != nil {
		return nil, err
	}
	if rd.format.decode != nil {
		return nil,
			&FileError{
				Path: name,
				Msg:  "is compressed",
				Hint: "decompress it",
				Err:  ErrFormat,
			}
	}
	rd.nameless = true
	f := &StreamFormat{reader: *rd, limits: limits}
	if rd.format.json {
		f.objects = newJSONObjects(opts.Names, rd.opts.Format.Decimal == ',')
		f.lay, err = rd.bindColumns(header{names: opts.Names})
	}
	return f, err
}

// sourcesOf lists the columns of a file that the columns and the unit of a schema are read from. The list is not nil.
func sourcesOf(s Schema) []string {
	out := make([]string, 0, len(s.Columns)+1)
	seen := make(map[string]bool, len(s.Columns))
	for j := range s.Columns {
		if name := s.Columns[j].dateSource(); !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	if s.Unit != "" && !seen[s.Unit] {
		out = append(out, s.Unit)
	}
	return out
}

// A RecordReader reads the records of one stream.
type RecordReader struct {
	rd     *reader
	source recordSource
	store  *store
	stats  *Stats // of the last batch
	room   slab
	most   int // maximum number of records of a batch
	before int64
	err    error
}

// A recordSource yields the records of a stream as lines of CSV.
type recordSource interface {
	nextRaw() ([]byte, error) // the next record, valid until the next call; io.EOF after the last one
	line() int                // line on which the last record started, counted from 1
	hasBuffered() bool        // reports whether the next record is complete in memory
	shrinkBuffers()           // releases memory that a long record needed
}

// Open reads the header of a stream, through a buffer of the given number of bytes. It returns when the header
// is complete. JSON objects have no header, so Open reads no bytes of such a stream.
func (f *StreamFormat) Open(r io.Reader, buffer int) (*RecordReader, error) {
	rd := f.reader // the reader of one stream may change its format after reading the header
	rd.begins = &head{r: &source{path: rd.path, r: r}}
	r = rd.opts.Format.utf8(rd.begins)
	if rd.format.json {
		r = lineFeeds{r}
	}
	text := bufio.NewReaderSize(r, buffer)
	out := &RecordReader{
		rd:    &rd,
		most:  max(1, f.limits.Cells/max(1, len(rd.cols))),
		stats: newStats(rd.schema),
	}
	lay := f.lay
	if rd.format.json {
		objects := jsonObjects{
			places: f.objects.places,
			values: make([][]byte, len(f.objects.values)),
			comma:  f.objects.comma,
		}
		out.source = &objectSource{
			path: rd.path,
			lines: lineReader{
				r:      text,
				max:    f.limits.Line,
				refuse: true,
			},
			objects: objects,
		}
	} else {
		source, head, err := f.readHeader(&rd, text)
		if err == nil {
			lay, err = rd.bindColumns(head)
		}
		if err != nil {
			return nil, err
		}
		out.source = source
	}
	out.store = rd.newBatchStore(lay)
	return out, nil
}

// readHeader prepares the records of a stream of CSV and reads its header.
func (f *StreamFormat) readHeader(
	rd *reader,
	text *bufio.Reader,
) (recordSource, header, error) {
	recs := rd.recordsOf(text)
	var out recordSource
	var lines *lineReader
	switch recs := recs.(type) {
	case *lineRecords:
		lines = &recs.lines
		out = &lineSource{recs}
	case *quotedRecords:
		lines = &recs.lines
		out = &quotedSource{quotedRecords: recs}
	default:
		return nil, header{},
			&FileError{
				Path: rd.path,
				Msg:  "is compressed",
				Err:  ErrFormat,
			}
	}
	lines.refuse = true
	head, err := rd.readHeader(recs)
	if err != nil {
		return nil, head, rd.lineError(err, lines.count, f.limits.Line)
	}
	return out, head, nil
}

// lineError returns the error about a record that cannot be read, with its line.
func (rd *reader) lineError(err error, line, limit int) error {
	if errors.Is(err, errLongLine) {
		return &FileError{
			Path: rd.path,
			Line: line,
			Msg:  fmt.Sprintf("a line is longer than %d bytes", limit),
			Hint: "send one record per line, and check quotes and line breaks",
			Err:  ErrLongLine,
		}
	}
	return err
}

// errLongLine is the error of a lineReader that rejects long lines.
var errLongLine = errors.New("a line is too long")

// firstRows is the initial capacity of a RecordReader in records: most streams of a server hold a single one.
const firstRows = 4

// Next returns the next records: at least one, and others that are complete in memory. It waits for one record only. The
// batch is valid until the next call. The error is io.EOF after the last record, or a [*FileError].
func (r *RecordReader) Next() (*Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.source.shrinkBuffers()
	r.stats.resetCounts()
	r.store.nextBatch(r.room, r.stats)
	rows := 0
	for rows < r.most && (rows == 0 || r.source.hasBuffered()) {
		record, err := r.source.nextRaw()
		if err != nil {
			r.err = r.rd.lineError(err, r.source.line(), r.rd.opts.maxLine())
			break
		}
		r.growTo(rows)
		r.store.parseAnyLine(record, rows)
		rows++
	}
	if rows == 0 {
		return nil, r.err
	}
	b := &Batch{
		Table: r.room.subSlab(0, rows).newBatchTable(r.rd.schema, make([][]string, len(r.rd.cols))),
		Stats: r.stats,
		First: r.before,
	}
	r.before += int64(rows)
	return b, nil
}

// Buffered reports whether the next record is complete in memory, so that Next does not wait.
func (r *RecordReader) Buffered() bool {
	return r.source.hasBuffered()
}

// resetCounts sets all counts to zero.
func (s *Stats) resetCounts() {
	*s = Stats{Columns: s.Columns}
	for j := range s.Columns {
		s.Columns[j] = ColumnStats{Name: s.Columns[j].Name}
	}
}

// growTo makes room for the record after rows others.
func (r *RecordReader) growTo(rows int) {
	if rows < r.room.rows {
		return
	}
	larger := newSlab(r.rd.cols, r.rd.hasUnit(), min(max(firstRows, 4*rows), r.most))
	for j := range r.rd.cols {
		copy(larger.floats[j], r.room.columnData(j).Floats)
		copy(larger.codes[j], r.room.columnData(j).Codes)
	}
	copy(larger.ids, r.room.ids)
	r.room = larger
	r.store.dst = larger
}

// columnData returns column j; the zero ColumnData for a slab without columns.
func (s slab) columnData(j int) ColumnData {
	if j >= len(s.floats) {
		return ColumnData{}
	}
	return ColumnData{
		Floats: s.floats[j],
		Codes:  s.codes[j],
	}
}

// keptBuffer is the number of bytes of memory for long lines that a stream keeps between two batches.
const keptBuffer = 1 << 16

func (l *lineReader) shrinkBuffers() {
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
}

// inMemory returns the bytes that were read but not consumed.
func (l *lineReader) inMemory() []byte {
	text, _ := l.r.Peek(l.r.Buffered())
	return text
}

// lineSource yields the lines of a CSV stream.
type lineSource struct{ *lineRecords }

func (s *lineSource) nextRaw() ([]byte, error) {
	return s.beginRecord()
}

func (s *lineSource) shrinkBuffers() {
	s.lines.shrinkBuffers()
}

func (s *lineSource) hasBuffered() bool {
	return bytes.IndexByte(firstRecord(s.lines.inMemory(), *s.each), '\n') >= 0
}

// firstRecord returns the text from the first record on: text without leading empty lines, or all of text if
// empty lines are records.
func firstRecord(text []byte, each bool) []byte {
	if each {
		return text
	}
	return text[emptyLines(text, 0):]
}

// quotedSource yields the records of a CSV stream whose quoted fields may contain newlines.
type quotedSource struct{ *quotedRecords }

func (s *quotedSource) shrinkBuffers() {
	s.lines.shrinkBuffers()
	if cap(s.buf) > keptBuffer {
		s.buf = nil
	}
}

func (s *quotedSource) line() int {
	return s.lines.count
}

func (s *quotedSource) nextRaw() ([]byte, error) {
	record, err := s.quotedRecords.nextRaw()
	if err == nil && s.tooLong() {
		return nil, errLongLine
	}
	return record, err
}

func (s *quotedSource) hasBuffered() bool {
	text := firstRecord(s.lines.inMemory(), *s.each)
	for open := false; ; {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			return false
		}
		line := text[:end]
		if end > 1 && line[end-2] == '\r' {
			line = append(line[:end-2:end-2], '\n')
		}
		if open = s.cut.d.leftOpen(line, open); !open {
			return true
		}
		text = text[end:]
	}
}

// objectSource yields the objects of JSON Lines as CSV records.
type objectSource struct {
	path    string
	lines   lineReader
	objects jsonObjects
	begun   bool
}

func (s *objectSource) line() int {
	return s.lines.count
}

func (s *objectSource) shrinkBuffers() {
	s.lines.shrinkBuffers()
	if cap(s.objects.out) > keptBuffer {
		s.objects.out = nil
	}
}

func (s *objectSource) hasBuffered() bool {
	text := s.lines.inMemory()
	return bytes.IndexByte(text[jsonSpace(text, 0):], '\n') >= 0
}

func (s *objectSource) nextRaw() ([]byte, error) {
	for {
		line, err := s.lines.next()
		if err != nil {
			return nil, err
		}
		if !s.begun {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := CheckObject(line); err != nil {
			err.Path = s.path
			err.Line = s.lines.count
			return nil, err
		}
		clear(s.objects.values)
		s.objects.findMembers(line)
		if !s.begun {
			s.begun = true
			if msg := s.objects.misnamedMembers(line); msg != "" {
				return nil,
					&FileError{
						Path: s.path,
						Line: s.lines.count,
						Msg:  msg,
						Hint: "names must match exactly",
						Err:  ErrNoColumn,
					}
			}
		}
		return bytes.TrimSuffix(s.objects.line(), []byte{'\n'}), nil
	}
}

// misnamedMembers returns a description of member names that cannot be intended, or the empty text: no name is a
// column, or one equals an absent column except for case, spaces and punctuation. An absent name is a missing
// cell, so such objects would be predicted from missing values. The first object of a stream is checked, like
// the header of a CSV file.
func (j *jsonObjects) misnamedMembers(text []byte) string {
	absent := map[string]string{}
	column := ""
	first := len(j.values)
	missing := 0
	for name, i := range j.places {
		if j.values[i] != nil {
			continue
		}
		missing++
		if i < first {
			column = name
			first = i
		}
		if plain := plainName(name); plain != "" {
			absent[plain] = name
		}
	}
	if missing == 0 {
		return ""
	}
	members := 0
	similar := ""
	eachMember(text, func(token, _ []byte) {
		members++
		if _, known := j.memberIndex(token); known || similar != "" {
			return
		}
		similar = absent[plainName(jsonText(token))]
	})
	switch {
	case similar != "":
		return fmt.Sprintf(
			"the first record has no %q, but a name that differs from it only in case, blanks or punctuation",
			similar)
	case members > 0 && missing == len(j.values):
		return fmt.Sprintf("the first record has none of the columns of the model, such as %q", column)
	}
	return ""
}

// plainName returns the letters and digits of a name in lower case.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// CheckObject returns an error if a text is not a JSON object. The error has a column, counted in bytes from 1,
// but no path or line. It does not quote the text.
func CheckObject(text []byte) *FileError {
	at := jsonSpace(text, 0)
	if json.Valid(text) && text[at] == '{' {
		return nil
	}
	e := &FileError{
		Column: at + 1,
		Msg:    "this is not a JSON object",
		Hint:   `write each record as one object, such as {"age": 41}`,
		Err:    ErrFormat,
	}
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, &whole); errors.As(err, &syntax) {
		e.Column = max(1, int(syntax.Offset))
		e.Msg = "this is not valid JSON"
	}
	return e
}
