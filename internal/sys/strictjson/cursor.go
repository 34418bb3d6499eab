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

// next moves to the next value, key or closing delimiter and returns its first byte.
func (c *cursor) next() byte {
	for {
		switch b := c.data[c.offset]; b {
		case ' ', '\t', '\r', '\n', ':', ',':
			c.offset++
		default:
			return b
		}
	}
}

// problem returns an error at the position of the cursor.
func (c *cursor) problem(what string) *Error { return problem(c.data, c.offset, what) }

// object calls read for each member of an object, with its key and the offset of the key. read must consume the value;
// its first error ends the iteration.
func (c *cursor) object(read func(key string, at int) *Error) *Error {
	if c.next() != '{' {
		return c.problem("must be an object")
	}
	for c.offset++; c.next() != '}'; {
		at := c.offset
		key := c.text()
		c.next()
		if err := read(key, at); err != nil {
			return err
		}
	}
	c.offset++
	return nil
}

// list calls read for each element of a list. It iterates as object does.
func (c *cursor) list(read func(i int) *Error) *Error {
	if c.next() != '[' {
		return c.problem("must be a list")
	}
	c.offset++
	for i := 0; c.next() != ']'; i++ {
		if err := read(i); err != nil {
			return err
		}
	}
	c.offset++
	return nil
}

// text consumes a string and returns its value.
func (c *cursor) text() string {
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
	_ = json.Unmarshal(c.data[start:c.offset], &s) // it was checked
	return s
}

// literal consumes and returns a number, true, false or null. It returns an empty slice for any other value.
func (c *cursor) literal() []byte {
	end := bytes.IndexAny(c.data[c.offset:], " \t\r\n,]}\"[{")
	if end < 0 {
		end = len(c.data) - c.offset
	}
	c.offset += end
	return c.data[c.offset-end : c.offset]
}

// number consumes a number and returns its value.
func (c *cursor) number() (float64, *Error) {
	if b := c.next(); b != '-' && (b < '0' || b > '9') {
		return 0, c.problem("must be a number")
	}
	at := c.offset
	v, err := strconv.ParseFloat(string(c.literal()), 64)
	if err != nil {
		return 0, problem(c.data, at, "must be a number within the range of float64")
	}
	return v, nil
}

// skip consumes one value of any depth.
func (c *cursor) skip() {
	for depth := 0; ; {
		switch c.next() {
		case '{', '[':
			depth++
			c.offset++
		case '}', ']':
			depth--
			c.offset++
		case '"':
			c.text()
		default:
			c.literal()
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
	c.skip()
	return nil
}
