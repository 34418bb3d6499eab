package serve

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// A spool stores a body in reusable blocks of memory, which do not move when the body grows.
type spool struct {
	blocks []*[blockSize]byte
	size   int64
}

const blockSize = 1 << 14

var freeBlocks = sync.Pool{New: func() any {
	return new([blockSize]byte)
}}

// readBuffer returns the free part of the last block. If it is full, it adds a block from the memory budget.
func (s *spool) readBuffer(e *exchange) ([]byte, error) {
	if s.size == int64(len(s.blocks))*blockSize {
		if err := e.takeMemory(blockSize); err != nil {
			return nil, err
		}
		s.blocks = append(s.blocks, freeBlocks.Get().(*[blockSize]byte))
	}
	return s.blocks[len(s.blocks)-1][s.size%blockSize:], nil
}

// addBytes counts bytes written to the read buffer.
func (s *spool) addBytes(n int) {
	s.size += int64(n)
}

// release returns the blocks to the memory budget.
func (s *spool) release() {
	for _, b := range s.blocks {
		freeBlocks.Put(b)
	}
	*s = spool{}
}

// bytesFrom returns the bytes from an offset to the end of its block, or an empty slice at the end of the spool.
func (s *spool) bytesFrom(at int64) []byte {
	if at >= s.size {
		return nil
	}
	k := at / blockSize
	return s.blocks[k][at%blockSize : min(blockSize, s.size-k*blockSize)]
}

// lineAndColumn returns the line and the column, both from 1, of the byte at an offset.
func (s *spool) lineAndColumn(offset int64) (line, column int) {
	line = 1
	start := int64(0)
	for at := int64(0); at < offset; {
		text := s.bytesFrom(at)
		text = text[:min(int64(len(text)), offset-at)]
		if len(text) == 0 {
			break
		}
		if k := bytes.IndexByte(text, '\n'); k >= 0 {
			line++
			at += int64(k) + 1
			start = at
			continue
		}
		at += int64(len(text))
	}
	return line, int(offset-start) + 1
}

// An envelope splits a body {"records": [...]} into its records. It splits by brackets alone and does not check that
// records are valid JSON.
type envelope struct {
	body   *spool
	most   int // maximum bytes of a record
	offset int64
	block  []byte // starts at offset
	record []byte
	start  int64 // offset of the last record
	count  int
	inside bool // the list has started
}

func newEnvelope(body *spool, most int) *envelope {
	return &envelope{body: body, most: most}
}

// bytesConsumed returns the number of bytes read.
func (v *envelope) bytesConsumed() int64 {
	return v.offset
}

// peek returns the next byte; ok is false at the end of the body.
func (v *envelope) peek() (c byte, ok bool) {
	if len(v.block) == 0 {
		if v.block = v.body.bytesFrom(v.offset); len(v.block) == 0 {
			return 0, false
		}
	}
	return v.block[0], true
}

func (v *envelope) skipBytes(n int) {
	v.block = v.block[n:]
	v.offset += int64(n)
}

// nextToken skips white space and returns the next byte without consuming it, or 0 at the end.
func (v *envelope) nextToken() byte {
	for {
		c, ok := v.peek()
		if !ok {
			return 0
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
		v.skipBytes(1)
	}
}

// expectByte consumes the next byte, which must be want.
func (v *envelope) expectByte(want byte) *problem {
	if v.nextToken() != want {
		return v.syntaxProblem("unexpected JSON value")
	}
	v.skipBytes(1)
	return nil
}

// syntaxProblem returns a problem for the current position.
func (v *envelope) syntaxProblem(what string) *problem {
	p := &problem{Status: http.StatusBadRequest}
	p.Line, p.Column = v.body.lineAndColumn(v.offset)
	p.Message = withPosition(p.Line, p.Column,
		what+`; the body must be {"records": [{"column": cell, ...}, ...]}`)
	return p
}

// readPrefix skips the text before the first record.
func (v *envelope) readPrefix() *problem {
	mark := []byte("\uFEFF")
	if bytes.HasPrefix(v.body.bytesFrom(0), mark) {
		v.peek()
		v.skipBytes(len(mark))
	}
	if p := v.expectByte('{'); p != nil {
		return p
	}
	const name = `"records"`
	v.nextToken()
	for i := range len(name) {
		if c, ok := v.peek(); !ok || c != name[i] {
			return v.syntaxProblem("the only key must be records")
		}
		v.skipBytes(1)
	}
	if p := v.expectByte(':'); p != nil {
		return p
	}
	return v.expectByte('[')
}

// nextRecord returns the text of the next record, valid until the next call; nil after the last one.
func (v *envelope) nextRecord() ([]byte, *problem) {
	if !v.inside {
		v.inside = true
		if p := v.readPrefix(); p != nil {
			return nil, p
		}
		if v.nextToken() == ']' {
			return nil, v.readSuffix()
		}
		return v.readObject()
	}
	switch v.nextToken() {
	case ',':
		v.skipBytes(1)
		v.nextToken()
		return v.readObject()
	case ']':
		return nil, v.readSuffix()
	case 0:
		return nil, v.syntaxProblem("the list of records is not closed")
	}
	return nil, v.syntaxProblem("a comma is missing between two records")
}

// readSuffix skips the text after the last record.
func (v *envelope) readSuffix() *problem {
	v.skipBytes(1)
	if p := v.expectByte('}'); p != nil {
		return p
	}
	if v.nextToken() != 0 || v.offset < v.body.size {
		return v.syntaxProblem("there is extra text after the object")
	}
	return nil
}

// readObject returns the object that comes next.
func (v *envelope) readObject() ([]byte, *problem) {
	v.start = v.offset
	v.count++
	if c, ok := v.peek(); !ok || c != '{' {
		return nil, v.syntaxProblem("a record must be a JSON object")
	}
	v.record = v.record[:0]
	depth := 0
	quoted := false
	escaped := false
	for {
		if _, ok := v.peek(); !ok {
			return nil, v.syntaxProblem("the last record is not closed")
		}
		n := 0
		for n < len(v.block) {
			c := v.block[n]
			n++
			switch {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			}
			if depth == 0 {
				break
			}
		}
		if len(v.record)+n > v.most {
			p := v.syntaxProblem("a record is longer than " + bytesText(int64(v.most)))
			p.Status = http.StatusRequestEntityTooLarge
			p.Record = v.count
			return nil, p
		}
		v.record = append(v.record, v.block[:n]...)
		v.skipBytes(n)
		if depth == 0 {
			break
		}
	}
	return v.record, nil
}

// recordLines reads the records of a checked body as JSON Lines.
type recordLines struct {
	envelope *envelope
	todo     []byte
	line     []byte
	ended    bool
}

// Read implements io.Reader. It reads as many records as fit.
func (r *recordLines) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(r.todo) == 0 {
			if r.ended {
				break
			}
			text, problem := r.envelope.nextRecord()
			if r.ended = text == nil || problem != nil; r.ended {
				break
			}
			for i, c := range text { // a line break within a text would have been refused
				if c == '\n' || c == '\r' {
					text[i] = ' '
				}
			}
			r.line = append(append(r.line[:0], text...), '\n')
			r.todo = r.line
		}
		k := copy(p[n:], r.todo)
		r.todo = r.todo[k:]
		n += k
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
