package regression

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DecodeError reports where and why a model file is refused.
type DecodeError struct {
	Line, Column int    // 1-based; Column counts bytes
	Path         string // such as "terms[3].coefficient"; empty for the document
	Problem      string

	err error
}

func (e *DecodeError) Error() string {
	where := fmt.Sprintf("model file %d:%d: ", e.Line, e.Column)
	if e.Path != "" {
		where += e.Path + ": "
	}
	return where + e.Problem
}

// Unwrap returns [ErrModelFormat], a [*ModelError] or nil.
func (e *DecodeError) Unwrap() error { return e.err }

// quote quotes text of the file for a message, shortened.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.Quote(s)
}

func newDecodeError(data []byte, offset int, path, problem string) *DecodeError {
	before := data[:min(offset, len(data))]
	return &DecodeError{
		Line:    1 + bytes.Count(before, []byte{'\n'}),
		Column:  len(before) - bytes.LastIndexByte(before, '\n'),
		Path:    path,
		Problem: problem,
	}
}

// checkSyntax refuses what is not one JSON document in UTF-8.
func checkSyntax(data []byte) error {
	if !utf8.Valid(data) {
		at := 0
		for at < len(data) {
			r, size := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return newDecodeError(data, at, "", "is not valid UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		at := len(data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset > 0 {
			at = int(syntax.Offset) - 1 // Offset counts the offending byte
		}
		return newDecodeError(data, at, "", "is not JSON: "+err.Error())
	}
	return nil
}

// jsonReader reads a checked JSON document as a stream of tokens, knows the
// path and position of each value, and keeps the positions of the first two
// levels (within a score: of the first two there) for problems found later.
type jsonReader struct {
	data    []byte
	version int // of the format
	dec     *json.Decoder
	base    int // where in data dec began
	size    int // how much of data dec reads
	path    []string
	depth   int // levels whose positions are kept
	placed  map[string]int
}

func newJSONReader(data []byte) *jsonReader {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return &jsonReader{data: data, dec: dec, size: len(data), depth: 2, placed: make(map[string]int)}
}

// part returns a reader of the value between two positions, which d has passed
// over: it is where d was, and keeps the positions of two levels more.
func (d *jsonReader) part(from, to int) *jsonReader {
	dec := json.NewDecoder(bytes.NewReader(d.data[from:to]))
	dec.UseNumber()
	return &jsonReader{data: d.data, version: d.version, dec: dec, base: from, size: to - from, path: append([]string(nil), d.path...), depth: len(d.path) + 2, placed: d.placed}
}

// position returns the offset of the next key or value.
func (d *jsonReader) position() int {
	at := d.base + int(d.dec.InputOffset())
	for at < len(d.data) && strings.IndexByte(" \t\r\n:,", d.data[at]) >= 0 {
		at++
	}
	return at
}

func (d *jsonReader) errorAt(at int, problem string) error {
	return newDecodeError(d.data, at, strings.Join(d.path, ""), problem)
}

// locate gives a ModelError the position of the innermost value of its path
// that is known.
func (d *jsonReader) locate(err error) error {
	var problem *ModelError
	if !errors.As(err, &problem) {
		return err
	}
	at := 0
	for path := problem.Path; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		if offset, ok := d.placed[path]; ok {
			at = offset
			break
		}
	}
	located := newDecodeError(d.data, at, problem.Path, problem.Problem)
	located.err = problem
	return located
}

// enter and leave keep the path; enter is called just before the value.
func (d *jsonReader) enter(step string) {
	d.path = append(d.path, step)
	if len(d.path) <= d.depth {
		d.placed[strings.Join(d.path, "")] = d.position()
	}
}

func (d *jsonReader) leave() { d.path = d.path[:len(d.path)-1] }

// field is one member an object may have.
type field struct {
	name     string
	optional bool
	read     func() error // reads the value
}

// givenFields is the set of members an object had.
type givenFields map[string]bool

func (g givenFields) all(names []string) bool {
	for _, name := range names {
		if !g[name] {
			return false
		}
	}
	return true
}

func (g givenFields) any(names []string) bool {
	for _, name := range names {
		if g[name] {
			return true
		}
	}
	return false
}

