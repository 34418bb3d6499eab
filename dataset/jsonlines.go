package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/dptrain/dptrain/internal/cell"
)

// jsonLines makes CSV of JSON Lines: a record of each line that is not blank, with the cells of the named columns. A line also
// ends with a carriage return alone, which no text of JSON holds. It is total: a line that is no object becomes a record whose cells are all missing, a key that is absent or null an empty
// cell, true and false these words, an array or an object its text, and an end of a line within a text a blank.
type jsonLines struct {
	lines lineReader
	names []string
	out   []byte
	todo  []byte
}

// newJSONLines reads r as JSON Lines. Of a line only most bytes are looked at, so that a longer one is no object.
func newJSONLines(r io.Reader, names []string, most int) *jsonLines {
	br := bufio.NewReaderSize(lineFeeds{r}, 1<<16)
	if mark, _ := br.Peek(3); string(mark) == "\uFEFF" {
		br.Discard(3)
	}
	return &jsonLines{lines: lineReader{r: br, max: most}, names: names}
}

// lineFeeds makes line feeds of carriage returns.
type lineFeeds struct{ r io.Reader }

// Read implements io.Reader.
func (l lineFeeds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for rest := p[:n]; ; {
		k := bytes.IndexByte(rest, '\r')
		if k < 0 {
			return n, err
		}
		rest[k] = '\n'
		rest = rest[k+1:]
	}
}

// Read implements io.Reader.
func (j *jsonLines) Read(p []byte) (int, error) {
	for len(j.todo) == 0 {
		line, err := j.lines.next()
		if err != nil {
			return 0, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			j.record(line)
		}
	}
	n := copy(p, j.todo)
	j.todo = j.todo[n:]
	return n, nil
}

// record makes a CSV line of an object. It is never empty.
func (j *jsonLines) record(line []byte) {
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) != nil {
		object = nil
	}
	j.out = j.out[:0]
	for i, name := range j.names {
		if i > 0 {
			j.out = append(j.out, ',')
		}
		raw := object[name]
		text := string(raw)
		if len(raw) == 0 || text == "null" || raw[0] == '"' && json.Unmarshal(raw, &text) != nil {
			text = ""
		}
		j.out = cell.AppendCell(j.out, text)
	}
	if len(j.out) == 0 {
		j.out = append(j.out, `""`...)
	}
	j.out = append(j.out, '\n')
	j.todo = j.out
}
