package colblock

import "github.com/dptrain/dptrain/internal/sys/ram"

// pieceRows is the number of numbers per piece of a packed column, chosen so that a piece fits the
// second-level cache.
const pieceRows = 1 << 14

// Packed is a numeric column in memory whose numbers take the fewest bytes. It is a list of encoded
// pieces, so that any rows can be read without decoding the others. It is safe for concurrent use.
type Packed struct {
	rows   int
	pieces []piece // of pieceRows numbers each; the last piece may have fewer
}

// piece holds consecutive numbers of a column.
type piece struct {
	encoding Encoding
	data     []byte
	whole    []float64 // the numbers as they are, instead of data
}

// A Packer makes packed columns, one after the other.
type Packer struct {
	Slab int // maximum number of bytes of an allocation, unless a piece needs more

	encoder  Encoder
	piece    []float64 // not stored yet
	encoding Encoding
	slab     []byte
	out      *Packed
}

// Start prepares for the numbers of a new column, about the given number.
func (p *Packer) Start(rows int) {
	if p.piece == nil {
		p.piece = make([]float64, 0, pieceRows)
	}
	p.piece = p.piece[:0]
	p.encoding = Encoding{}
	p.out = &Packed{pieces: make([]piece, 0, rows/pieceRows+1)}
}

// FreeSpace returns memory for the next numbers, at least one.
func (p *Packer) FreeSpace() []float64 {
	return p.piece[len(p.piece):cap(p.piece)]
}

// Commit appends the first n numbers of FreeSpace to the column.
func (p *Packer) Commit(n int) {
	if p.piece = p.piece[:len(p.piece)+n]; len(p.piece) == cap(p.piece) {
		p.storePiece()
	}
}

// storePiece encodes the numbers of the current piece.
func (p *Packer) storePiece() {
	most := MaxSize(len(p.piece))
	if len(p.slab) < most {
		p.slab = ram.MakeBytes(max(p.Slab, most))
	}
	e, data := p.encoder.EncodeNumbers(p.slab[:most:most], p.piece, p.encoding)
	out := piece{
		encoding: e,
		data:     data[:len(data):len(data)],
	}
	if p.encoding = e; data == nil {
		out.whole = append(make([]float64, 0, len(p.piece)), p.piece...)
	}
	p.slab = p.slab[len(data):]
	p.out.pieces = append(p.out.pieces, out)
	p.out.rows += len(p.piece)
	p.piece = p.piece[:0]
}

// Finish returns the column.
func (p *Packer) Finish() *Packed {
	if len(p.piece) > 0 {
		p.storePiece()
	}
	return p.out
}

// Bytes returns the number of bytes of all numbers.
func (c *Packed) Bytes() int {
	n := 0
	for _, p := range c.pieces {
		n += len(p.data) + numberBytes*len(p.whole)
	}
	return n
}

// Range sets x to the numbers from row at on.
func (c *Packed) Range(x []float64, at int) {
	for len(x) > 0 {
		k := at / pieceRows
		from := at - k*pieceRows
		of := min(pieceRows, c.rows-k*pieceRows)
		n := min(len(x), of-from)
		if p := &c.pieces[k]; p.whole != nil {
			copy(x[:n], p.whole[from:])
		} else {
			p.encoding.DecodeRange(x[:n], p.data, of, from)
		}
		x = x[n:]
		at += n
	}
}

// Gather sets x to the numbers in some rows, which are increasing.
func (c *Packed) Gather(x []float64, rows []int32) {
	for len(rows) > 0 {
		k := int(rows[0]) / pieceRows
		base := k * pieceRows
		n := 1
		for n < len(rows) && int(rows[n]) < base+pieceRows {
			n++
		}
		if p := &c.pieces[k]; p.whole != nil {
			for i, r := range rows[:n] {
				x[i] = p.whole[int(r)-base]
			}
		} else {
			p.encoding.Gather(
				x[:n],
				p.data,
				min(pieceRows, c.rows-base),
				rows[:n],
				base,
			)
		}
		x = x[n:]
		rows = rows[n:]
	}
}

// Values returns all numbers.
func (c *Packed) Values() []float64 {
	out := make([]float64, c.rows)
	c.Range(out, 0)
	return out
}
