// Package cell defines the meaning of a cell of a table: the number, category or date of its text, or that it
// has no value. Training, prediction from every source and exported programs share this one definition, because
// the meaning of a cell determines the contribution of its record to a private sum.
//
// A value that comes with a type of its own, such as a number of JSON or a boolean of Arrow, is read as the
// text that value.go defines for it.
package cell

import (
	"math"
	"strconv"
	"strings"
)

// A Class is the outcome of reading a cell.
type Class uint8

// The classes.
const (
	Good        Class = iota
	Missing           // empty, or a marker of a missing value
	Unparseable       // not a number
	Nonfinite         // an infinity, or too large for float64
	Unlisted          // an undeclared category
)

// Number reads a plain number: its value if the class is [Good], else 0. A plain number is any text that
// strconv.ParseFloat accepts, without hexadecimal digits and underscores. The words true and false, in any
// case, are 1 and 0, since typed tables write their booleans this way. Number accepts any text.
func Number(text string) (float64, Class) {
	text = Trim(text)
	if MissingWord(text) {
		return 0, Missing
	}
	if strings.ContainsAny(text, "xX_") { // hexadecimal, digit separators
		return 0, Unparseable
	}
	if len(text) > LongNumber && strings.Trim(text, NumberBytes) != "" {
		return 0, Unparseable // as ParseFloat would report, after copying the text
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(v, 0): // written out, or out of range
		return 0, Nonfinite
	case err == nil:
		return Classify(v)
	}
	switch BooleanWord(text) {
	case "true":
		return 1, Good
	case "false":
		return 0, Good
	}
	return 0, Unparseable
}

// LongNumber is the length above which the bytes of a cell are checked before it is parsed, and NumberBytes are
// the bytes that such a long number may contain.
const (
	LongNumber  = 1 << 12
	NumberBytes = "0123456789+-.eE"
)

// Classify classifies a number stored as a number, as [Number] does for text.
func Classify(v float64) (float64, Class) {
	switch {
	case math.IsNaN(v):
		return 0, Missing
	case math.IsInf(v, 0):
		return 0, Nonfinite
	}
	return v, Good
}
