package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// jsonLines converts JSON Lines to CSV: one record for each line that is not blank, with the cells of the named
// columns. A line also ends at a lone carriage return, which cannot occur in JSON text. It accepts any input: a
// line that is not an object becomes a record whose cells are all missing.
type jsonLines struct {
	lines   lineReader
	objects jsonObjects
	todo    []byte
}

// newJSONLines reads r as JSON Lines. Only the first most bytes of a line are read, so a longer line is not an object.
func newJSONLines(
	r io.Reader,
	names []string,
	comma bool,
	most int,
) *jsonLines {
	br := bufio.NewReaderSize(lineFeeds{r}, 1<<16)
	if mark, _ := br.Peek(3); string(mark) == "\uFEFF" {
		br.Discard(3)
	}
	return &jsonLines{
		lines:   lineReader{r: br, max: most},
		objects: newJSONObjects(names, comma),
	}
}

// lineFeeds replaces carriage returns by line feeds.
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
			j.todo = j.objects.recordLine(line)
		}
	}
	n := copy(p, j.todo)
	j.todo = j.todo[n:]
	return n, nil
}

// jsonObjects converts JSON objects to CSV records. It keeps only the values of the named columns of an object,
// so its memory does not depend on how many names an object has or how deeply its values are nested.
type jsonObjects struct {
	places map[string]int // of the names
	values [][]byte       // the value of each name in the current object, nil if it is absent
	comma  bool           // the decimal mark of numbers
	out    []byte
}

// newJSONObjects reads the values of some names. Numbers get a decimal comma if comma is set, as the reader of the cells
// expects.
func newJSONObjects(names []string, comma bool) jsonObjects {
	places := make(map[string]int, len(names))
	for i, name := range names {
		places[name] = i
	}
	return jsonObjects{
		places: places,
		values: make([][]byte, len(names)),
		comma:  comma,
	}
}

// recordLine returns the CSV line of an object with its newline, valid until the next call. If a name is repeated,
// its last value is used. An absent name, null, an array and an object are empty cells; true and false are
// texts; a number is written by [cell.AppendNumber]; a line break within a text becomes a space. A text that is
// not an object yields empty cells, of another number than there are names.
func (j *jsonObjects) recordLine(text []byte) []byte {
	clear(j.values)
	if i := jsonSpace(text, 0); i == len(text) || text[i] != '{' || !json.Valid(text) {
		return j.unevenLine()
	}
	j.findMembers(text)
	return j.line()
}

// unevenLine returns a CSV line of empty cells: one, or two if there is at most one name. So [Stats] counts it as a line of
// another length than the header.
func (j *jsonObjects) unevenLine() []byte {
	j.out = append(j.out[:0], `""`...)
	if len(j.values) <= 1 {
		j.out = append(j.out, `,""`...)
	}
	j.out = append(j.out, '\n')
	return j.out
}

// line returns the CSV line of the values that were found.
func (j *jsonObjects) line() []byte {
	j.out = j.out[:0]
	for i, value := range j.values {
		if i > 0 {
			j.out = append(j.out, ',')
		}
		j.out = cell.AppendCell(j.out, j.cellText(value))
	}
	if len(j.out) == 0 {
		j.out = append(j.out, `""`...)
	}
	j.out = append(j.out, '\n')
	return j.out
}

// cellText returns the cell of a JSON value; a nil value represents an absent name.
func (j *jsonObjects) cellText(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	switch value[0] {
	case '"':
		return jsonText(value)
	case 't', 'f':
		return string(value)
	case 'n', '[', '{':
		return ""
	}
	number := string(cell.AppendNumber(nil, string(value)))
	if j.comma {
		number = strings.Replace(number, ".", ",", 1)
	}
	return number
}

// jsonText returns the text of a JSON string.
func jsonText(token []byte) string {
	var text string
	if json.Unmarshal(token, &text) != nil {
		return ""
	}
	return text
}

// findMembers sets the values of the named columns in a valid JSON text, if it is an object.
func (j *jsonObjects) findMembers(text []byte) {
	eachMember(text, func(name, value []byte) {
		if i, ok := j.memberIndex(name); ok {
			j.values[i] = value
		}
	})
}

// memberIndex returns the index of a member name, which is a string token of JSON.
func (j *jsonObjects) memberIndex(token []byte) (int, bool) {
	name := token[1 : len(token)-1]
	for _, c := range name {
		if c == '\\' || c >= utf8.RuneSelf { // an escape, or possibly invalid UTF-8
			i, ok := j.places[jsonText(token)]
			return i, ok
		}
	}
	i, ok := j.places[string(name)] // no allocation
	return i, ok
}

// eachMember calls do with the name and the value of each member of a valid JSON object, both as JSON tokens.
// Other JSON values have no members.
func eachMember(text []byte, do func(name, value []byte)) {
	i := jsonSpace(text, 0)
	if text[i] != '{' {
		return
	}
	for i = jsonSpace(text, i+1); text[i] != '}'; i = jsonSpace(text, i) {
		end := jsonValue(text, i)
		name := text[i:end]
		i = jsonSpace(text, end)
		i = jsonSpace(text, i+1) // after the colon
		end = jsonValue(text, i)
		do(name, text[i:end])
		i = jsonSpace(text, end)
		if text[i] == ',' {
			i = jsonSpace(text, i+1)
		}
	}
}

// jsonSpace returns the index of the first byte from i on that is not white space, or the length of text.
func jsonSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// jsonValue returns the end of the value at index i of a valid JSON text.
func jsonValue(text []byte, i int) int {
	switch text[i] {
	case '"':
		return jsonString(text, i)
	case '{', '[':
		depth := 0
		for {
			switch text[i] {
			case '"':
				i = jsonString(text, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
	}
	for i < len(text) && bytes.IndexByte([]byte(",]} \t\r\n"), text[i]) < 0 {
		i++
	}
	return i
}

// jsonString returns the end of the string at index i of a valid JSON text.
func jsonString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}
