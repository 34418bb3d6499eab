package strictjson

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// A cursor moves over a document that was checked: it knows no syntax error.
type cursor struct {
	data []byte
	at   int
}

// next moves to the next value, key or closing delimiter and returns its first byte.
func (c *cursor) next() byte {
	for {
		switch b := c.data[c.at]; b {
		case ' ', '\t', '\r', '\n', ':', ',':
			c.at++
		default:
			return b
		}
	}
}

// problem returns the error about what the cursor stands at.
func (c *cursor) problem(what string) *Error { return problem(c.data, c.at, what) }

// object calls read for each member of an object, with its key and the offset of
// the key. read passes over the value; an error ends the calls.
func (c *cursor) object(read func(key string, at int) *Error) *Error {
	if c.next() != '{' {
		return c.problem("must be an object")
	}
	for c.at++; c.next() != '}'; {
		at := c.at
		key := c.text()
		c.next()
		if err := read(key, at); err != nil {
			return err
		}
	}
	c.at++
	return nil
}

// list calls read for each element of a list, like object.
func (c *cursor) list(read func(i int) *Error) *Error {
	if c.next() != '[' {
		return c.problem("must be a list")
	}
	c.at++
	for i := 0; c.next() != ']'; i++ {
		if err := read(i); err != nil {
			return err
		}
	}
	c.at++
	return nil
}

// text passes over a string and returns it.
func (c *cursor) text() string {
	start, escaped := c.at, false
	for c.at++; c.data[c.at] != '"'; c.at++ {
		if c.data[c.at] == '\\' {
			escaped = true
			c.at++
		}
	}
	c.at++
	if !escaped {
		return string(c.data[start+1 : c.at-1])
	}
	var s string
	_ = json.Unmarshal(c.data[start:c.at], &s) // it was checked
	return s
}

// literal passes over a number, true, false or null and returns it; anything else gives nothing.
func (c *cursor) literal() []byte {
	end := bytes.IndexAny(c.data[c.at:], " \t\r\n,]}\"[{")
	if end < 0 {
		end = len(c.data) - c.at
	}
	c.at += end
	return c.data[c.at-end : c.at]
}

// number passes over a number and returns its value.
func (c *cursor) number() (float64, *Error) {
	if b := c.next(); b != '-' && (b < '0' || b > '9') {
		return 0, c.problem("must be a number")
	}
	at := c.at
	v, err := strconv.ParseFloat(string(c.literal()), 64)
	if err != nil {
		return 0, problem(c.data, at, "must be a number within the range of float64")
	}
	return v, nil
}

// skip passes over one value, however deep.
func (c *cursor) skip() {
	for depth := 0; ; {
		switch c.next() {
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			depth--
			c.at++
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

// stopOrSkip ends the calls of object and list, or passes over a value.
func (c *cursor) stopOrSkip(stop bool) *Error {
	if stop {
		return &Error{}
	}
	c.skip()
	return nil
}
