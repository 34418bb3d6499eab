package stream

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Limits for dealing records to buckets.
const (
	groupBytes = 1 << 26 // of the records of a group of buckets, unless a single bucket has more
	dealBytes  = 1 << 25 // of records in memory that are not written yet
	dealtRows  = 1 << 10 // records that are dealt at a time
	dealLeast  = 1 << 6  // records that are written at a time, at least
)

// bucketDealer deals records to groups of consecutive buckets, in the scratch file. It keeps the order of the table.
type bucketDealer struct {
	file   *scratch.File
	schema dataset.Schema
	coins  mechanism.Coins
	m      int // buckets
	groups []dealtGroup
	bytes  int // of a record
	full   int // bytes of a block
	buffer []byte
}

// dealtGroup contains the records of a group of buckets, one after the other. A record is its identity in 8 bytes,
// followed by its cells: these are rows, not columns, since each record goes to a group of its own.
type dealtGroup struct {
	cells  []byte // of the last block, which is not written yet
	rows   int    // of all blocks
	blocks []scratch.Place
}

// Buckets implements [mechanism.Capabilities.Buckets]. One pass deals the records to groups; then one group after
// the other is read.
func (e *Engine) Buckets(
	ctx context.Context,
	p mechanism.Part,
	coins mechanism.Coins,
	m int,
	each mechanism.Buckets,
) error {
	return e.bucketsIn(ctx, p, coins, m, groupBytes, each)
}

// bucketsIn is Buckets with groups of the given number of bytes.
func (e *Engine) bucketsIn(
	ctx context.Context,
	p mechanism.Part,
	coins mechanism.Coins,
	m int,
	most int64,
	each mechanism.Buckets,
) error {
	d := &bucketDealer{
		file:   e.file,
		schema: p.Schema(e.schema),
		coins:  coins,
		m:      m,
		bytes:  8,
	}
	for _, c := range d.schema.Columns {
		d.bytes += dealtWidth(c)
	}
	groups := int(min(int64(e.Rows())*int64(d.bytes)/most+1, int64(m)))
	d.groups = make([]dealtGroup, groups)
	d.full = max(dealBytes/(groups*d.bytes), dealLeast) * d.bytes
	defer d.releaseAll()
	r := e.acquireReader()
	for i := range e.chunks {
		v, err := r.readPart(ctx, p, i)
		if err != nil {
			return err
		}
		if err := d.dealRecords(ctx, v); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
	}
	for g := range d.groups {
		if err := d.writeBlock(&d.groups[g]); err != nil {
			return err
		}
		d.groups[g].cells = nil
	}
	for g := range d.groups {
		v, err := d.readGroup(g)
		if err != nil {
			return err
		}
		parts, err := coins.Split(ctx, v, m, d.firstBucket(g), d.firstBucket(g+1))
		if err != nil {
			return err
		}
		if err := each(d.firstBucket(g), parts); err != nil {
			return err
		}
	}
	return nil
}

// dealtWidth returns the number of bytes of a cell: 8 for a number, 4 for the code of a category.
func dealtWidth(c dataset.Column) int {
	if c.Kind == dataset.Numeric {
		return 8
	}
	return 4
}

// firstBucket returns the first bucket of group g. The groups divide the buckets evenly.
func (d *bucketDealer) firstBucket(g int) int {
	return int(int64(g) * int64(d.m) / int64(len(d.groups)))
}

// groupOf returns the group of a bucket.
func (d *bucketDealer) groupOf(bucket int) *dealtGroup {
	return &d.groups[((int64(bucket)+1)*int64(len(d.groups))-1)/int64(d.m)]
}

// dealRecords deals the records of a view.
func (d *bucketDealer) dealRecords(ctx context.Context, v dataset.View) error {
	floats := make([][]float64, len(d.schema.Columns))
	codes := make([][]int32, len(d.schema.Columns))
	for at := 0; at < v.Len(); at += dealtRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := v.Block(at, min(at+dealtRows, v.Len()))
		for j, c := range d.schema.Columns {
			if c.Kind == dataset.Numeric {
				floats[j] = b.Float(j, floats[j])
			} else {
				codes[j] = b.Codes(j, codes[j])
			}
		}
		for k := range b.Len() {
			g := d.groupOf(d.coins.Uniform(b.ID(k), d.m))
			to := binary.LittleEndian.AppendUint64(g.cells, b.ID(k))
			for j, c := range d.schema.Columns {
				if c.Kind == dataset.Numeric {
					to = binary.LittleEndian.AppendUint64(to, math.Float64bits(floats[j][k]))
				} else {
					to = binary.LittleEndian.AppendUint32(to, uint32(codes[j][k]))
				}
			}
			g.cells = to
			g.rows++
			if len(g.cells) >= d.full {
				if err := d.writeBlock(g); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writeBlock writes the last block of a group, padded to the length of all blocks.
func (d *bucketDealer) writeBlock(g *dealtGroup) error {
	if len(g.cells) == 0 {
		return nil
	}
	g.cells = append(g.cells, make([]byte, d.full-len(g.cells))...)
	place := d.file.Reserve(d.full)
	var err error
	d.buffer, err = d.file.Write(&place, g.cells, d.buffer)
	g.blocks = append(g.blocks, place)
	g.cells = g.cells[:0]
	return err
}

// readGroup returns the records of group g and releases their places.
func (d *bucketDealer) readGroup(g int) (dataset.View, error) {
	x := &d.groups[g]
	ids := make([]uint64, 0, x.rows)
	columns := make([]dataset.ColumnData, len(d.schema.Columns))
	for j, c := range d.schema.Columns {
		if c.Kind == dataset.Numeric {
			columns[j].Floats = make([]float64, x.rows)
		} else {
			columns[j].Codes = make([]int32, x.rows)
		}
	}
	for _, place := range x.blocks {
		from, err := d.file.Read(place, d.buffer)
		if err != nil {
			return dataset.View{}, err
		}
		d.buffer = from
		for ; len(from) >= d.bytes && len(ids) < x.rows; from = from[d.bytes:] {
			ids = d.appendRecord(from, ids, columns)
		}
		d.file.Release(place)
	}
	x.blocks = nil
	return d.schema.Piece(x.rows, 0, ids, func(j int) dataset.ColumnData {
		return columns[j]
	}).View(), nil
}

// appendRecord appends the record at the start of from.
func (d *bucketDealer) appendRecord(
	from []byte,
	ids []uint64,
	columns []dataset.ColumnData,
) []uint64 {
	i := len(ids)
	ids = append(ids, binary.LittleEndian.Uint64(from))
	from = from[8:]
	for _, c := range columns {
		if c.Floats != nil {
			c.Floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(from))
			from = from[8:]
		} else {
			c.Codes[i] = int32(binary.LittleEndian.Uint32(from))
			from = from[4:]
		}
	}
	return ids
}

// releaseAll releases the places of groups that were not read.
func (d *bucketDealer) releaseAll() {
	for _, g := range d.groups {
		for _, place := range g.blocks {
			d.file.Release(place)
		}
	}
}
