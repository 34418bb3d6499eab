package cell

import (
	"math"
	"strconv"
	"strings"
)

// AppendCell appends a text to a line of comma-separated cells. It stands in quotes where it has to, and an end of a line
// within it becomes a blank.
func AppendCell(line []byte, text string) []byte {
	if !strings.ContainsAny(text, "\",\r\n") {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, quoted.Replace(text)...)
	return append(line, '"')
}

// quoted makes text within quotes of a single line.
var quoted = strings.NewReplacer(`"`, `""`, "\r\n", " ", "\n", " ", "\r", " ")

// exactWhole is the first whole number after which a float64 has gaps.
const exactWhole = 1 << 53

// AppendFloat writes a number of so many bits. Whole numbers below 2^53 have no exponent, as integers are
// written: pandas turns a column of integers into one of floats where a single record has none,
// and the text of the others must stay what it was.
func AppendFloat(b []byte, x float64, bits int) []byte {
	if x == math.Trunc(x) && math.Abs(x) < exactWhole {
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, bits)
}
