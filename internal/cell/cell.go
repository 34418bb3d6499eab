// Package cell says what the text of a cell means: a number, a missing value, or neither. Readers of
// tables, predictions of single records and checks of input share this one definition: what a missing
// cell is decides what a record adds to a private sum.
package cell

import (
	"math"
	"strconv"
	"strings"
)

// A Class says what a cell turned out to be.
type Class uint8

// The classes.
const (
	Good        Class = iota
	Missing           // empty, or a word for missing
	Unparseable       // not a number
	Nonfinite         // an infinity, or too large for float64
	Unlisted          // a category that is not declared
)

// Trim removes the blanks around a cell.
func Trim(s string) string { return strings.Trim(s, " \t") }

// MissingWord reports whether a trimmed cell says that there is no value.
func MissingWord(s string) bool {
	switch s {
	case "", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?":
		return true
	}
	return false
}

// LongestWord is how many bytes such a word has at most.
const LongestWord = 4

// Number reads a numeric cell: its value if the class is [Good], else 0. It is total, and the definition of
// what a number is.
func Number(text string) (float64, Class) {
	text = Trim(text)
	if MissingWord(text) {
		return 0, Missing
	}
	if strings.ContainsAny(text, "xX_") { // hexadecimal, digit separators
		return 0, Unparseable
	}
	if len(text) > LongNumber && strings.Trim(text, NumberBytes) != "" {
		return 0, Unparseable // as ParseFloat reports, which copies the text to do so
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(v, 0): // written out, or out of range
		return 0, Nonfinite
	case err != nil:
		return 0, Unparseable
	}
	return Classify(v)
}

// LongNumber is the length above which a cell is looked at before it is parsed, and NumberBytes
// is what a number that long is made of.
const (
	LongNumber  = 1 << 12
	NumberBytes = "0123456789+-.eE"
)

// Classify reads a number that came without text, like [Number].
func Classify(v float64) (float64, Class) {
	switch {
	case math.IsNaN(v):
		return 0, Missing
	case math.IsInf(v, 0):
		return 0, Nonfinite
	}
	return v, Good
}
