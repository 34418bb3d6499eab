package dataset

import (
	"context"
	"sync"

	"github.com/dptrain/dptrain/internal/engine/colblock"
)

// Numbers with few digits take fewer than eight bytes each in memory. Passes see the same values bit for bit.

const (
	// leastCompact is the minimum number of records of a table with compact columns. Below it, little memory
	// would be saved.
	leastCompact = 1 << 17
	// slabBytes is the maximum size of one allocation.
	slabBytes = 1 << 25
	// sparse is the maximum number of consecutive records per wanted record for which the whole span is
	// unpacked.
	sparse = 16
)

// unpackBuffers holds memory for unpacked numbers that are not all needed.
var unpackBuffers = sync.Pool{New: func() any {
	return new([]float64)
}}

// compactRows returns the block's rows of a compact column, in buf if it has room.
func compactRows(c *colblock.Packed, b Block, buf []float64) []float64 {
	buf = resizeBuffer(buf, b.Len())
	if b.view.all {
		c.Range(buf, b.lo)
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
		c.Range(buf, first)
	case span > sparse*len(rows):
		c.Gather(buf, rows)
	default:
		room := unpackBuffers.Get().(*[]float64)
		defer unpackBuffers.Put(room)
		base := first &^ (maskRows - 1)
		*room = resizeBuffer(*room, first-base+span)
		c.Range(*room, base)
		gatherMaskedFrom(rows, b.view.mask, *room, base, buf)
	}
	return buf
}

// fillCompact reads every cell of a numeric column.
func fillCompact(
	ctx context.Context,
	t *parquetTable,
	c *cells[float64],
	to *colblock.Packer,
) (*colblock.Packed, error) {
	to.Start(t.rows)
	if err := eachRead(ctx, t, c, to.FreeSpace, func(some []float64) {
		to.Commit(len(some))
	}); err != nil {
		return nil, err
	}
	return to.Finish(), nil
}
