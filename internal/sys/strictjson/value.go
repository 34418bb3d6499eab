package strictjson

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Value is a value of a document that [Parse] has checked. A field of this type defers decoding.
type Value struct {
	doc []byte
	at  int
}

// Parse checks that data is one JSON document in UTF-8. The error is an [*Error].
func Parse(data []byte) (Value, error) {
	if !utf8.Valid(data) {
		return Value{}, newProblem(data, invalidAt(data), "is not valid UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		at := len(data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset > 0 {
			at = int(syntax.Offset) - 1 // Offset counts the offending byte
		}
		return Value{}, newProblem(data, at, "is not JSON: "+err.Error())
	}
	return Value{doc: data}, nil
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// Decode reads an object into the struct that into points to, using the keys of the given format version. The error is
// an [*Error] whose path is relative to v.
func (v Value) Decode(into any, version string) error {
	d := decoder{
		cursor: cursor{v.doc, v.at},
		schema: newSchema(version),
	}
	if err := d.decodeValue(reflect.ValueOf(into).Elem(), false); err != nil {
		return err
	}
	return nil
}

// Text returns the string member named key of an object. The error is an [*Error].
func (v Value) Text(key string) (string, error) {
	c := cursor{v.doc, v.at}
	if c.nextByte() != '{' {
		return "", c.problemHere("must be an object")
	}
	inner, ok := v.childValue(key)
	if !ok {
		return "", c.problemHere("key " + Quote(key) + " is absent")
	}
	c = cursor{inner.doc, inner.at}
	if c.nextByte() != '"' {
		return "", c.problemHere("must be a string").InValue(key)
	}
	return c.readText(), nil
}

// Problem returns an error for the value at a path such as "terms[3].coefficient". Its position is that of the
// innermost value on the path that exists in the document.
func (v Value) Problem(path, what string) *Error {
	at := v
	for rest := path; rest != ""; {
		rest = strings.TrimPrefix(rest, ".")
		end := len(rest)
		if i := strings.IndexAny(rest[1:], ".["); i >= 0 {
			end = i + 1
		}
		inner, ok := at.childValue(rest[:end])
		if !ok {
			break
		}
		at = inner
		rest = rest[end:]
	}
	c := cursor{at.doc, at.at}
	c.nextByte()
	return c.problemHere(what).InValue(path)
}

// childValue returns the member of v named step, or the element for a step such as "[3]".
func (v Value) childValue(step string) (Value, bool) {
	c := cursor{v.doc, v.at}
	if number, ok := strings.CutPrefix(step, "["); ok {
		i, err := strconv.Atoi(strings.TrimSuffix(number, "]"))
		found := err == nil && c.nextByte() == '[' && c.readList(func(k int) *Error {
			return c.stopOrSkip(k == i)
		}) != nil
		return Value{v.doc, c.offset}, found
	}
	found := c.nextByte() == '{' && c.readObject(func(key string, _ int) *Error {
		return c.stopOrSkip(key == step)
	}) != nil
	return Value{v.doc, c.offset}, found
}