// What object does with a member that is not among its fields.
const (
	refuseUnknown = false
	skipUnknown   = true
)

func (d *jsonReader) object(fields []field, unknown bool) error {
	_, err := d.fields(fields, unknown)
	return err
}

// fields reads an object with the given members in any order, each at most
// once, and reports which it had.
func (d *jsonReader) fields(fields []field, unknown bool) (givenFields, error) {
	start := d.position()
	if err := d.open('{', "an object"); err != nil {
		return nil, err
	}
	given := make(givenFields, len(fields))
	for d.dec.More() {
		at := d.position()
		name, err := d.text()
		if err != nil {
			return nil, err
		}
		if given[name] {
			return nil, d.errorAt(at, "key "+quote(name)+" is repeated")
		}
		read := find(fields, name)
		if read == nil && !unknown {
			return nil, d.errorAt(at, "unknown key "+quote(name))
		}
		if read == nil {
			if err := d.skip(); err != nil {
				return nil, err
			}
			continue
		}
		given[name] = true
		step := name
		if len(d.path) > 0 {
			step = "." + name
		}
		d.enter(step)
		if err := read(); err != nil {
			return nil, err
		}
		d.leave()
	}
	for _, f := range fields {
		if !f.optional && !given[f.name] {
			return nil, d.errorAt(start, "key "+quote(f.name)+" is absent")
		}
	}
	_, err := d.token()
	return given, err
}

func find(fields []field, name string) func() error {
	for _, f := range fields {
		if f.name == name {
			return f.read
		}
	}
	return nil
}

// array calls read for each element.
func (d *jsonReader) array(read func() error) error {
	if err := d.open('[', "a list"); err != nil {
		return err
	}
	for i := 0; d.dec.More(); i++ {
		d.enter("[" + strconv.Itoa(i) + "]")
		if err := read(); err != nil {
			return err
		}
		d.leave()
	}
	_, err := d.token()
	return err
}

// token returns the next token; the syntax was checked before.
func (d *jsonReader) token() (json.Token, error) {
	at := d.position()
	t, err := d.dec.Token()
	if err != nil {
		return nil, d.errorAt(at, "is not JSON")
	}
	return t, nil
}

func (d *jsonReader) open(delim json.Delim, what string) error {
	at := d.position()
	t, err := d.token()
	if err == nil && t != delim {
		err = d.errorAt(at, "must be "+what)
	}
	return err
}

// skip passes over one value, however deep.
func (d *jsonReader) skip() error {
	for depth := 0; ; {
		t, err := d.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// null consumes the next value if it is null.
func (d *jsonReader) null() (bool, error) {
	if at := d.position(); at >= len(d.data) || d.data[at] != 'n' {
		return false, nil
	}
	_, err := d.token()
	return true, err
}

func (d *jsonReader) text() (string, error) {
	at := d.position()
	t, err := d.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", d.errorAt(at, "must be a string")
	}
	return s, nil
}

func (d *jsonReader) ignoreText() error {
	_, err := d.text()
	return err
}

func (d *jsonReader) textInto(s *string) func() error {
	return func() (err error) {
		*s, err = d.text()
		return err
	}
}

func (d *jsonReader) oneOf(s *string, allowed ...string) error {
	at := d.position()
	text, err := d.text()
	if err != nil {
		return err
	}
	for _, a := range allowed {
		if text == a {
			*s = text
			return nil
		}
	}
	return d.errorAt(at, fmt.Sprintf("is %s, must be %s", quote(text), strings.Join(allowed, " or ")))
}

func (d *jsonReader) numberInto(v *float64) func() error {
	return func() error {
		at := d.position()
		t, err := d.token()
		if err != nil {
			return err
		}
		n, ok := t.(json.Number)
		if !ok {
			return d.errorAt(at, "must be a number")
		}
		if *v, err = strconv.ParseFloat(string(n), 64); err != nil {
			return d.errorAt(at, "must be a number within the range of float64")
		}
		return nil
	}
}

func (d *jsonReader) booleanInto(b *bool) func() error {
	return func() error {
		at := d.position()
		t, err := d.token()
		if err != nil {
			return err
		}
		value, ok := t.(bool)
		if !ok {
			return d.errorAt(at, "must be true or false")
		}
		*b = value
		return nil
	}
}
