package dataset

import (
	"context"
	"io"
)

// readCSV reads a CSV file from the start. at is the same file for reads at an offset, of the given size, or nil.
func (rd *reader) readCSV(
	ctx context.Context,
	r io.Reader,
	at io.ReaderAt,
	size int64,
) (*Table, *Stats, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	src, err := rd.newSource(&stoppable{ctx, r})
	if err != nil {
		return nil, nil, err
	}
	counted := &counter{r: src}
	recs := rd.newRecords(counted)
	head, err := rd.readHeader(recs)
	if err != nil {
		return nil, nil, err
	}
	lay, err := rd.bindColumns(head)
	if err != nil {
		return nil, nil, err
	}
	lines, ok := recs.(*lineRecords)
	var rows slab
	var stats *Stats
	switch {
	case !ok || rd.opts.ForceSlow:
		rows, stats, err = rd.slowRows(ctx, recs, lay)
	case at == nil || rd.format.decode != nil || rd.opts.Format.isCoded() || rd.format.json:
		rows, stats, err = rd.streamRows(ctx, lines.lines.r, lay)
	default:
		start := counted.n - int64(lines.lines.r.Buffered())
		rows, stats, err = rd.fileRows(ctx, at, start, size, lay)
	}
	if err != nil {
		return nil, nil, err
	}
	return rows.newTable(rd.schema, rd.cols), stats, nil
}

// stoppable makes a reader fail when the context ends: skipped data may decompress to a size that would take
// very long to read.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// slowSlabRows is the number of rows that the slow reader allocates at a time.
const slowSlabRows = 4096

// slowRows reads the remaining records one after the other. With [ReadOptions.ForceSlow] it is the reference
// that all other readers are tested against.
func (rd *reader) slowRows(
	ctx context.Context,
	recs records,
	lay layout,
) (slab, *Stats, error) {
	rows := rowSlabs{rd: rd, st: rd.newStore(lay)}
	quoted, fast := recs.(*quotedRecords)
	for {
		var fields []string
		var record []byte
		var err error
		if fast {
			record, err = quoted.nextRaw()
		} else {
			fields, err = recs.next()
		}
		if err == io.EOF {
			break
		}
		var row int
		if err == nil {
			row, err = rows.next(ctx)
		}
		if err != nil {
			return slab{}, nil, err
		}
		if fast {
			rows.st.parseAnyLine(record, row)
		} else {
			rows.st.storeRecord(fields, row)
		}
	}
	all, err := rows.join(ctx)
	return all, rows.st.stats, err
}

// rowSlabs are the slabs of records that are stored one by one.
type rowSlabs struct {
	rd    *reader
	st    *store
	row   int // of the next record in the last slab
	parts []slab
}

// next returns the row for the next record in the slab of the store. The error is that of the
// context, or there are too many records.
func (r *rowSlabs) next(ctx context.Context) (row int, err error) {
	if r.row == r.st.dst.rows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if r.st.stats.Rows > maxRows-slowSlabRows {
			return 0, tooLarge(r.rd.path)
		}
		r.row = 0
		r.st.dst = newSlab(r.rd.cols, r.rd.hasUnit(), slowSlabRows)
		r.parts = append(r.parts, r.st.dst)
	}
	r.row++
	return r.row - 1, nil
}

// join returns all records.
func (r *rowSlabs) join(ctx context.Context) (slab, error) {
	if len(r.parts) == 0 {
		return newSlab(r.rd.cols, r.rd.hasUnit(), 0), nil
	}
	last := len(r.parts) - 1
	r.parts[last] = r.parts[last].subSlab(0, r.row)
	return joinSlabs(ctx, 1, r.rd.cols, r.rd.hasUnit(), r.parts)
}

// stoppableAt is stoppable for a file that is read at offsets.
type stoppableAt struct {
	ctx context.Context
	at  io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (s stoppableAt) ReadAt(p []byte, at int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.at.ReadAt(p, at)
}
