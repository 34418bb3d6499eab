package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/mechanism/secret"
)

// class says what a cell turned out to be.
type class uint8

const (
	good        class = iota
	missing           // empty, or a word for missing
	unparseable       // not a number
	nonfinite         // an infinity, or too large for float64
	unlisted          // a category that is not declared
)

// missingWord reports whether a trimmed cell says that there is no value.
func missingWord(s string) bool {
	switch s {
	case "", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?":
		return true
	}
	return false
}

// longestWord is how many bytes such a word has at most.
const longestWord = 4

// number reads a numeric cell. It is the definition of what a number is; the fast
// reader asks it about every cell it does not recognise at once.
func number(cell string) (float64, class) {
	cell = trim(cell)
	if missingWord(cell) {
		return 0, missing
	}
	if strings.ContainsAny(cell, "xX_") { // hexadecimal, digit separators
		return 0, unparseable
	}
	if len(cell) > longNumber && strings.Trim(cell, numberBytes) != "" {
		return 0, unparseable // as ParseFloat reports, which copies the cell to do so
	}
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case math.IsInf(v, 0): // written out, or out of range
		return 0, nonfinite
	case err != nil:
		return 0, unparseable
	}
	return total(v)
}

// longNumber is the length from which on a cell is looked at before it is parsed, and numberBytes
// is what a number that long is made of.
const (
	longNumber  = 1 << 12
	numberBytes = "0123456789+-.eE"
)

// total classifies a number that came without text.
func total(v float64) (float64, class) {
	switch {
	case math.IsNaN(v):
		return 0, missing
	case math.IsInf(v, 0):
		return 0, nonfinite
	}
	return v, good
}

// namer turns the names of privacy units into identities.
type namer struct {
	buf []byte // the key, and a name after it
	key int    // bytes of the key
}

func newNamer() *namer {
	key := secret.NameKey()
	return &namer{buf: key[:], key: len(key)}
}

// id turns the trimmed text that names a privacy unit into its identity, the first 64
// bits of the SHA-256 of a secret key of the process and the text, and a missing cell into
// NoUnit. Two of n units share an identity with odds below n²/2^65, whatever their names are:
// the key is drawn after the table was made, and tells nobody which names meet. They then
// count as one unit, and each has the protection of a group of two.
func (n *namer) id(text string) uint64 {
	text = trim(text)
	if missingWord(text) {
		return NoUnit
	}
	n.buf = append(n.buf[:n.key], text...)
	sum := sha256.Sum256(n.buf)
	return min(binary.LittleEndian.Uint64(sum[:]), NoUnit-1)
}

// column reads the cells of one declared column.
type column struct {
	kind    Kind
	missing float64          // numeric: what a cell without a value becomes
	codes   map[string]int32 // category
}

// columns prepares the columns of a schema for reading.
func columns(s Schema) []column {
	out := make([]column, len(s.Columns))
	for j := range s.Columns {
		c := &s.Columns[j]
		out[j] = column{kind: c.Kind}
		if c.Kind == Numeric {
			out[j].missing = c.missing()
		} else {
			out[j].codes = c.codes()
		}
	}
	return out
}

// category reads a category cell. A declared name is taken literally, even if it
// reads like a word for missing.
func (c *column) category(cell string) (int32, class) {
	cell = trim(cell)
	if k, ok := c.codes[cell]; ok {
		return k, good
	}
	if missingWord(cell) {
		return int32(len(c.codes)), missing
	}
	return int32(len(c.codes)), unlisted
}

// note counts a cell that was not good.
func (s *ColumnStats) note(what class) {
	switch what {
	case missing:
		s.Missing++
	case unparseable:
		s.Unparseable++
	case nonfinite:
		s.Nonfinite++
	case unlisted:
		s.Unlisted++
	}
}
