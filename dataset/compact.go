package dataset

import (
	"context"
	"sync"

	"github.com/dptrain/dptrain/internal/numeric/decimals"
	"github.com/dptrain/dptrain/internal/sys/largepages"
)

// Numbers with few digits take fewer than eight bytes each in memory. Passes see the same values bit for bit.

const (
	// compactRows is the number of numbers per piece, chosen so that a piece fits the second-level cache.
	compactRows = 1 << 14
	// leastCompact is the minimum number of records of a table with compact columns. Below it, little memory
	// would be saved.
	leastCompact = 1 << 17
	// slabBytes is the maximum size of one allocation.
	slabBytes = 1 << 25
	// sparse is the maximum number of consecutive records per wanted record for which the whole span is
	// unpacked.
	sparse = 16
)

// compact is a numeric column in memory.
type compact struct {
	rows   int
	pieces []compactPiece // of compactRows numbers each; the last piece may have fewer
}

// compactPiece holds consecutive numbers of a column.
type compactPiece struct {
	form  decimals.Form
	data  []byte
	whole []float64 // the numbers as they are, instead of data
}

// compacter makes compact columns, one after the other.
type compacter struct {
	packer decimals.Packer
	piece  []float64 // not stored yet
	form   decimals.Form
	slab   []byte
	slabs  int // bytes of the next slab
	out    *compact
}

// startColumn prepares for the numbers of a new column.
func (c *compacter) startColumn(rows int) {
	if c.piece == nil {
		c.piece = make([]float64, 0, compactRows)
	}
	c.piece = c.piece[:0]
	c.form = decimals.Form{}
	c.out = &compact{pieces: make([]compactPiece, 0, rows/compactRows+1)}
}

// freeSpace returns the unused part of the current piece.
func (c *compacter) freeSpace() []float64 {
	return c.piece[len(c.piece):cap(c.piece)]
}

// commitNumbers appends the first n numbers of freeSpace to the column.
func (c *compacter) commitNumbers(n int) {
	if c.piece = c.piece[:len(c.piece)+n]; len(c.piece) == cap(c.piece) {
		c.storePiece()
	}
}

// storePiece packs the numbers of the current piece.
func (c *compacter) storePiece() {
	most := decimals.MostSize(len(c.piece))
	if len(c.slab) < most {
		c.slab = largepages.Make(max(c.slabs, most))
	}
	form, data := c.packer.Pack(c.slab[:most:most], c.piece, c.form)
	p := compactPiece{form: form, data: data[:len(data):len(data)]}
	if c.form = form; data == nil {
		p.whole = append(make([]float64, 0, len(c.piece)), c.piece...)
	}
	c.slab = c.slab[len(data):]
	c.out.pieces = append(c.out.pieces, p)
	c.out.rows += len(c.piece)
	c.piece = c.piece[:0]
}

// finishColumn returns the column.
func (c *compacter) finishColumn() *compact {
	if len(c.piece) > 0 {
		c.storePiece()
	}
	return c.out
}

// unpackRange sets x to the numbers from row at on.
func (c *compact) unpackRange(x []float64, at int) {
	for len(x) > 0 {
		k := at / compactRows
		from := at - k*compactRows
		of := min(compactRows, c.rows-k*compactRows)
		n := min(len(x), of-from)
		if p := &c.pieces[k]; p.whole != nil {
			copy(x[:n], p.whole[from:])
		} else {
			p.form.UnpackSome(x[:n], p.data, of, from)
		}
		x = x[n:]
		at += n
	}
}

// unpackRows sets x to the numbers in some rows.
func (c *compact) unpackRows(x []float64, rows []int32) {
	for len(rows) > 0 {
		k := int(rows[0]) / compactRows
		base := k * compactRows
		n := 1
		for n < len(rows) && int(rows[n]) < base+compactRows {
			n++
		}
		if p := &c.pieces[k]; p.whole != nil {
			for i, r := range rows[:n] {
				x[i] = p.whole[int(r)-base]
			}
		} else {
			p.form.Gather(x[:n], p.data, min(compactRows, c.rows-base), rows[:n], base)
		}
		x = x[n:]
		rows = rows[n:]
	}
}

// unpackAll returns all numbers of the column.
func (c *compact) unpackAll() []float64 {
	out := make([]float64, c.rows)
	c.unpackRange(out, 0)
	return out
}

// unpackBuffers holds memory for unpacked numbers that are not all needed.
var unpackBuffers = sync.Pool{New: func() any { return new([]float64) }}

// blockRows returns the block's rows of the column, in buf if it has room.
func (c *compact) blockRows(b Block, buf []float64) []float64 {
	buf = resizeBuffer(buf, b.Len())
	if b.view.all {
		c.unpackRange(buf, b.lo)
		return buf
	}
	rows := b.view.rows[b.lo:b.hi]
	if len(rows) == 0 {
		return buf
	}
	first := int(rows[0])
	span := int(rows[len(rows)-1]-rows[0]) + 1
	switch {
	case span == len(rows): // strictly increasing, hence consecutive
		c.unpackRange(buf, first)
	case span > sparse*len(rows):
		c.unpackRows(buf, rows)
	default:
		room := unpackBuffers.Get().(*[]float64)
		defer unpackBuffers.Put(room)
		base := first &^ (maskRows - 1)
		*room = resizeBuffer(*room, first-base+span)
		c.unpackRange(*room, base)
		gatherMaskedFrom(rows, b.view.mask, *room, base, buf)
	}
	return buf
}

// fillCompact reads every cell of a numeric column.
func fillCompact(
	ctx context.Context, t *parquetTable, c *cells[float64], to *compacter,
) (*compact, error) {
	to.startColumn(t.rows)
	if err := eachRead(ctx, t, c, to.freeSpace, func(some []float64) {
		to.commitNumbers(len(some))
	}); err != nil {
		return nil, err
	}
	return to.finishColumn(), nil
}
