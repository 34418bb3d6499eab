package cell

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Values with a type of their own are read as texts, which this file defines for all sources: a boolean is the
// word true or false, a number is written by AppendFloat, a moment by TimeText, and null, an array and an
// object have no value, so their text is empty.

// exactWhole is the whole number above which not every whole number is a float64.
const exactWhole = 1 << 53

// AppendFloat appends the text of a number: the shortest decimal form that reads back to the same number with
// the given number of bits, with an exponent of at least two digits below 1e-4 and from 1e16 on. A whole number
// below 1e16 has neither a point nor an exponent, as integers are written: pandas converts a column of integers
// to floats if a single record has no value, and the text of the others must not change. Infinities are +Inf
// and -Inf, and a missing number is NaN.
func AppendFloat(b []byte, x float64, bits int) []byte {
	size := math.Abs(x)
	switch {
	case size < exactWhole && x == math.Trunc(x):
		return strconv.AppendInt(b, int64(x), 10)
	case bits == 16:
		return appendHalf(b, x)
	case size >= 1e-4 && size < 1e16:
		return strconv.AppendFloat(b, x, 'f', -1, bits)
	}
	return strconv.AppendFloat(b, x, 'e', -1, bits)
}

// appendHalf is AppendFloat for a number of 16 bits that is not whole.
func appendHalf(b []byte, x float64) []byte {
	const most = 6 // more digits than 16 bits need
	for digits := range most {
		text := strconv.FormatFloat(x, 'e', digits, 64)
		if y, err := strconv.ParseFloat(text, 64); err == nil && nearestHalf(y) == x {
			return AppendFloat(b, y, 64)
		}
	}
	return AppendFloat(b, x, 64)
}

// nearestHalf returns the number of 16 bits that is nearest to x, the even one of two.
func nearestHalf(x float64) float64 {
	const (
		fraction = 10
		smallest = -24 // exponent of the smallest number above 0
	)
	_, exponent := math.Frexp(x)
	unit := math.Ldexp(1, max(exponent-1-fraction, smallest))
	return math.RoundToEven(x/unit) * unit
}

// AppendNumber appends the text of a JSON number. An integer keeps all its digits.
func AppendNumber(b []byte, literal string) []byte {
	if strings.Trim(strings.TrimPrefix(literal, "-"), "0123456789") == "" && literal != "-0" {
		return append(b, literal...)
	}
	v, _ := strconv.ParseFloat(literal, 64) // infinite beyond the range of float64
	return AppendFloat(b, v, 64)
}

// isInfinite reports whether a text represents an infinite number.
func isInfinite(text string) bool {
	return text == "+Inf" || text == "-Inf"
}

// Layouts of package time in which stored moments and times of day are written.
const (
	TimeLayout  = time.DateOnly + " " + ClockLayout
	ClockLayout = "15:04:05.999999999"
)

// TimeText returns the text of a moment by the local clock of its zone.
func TimeText(t time.Time) string {
	return t.Format(TimeLayout)
}
