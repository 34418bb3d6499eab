package strictjson

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// An Error says where and why a file is refused.
type Error struct {
	Line, Column int    // 1-based; Column counts bytes
	Path         string // such as "terms[3].coefficient"; empty for the document
	Problem      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What())
}

// What returns the path and the problem.
func (e *Error) What() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// problem returns the error about the value or key at an offset, with an empty path.
func problem(data []byte, offset int, what string) *Error {
	before := data[:min(offset, len(data))]
	return &Error{
		Line:    1 + bytes.Count(before, []byte{'\n'}),
		Column:  len(before) - bytes.LastIndexByte(before, '\n'),
		Problem: what,
	}
}

// In puts the path of a part before the path of an error about the part; nil stays nil.
func (e *Error) In(path string) *Error {
	switch {
	case e == nil:
	case e.Path == "" || e.Path[0] == '[':
		e.Path = path + e.Path
	default:
		e.Path = path + "." + e.Path
	}
	return e
}

// inElement puts an element of a list before the path of an error; nil stays nil.
func (e *Error) inElement(i int) *Error {
	if e == nil {
		return nil
	}
	return e.In("[" + strconv.Itoa(i) + "]")
}

// Quote quotes text of a file for a message, shortened.
func Quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.Quote(s)
}
