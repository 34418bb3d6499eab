package colblock

import "encoding/binary"

// A field is a column of a block as a message of its own: the three bytes of its encoding, its
// cells, and the list of its texts if it has texts. It depends on the cells only.

// headerBytes is the number of bytes of an encoding.
const headerBytes = 3

// AppendField appends column j as a field.
func (c *Cells) AppendField(to []byte, j int, with *Encoder) []byte {
	column := c.columns[j]
	start := len(to) + headerBytes
	to = append(to, make([]byte, headerBytes+MaxSize(c.rows))...)
	e := c.Encode(to[start:], j, c.rows, with)
	if column.Kind == TextCodes {
		codes := make([]int32, c.rows)
		e.DecodeCodes(codes, to[start:])
		e = CodeEncoding(len(c.texts[j].list) - 1)
		e.AppendCodes(to[:start], codes)
	}
	to[start-3] = e.width
	to[start-2] = e.digits
	to[start-1] = e.class
	to = to[:start+e.Size(c.rows)]
	if column.HasTexts() {
		to = appendTexts(to, c.texts[j].list)
	}
	return to
}

// Values are the cells of a column: Floats, Codes or IDs.
type Values struct {
	Floats []float64
	Codes  []int32
	IDs    []uint64
	Texts  []string // the list of a column with texts; position 0 is no text
}

// ReadField decodes a field with the given number of records. It returns [ErrDamaged] for bytes
// that are not a field of such a column.
func (c Column) ReadField(data []byte, rows int) (out Values, err error) {
	if len(data) < headerBytes {
		return out, ErrDamaged
	}
	e := Encoding{
		width:  data[0],
		digits: data[1],
		class:  data[2],
	}
	data = data[headerBytes:]
	if !c.allows(e) || e.Size(rows) > len(data) {
		return out, ErrDamaged
	}
	switch {
	case c.Numeric():
		out.Floats = make([]float64, rows)
		e.DecodeNumbers(out.Floats, data)
	case c.Kind == Identities:
		out.IDs = make([]uint64, rows)
		for i := range out.IDs {
			out.IDs[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
	default:
		out.Codes = make([]int32, rows)
		e.DecodeCodes(out.Codes, data)
	}
	data = data[e.Size(rows):]
	if c.HasTexts() {
		if out.Texts, data, err = ReadTexts(data); err != nil {
			return out, err
		}
	}
	if len(data) > 0 {
		return out, ErrDamaged
	}
	return out, nil
}

// allows reports whether cells of the column may have an encoding.
func (c Column) allows(e Encoding) bool {
	switch {
	case c.Kind == TextCodes:
		return e == CodeEncoding(codeBytes[0].largest) || e == CodeEncoding(codeBytes[1].largest) ||
			e == textEncoding
	case !c.Numeric() || e == Raw:
		return e == c.Encoding()
	}
	decimals := int(e.digits) < len(powers) && (e.width == 1 || e.width == 2 || e.width == 4)
	singles := e.single() && e.width == 4
	return int(e.class) < len(exceptionClasses) && (decimals || singles)
}
