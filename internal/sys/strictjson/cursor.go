package strictjson

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// A cursor moves over a document whose syntax was checked.
type cursor struct {
	data   []byte
	offset int
}

// nextByte moves to the next value, key or closing delimiter and returns its first byte.
func (c *cursor) nextByte() byte {
	for {
		switch b := c.data[c.offset]; b {
		case ' ', '\t', '\r', '\n', ':', ',':
			c.offset++
		default:
			return b
		}
	}
}

// problemHere returns an error at the position of the cursor.
func (c *cursor) problemHere(what string) *Error {
	return newProblem(c.data, c.offset, what)
}

// readObject calls read for each member of an object, with its key and the offset of the key. read must consume the
// value; its first error ends the iteration.
func (c *cursor) readObject(read func(key string, at int) *Error) *Error {
	if c.nextByte() != '{' {
		return c.problemHere("must be an object")
	}
	for c.offset++; c.nextByte() != '}'; {
		at := c.offset
		key := c.readText()
		c.nextByte()
		if err := read(key, at); err != nil {
			return err
		}
	}
	c.offset++
	return nil
}

// readList calls read for each element of a list. It iterates as object does.
func (c *cursor) readList(read func(i int) *Error) *Error {
	if c.nextByte() != '[' {
		return c.problemHere("must be a list")
	}
	c.offset++
	for i := 0; c.nextByte() != ']'; i++ {
		if err := read(i); err != nil {
			return err
		}
	}
	c.offset++
	return nil
}

// readText consumes a string and returns its value.
func (c *cursor) readText() string {
	start := c.offset
	escaped := false
	for c.offset++; c.data[c.offset] != '"'; c.offset++ {
		if c.data[c.offset] == '\\' {
			escaped = true
			c.offset++
		}
	}
	c.offset++
	if !escaped {
		return string(c.data[start+1 : c.offset-1])
	}
	var s string
	_ = json.Unmarshal(c.data[start:c.offset], &s) // the syntax was checked
	return s
}

// readLiteral consumes and returns a number, true, false or null. It returns an empty slice for any other value.
func (c *cursor) readLiteral() []byte {
	end := bytes.IndexAny(c.data[c.offset:], " \t\r\n,]}\"[{")
	if end < 0 {
		end = len(c.data) - c.offset
	}
	c.offset += end
	return c.data[c.offset-end : c.offset]
}

// readNumber consumes a number and returns its value.
func (c *cursor) readNumber() (float64, *Error) {
	if b := c.nextByte(); b != '-' && (b < '0' || b > '9') {
		return 0, c.problemHere("must be a number")
	}
	at := c.offset
	v, err := strconv.ParseFloat(string(c.readLiteral()), 64)
	if err != nil {
		return 0, newProblem(c.data, at, "must be a number within the range of float64")
	}
	return v, nil
}

// skipValue consumes one value of any depth.
func (c *cursor) skipValue() {
	for depth := 0; ; {
		switch c.nextByte() {
		case '{', '[':
			depth++
			c.offset++
		case '}', ']':
			depth--
			c.offset++
		case '"':
			c.readText()
		default:
			c.readLiteral()
		}
		if depth == 0 {
			return
		}
	}
}

// stopOrSkip ends the iteration of object or list if stop is true, and skips a value otherwise.
func (c *cursor) stopOrSkip(stop bool) *Error {
	if stop {
		return &Error{}
	}
	c.skipValue()
	return nil
}
