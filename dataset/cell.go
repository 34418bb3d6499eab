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
	buf []byte // the key, followed by a name
	key int    // length of the key
}

func newNamer(key [secret.KeySize]byte) *namer {
	return &namer{buf: key[:], key: len(key)}
}

// unitID returns the identity of a privacy unit: the first 64 bits of the SHA-256 of a secret process key and
// the name of the unit, or NoUnit for a missing cell. Spaces around the name, its Unicode form and trailing
// zero decimals do not matter, so that a person does not become two units because different programs wrote the
// table. Two of n units share an identity with probability below n²/2^65, whatever their names are: the key is
// drawn after the table was made and does not reveal which names collide. Units that collide count as one, and
// each has the protection of a group of two.
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
	missing float64     // numeric: value of a missing cell
	unread  float64     // numeric: value of a cell that contains text but no number
	names   *cell.Names // category: the declared names
	absent  int32       // category: the code of a missing cell, unless a category has the empty name
	words   *words      // for a column whose text categories are found privately, else nil
}

// newColumns prepares the columns of a schema for reading. decimal is the decimal mark of the table; 0 for a point.
func newColumns(s Schema, decimal byte) []column {
	out := make([]column, len(s.Columns))
	lists := wordsOf(s)
	for j := range s.Columns {
		c := &s.Columns[j]
		out[j] = column{kind: c.Kind, words: lists[j]}
		if c.Kind == Numeric {
			out[j].missing, out[j].unread = c.missingValue(), c.unreadableValue()
		} else {
			out[j].names = cell.NewNames(c.Categories, cell.Text(c.TextRule), decimal)
			out[j].absent = c.MissingCode()
		}
	}
	return out
}

// parseCategory parses a category cell. A declared name is matched literally, even if it looks like a marker of
// a missing value.
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
