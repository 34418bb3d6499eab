package colblock

import (
	"encoding/binary"

	"github.com/dptrain/dptrain/internal/sys/ram"
)

// A Kind is the content of a column.
type Kind uint8

// The kinds of columns.
const (
	Numbers        Kind = iota
	NumbersOrTexts      // numbers that may also represent texts; see [TextNumber]
	Codes               // codes of categories
	TextCodes           // positions in a list of texts; 0 for an unlisted text, -1 for none
	Identities          // identities of privacy units
)

// A Column declares a column of a block.
type Column struct {
	Kind    Kind
	Largest int // code of a column of Codes
}

// NewColumn returns a column of numbers, or of codes up to largest. With texts, cells may be texts
// that are listed in the block.
func NewColumn(numeric, texts bool, largest int) Column {
	switch {
	case numeric && texts:
		return Column{Kind: NumbersOrTexts}
	case numeric:
		return Column{Kind: Numbers}
	case texts:
		return Column{Kind: TextCodes}
	}
	return Column{Kind: Codes, Largest: largest}
}

// Numeric reports whether the cells of a column are numbers.
func (c Column) Numeric() bool {
	return c.Kind == Numbers || c.Kind == NumbersOrTexts
}

// HasTexts reports whether a column has a list of texts.
func (c Column) HasTexts() bool {
	return c.Kind == NumbersOrTexts || c.Kind == TextCodes
}

// Encoding returns the encoding of the cells of a column in [Cells]; for numbers that is [Raw]. It
// depends on the declaration alone.
func (c Column) Encoding() Encoding {
	switch c.Kind {
	case Codes:
		return CodeEncoding(c.Largest)
	case TextCodes:
		return textEncoding
	}
	return Raw
}

// textEncoding is the encoding of positions in a list of texts of any length.
var textEncoding = Encoding{width: 4, digits: codeDigits}

// A Table has the cells that [Cells.SetTable] reads; *dataset.Table implements it.
type Table interface {
	Len() int
	ID(i int) uint64
	Float(j int) []float64
	Labels(j int) []int32
	Words(j int) []string
}

// Cells are the cells of consecutive records, column by column, before they are encoded: those of a
// table, or those of a block that is assembled.
type Cells struct {
	columns []Column
	rows    int
	floats  [][]float64 // of columns of numbers; nil for the others
	coded   [][]byte    // of the others, in the encoding of the column
	own     [][]float64 // copies of numbers of a table
	lists   [][]string  // of the texts of a table
	texts   []*textList // of a block; nil for columns without texts
	release func()      // gives the memory of floats back; nil if it is owned elsewhere
}

// NewTableCells returns cells for [Cells.SetTable].
func NewTableCells(columns []Column) *Cells {
	n := len(columns)
	return &Cells{
		columns: columns,
		floats:  make([][]float64, n),
		coded:   make([][]byte, n),
		own:     make([][]float64, n),
		lists:   make([][]string, n),
	}
}

// NewBlock returns an empty block with space for the given number of records.
func NewBlock(columns []Column, rows int) *Cells {
	n := len(columns)
	c := &Cells{
		columns: columns,
		coded:   make([][]byte, n),
		texts:   make([]*textList, n),
	}
	numeric := func(j int) bool {
		return columns[j].Numeric()
	}
	c.floats, c.release = ram.GetColumns(n, rows, numeric)
	for j, column := range columns {
		if !numeric(j) {
			c.coded[j] = make([]byte, 0, column.Encoding().Size(rows))
		}
		if column.HasTexts() {
			c.texts[j] = newTextList()
		}
	}
	c.Clear()
	return c
}

// Release gives the memory of a block back. The block must not be used any more.
func (c *Cells) Release() {
	c.release()
}

// Rows returns the number of records.
func (c *Cells) Rows() int {
	return c.rows
}

// Clear removes all records and keeps the memory.
func (c *Cells) Clear() {
	c.rows = 0
	for j := range c.columns {
		c.floats[j] = c.floats[j][:0]
		c.coded[j] = c.coded[j][:0]
	}
	for _, t := range c.texts {
		if t != nil {
			t.clear()
		}
	}
}

// SetTable replaces all cells by those of a table. If lasting is false, it copies the numbers,
// since the table may be reused. Identities are the last column if the columns have them.
func (c *Cells) SetTable(t Table, lasting bool) {
	c.Clear()
	c.rows = t.Len()
	for j, column := range c.columns {
		switch {
		case column.Kind == Identities:
			for i := range c.rows {
				c.coded[j] = binary.LittleEndian.AppendUint64(c.coded[j], t.ID(i))
			}
			continue
		case !column.Numeric():
			c.coded[j] = column.Encoding().AppendCodes(c.coded[j], t.Labels(j))
		case lasting:
			c.floats[j] = t.Float(j)
		default:
			c.own[j] = append(c.own[j][:0], t.Float(j)...)
			c.floats[j] = c.own[j]
		}
		if column.HasTexts() {
			c.lists[j] = t.Words(j)
		}
	}
}

// Append appends records from up to but excluding to of the cells of a table. The texts are
// numbered by their first occurrence in the block.
func (c *Cells) Append(o *Cells, from, to int) {
	for j, column := range c.columns {
		if column.Numeric() {
			c.floats[j] = append(c.floats[j], o.floats[j][from:to]...)
		} else {
			width := int(column.Encoding().width)
			c.coded[j] = append(c.coded[j], o.coded[j][from*width:to*width]...)
		}
		if column.HasTexts() && len(o.lists[j]) > 1 {
			c.renumberTexts(j, to-from, o.lists[j])
		}
	}
	c.rows += to - from
}

// renumberTexts converts the texts of the last n records of column j from positions in a list to
// positions in the list of the block.
func (c *Cells) renumberTexts(j, n int, list []string) {
	position := c.texts[j].renumber(list)
	if c.columns[j].Kind == NumbersOrTexts {
		numbers := c.floats[j][len(c.floats[j])-n:]
		for i, x := range numbers {
			if k, ok := NumberText(x); ok {
				numbers[i] = TextNumber(position(k))
			}
		}
		return
	}
	width := int(textEncoding.width)
	codes := c.coded[j][len(c.coded[j])-n*width:]
	var one [1]int32
	for ; len(codes) > 0; codes = codes[width:] {
		textEncoding.DecodeCodes(one[:], codes)
		one[0] = position(one[0])
		textEncoding.AppendCodes(codes[:0], one[:])
	}
}

// Encode encodes column j without its texts into to, which must have space for [MaxSize] of the
// given number of records, at least those of the cells. It returns the encoding. The
// [Encoding.Size] of that many records is filled, with zeros after the last record.
func (c *Cells) Encode(to []byte, j, rows int, with *Encoder) Encoding {
	e := c.columns[j].Encoding()
	var data []byte
	if c.columns[j].Numeric() {
		x := c.floats[j]
		if e, data = with.EncodeNumbers(to, x, Encoding{}); e == Raw {
			PutNumbers(to, x)
			data = to[:Raw.Size(len(x))]
		}
	} else {
		data = to[:copy(to, c.coded[j])]
	}
	clear(to[len(data):e.Size(rows)])
	return e
}

// AppendTexts appends the lists of all columns with texts, one after the other; see [ReadTexts]. It
// returns the number of texts too.
func (c *Cells) AppendTexts(to []byte) (out []byte, texts int) {
	for _, t := range c.texts {
		if t != nil {
			to = appendTexts(to, t.list)
			texts += len(t.list) - 1
		}
	}
	return to, texts
}
