package dataset

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// class is the outcome of parsing a cell.
type class = cell.Class

const (
	good        = cell.Good
	missing     = cell.Missing
	unparseable = cell.Unparseable
	nonfinite   = cell.Nonfinite
	unlisted    = cell.Unlisted
)

// namer turns the names of privacy units into identities.
type namer struct {
	buf []byte // the key, and a name after it
	key int    // bytes of the key
}

func newNamer(key [secret.KeySize]byte) *namer {
	return &namer{buf: key[:], key: len(key)}
}

// unitID turns the text that names a privacy unit into its identity, the first 64
// bits of the SHA-256 of a secret key of the process and the text, and a missing cell into
// NoUnit. Blanks around the text, its Unicode form and decimals that are zeros do not matter: a person must not
// become two because another program wrote a part of the table. Two of n units share an identity with odds below n²/2^65, whatever their names are:
// the key is drawn after the table was made, and tells nobody which names meet. They then
// count as one unit, and each has the protection of a group of two.
func (n *namer) unitID(text string) uint64 {
	text = cell.Normal(text)
	if cell.MissingWord(text) {
		return NoUnit
	}
	if whole := cell.WholeNumber(text, 0); whole != "" {
		text = whole
	}
	n.buf = append(n.buf[:n.key], text...)
	sum := sha256.Sum256(n.buf)
	return min(binary.LittleEndian.Uint64(sum[:]), NoUnit-1)
}

// column reads the cells of one declared column.
type column struct {
	kind    Kind
	missing float64     // numeric: what a cell without a value becomes
	unread  float64     // numeric: what a cell with text and no number becomes
	names   *cell.Names // category: the declared ones
	absent  int32       // category: the code of a missing cell, unless a category has the empty name
	words   *words      // of a column whose text categories are found, else nil
}

// newColumns prepares the columns of a schema for reading. decimal is the decimal mark of the table; 0 for a point.
func newColumns(s Schema, decimal byte) []column {
	out := make([]column, len(s.Columns))
	lists := wordsOf(s)
	for j := range s.Columns {
		c := &s.Columns[j]
		out[j] = column{kind: c.Kind, words: lists[j]}
		if c.Kind == Numeric {
			out[j].missing, out[j].unread = c.missing(), c.unread()
		} else {
			out[j].names, out[j].absent = cell.NewNames(c.Categories, c.text(), decimal), c.MissingCode()
		}
	}
	return out
}

// parseCategory reads a category cell. A declared name is taken literally, even if it
// reads like a word for missing.
func (c *column) parseCategory(text string) (int32, class) {
	code, what := c.names.Find(text)
	if what == missing && code == c.names.Others() {
		code = c.absent
	}
	return code, what
}

// countClass counts a cell that was not good.
func (s *ColumnStats) countClass(what class) {
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
