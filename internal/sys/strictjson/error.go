package strictjson

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// An Error is the position and the reason at which a file is refused.
type Error struct {
	Line, Column int    // 1-based; Column counts bytes
	Path         string // such as "terms[3].coefficient"; empty for the document
	Problem      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.PathAndProblem())
}

// PathAndProblem returns "path: problem", or the problem alone if the path is empty.
func (e *Error) PathAndProblem() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// newProblem returns the error for the value or key at an offset, with an empty path.
func newProblem(data []byte, offset int, what string) *Error {
	before := data[:min(offset, len(data))]
	return &Error{
		Line:    1 + bytes.Count(before, []byte{'\n'}),
		Column:  len(before) - bytes.LastIndexByte(before, '\n'),
		Problem: what,
	}
}

// InValue prefixes the path of e with the path of an enclosing value. It returns nil for nil.
func (e *Error) InValue(path string) *Error {
	switch {
	case e == nil:
	case e.Path == "" || e.Path[0] == '[':
		e.Path = path + e.Path
	default:
		e.Path = path + "." + e.Path
	}
	return e
}

// inElement prefixes the path of e with the list index i. It returns nil for nil.
func (e *Error) inElement(i int) *Error {
	if e == nil {
		return nil
	}
	return e.InValue("[" + strconv.Itoa(i) + "]")
}

// Quote quotes text from a file for a message, shortened to 40 bytes.
func Quote(s string) string {
	const maxBytes = 40
	if len(s) > maxBytes {
		return strconv.Quote(strings.ToValidUTF8(s[:maxBytes], "")) + "..."
	}
	return strconv.Quote(s)
}
