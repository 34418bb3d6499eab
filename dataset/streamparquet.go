package dataset

import (
	"context"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Parquet is streamed with one cursor for each declared column: of each there is a
// page in memory, and a batch.

// parquetSegment is the cells of a batch.
type parquetSegment struct {
	index int
	room  slab // for any batch
	cells slab // the rows of this one
	stats *Stats
	done  int64
}

func (s parquetSegment) place() int { return s.index }

// streamParquet is Stream for Parquet.
func streamParquet[T any](ctx context.Context, rd *reader, f io.ReaderAt, size int64, to Consumer[T]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, names, err := rd.openTable(f, size)
	if err != nil {
		return err
	}
	cursors, err := t.cursors()
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range cursors {
			c.close()
		}
	}()
	if err := to.Begin(Head{Names: names, Size: size}); err != nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	free, out := make(chan slab, rd.opts.workers()+2), make(chan parquetSegment)
	for range cap(free) {
		free <- newSlab(rd.cols, rd.unit(), rd.batchRows())
	}
	return inOrder(ctx, cancel, rd.opts.workers(), out,
		func() error { return t.batches(within, cursors, free, out) },
		func() func(parquetSegment) (T, error) {
			return func(s parquetSegment) (T, error) {
				return to.Work(&Batch{Table: s.cells.table(rd.schema), Stats: s.stats, Done: s.done})
			}
		},
		func(s parquetSegment, result T) error {
			free <- s.room
			return to.Emit(result)
		})
}

// batches sends the rows of all groups to out.
func (t *parquetTable) batches(ctx context.Context, cursors []*parquetCursor, free <-chan slab, out chan<- parquetSegment) error {
	index, read := 0, int64(0)
	for g, group := range t.file.RowGroups() {
		left := group.NumRows()
		if left == 0 {
			continue
		}
		if err := each(ctx, cursors, t.rd.opts, func(c *parquetCursor) error { return c.open(ctx, g, group) }); err != nil {
			return err
		}
		for left > 0 {
			s := parquetSegment{index: index, stats: newStats(t.rd.schema)}
			select {
			case s.room = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			rows := int(min(left, int64(t.rd.batchRows())))
			s.cells = s.room.window(0, rows)
			err := each(ctx, cursors, t.rd.opts, func(c *parquetCursor) error { return c.read(s.cells, s.stats) })
			if err != nil {
				return err
			}
			left -= int64(rows)
			read += int64(rows)
			s.stats.Rows, s.done = rows, int64(float64(t.size)*(float64(read)/float64(t.rows)))
			select {
			case out <- s:
			case <-ctx.Done():
				return ctx.Err()
			}
			index++
		}
		if err := each(ctx, cursors, t.rd.opts, (*parquetCursor).end); err != nil {
			return err
		}
	}
	return nil
}

// each calls do for all cursors, in parallel: each has its own column of the cells
// and of the counts.
func each(ctx context.Context, cursors []*parquetCursor, opts ReadOptions, do func(*parquetCursor) error) error {
	return parallel(ctx, opts.workers(), len(cursors), func(_, k int) error { return do(cursors[k]) })
}

// parquetCursor reads a column from the first row to the last.
type parquetCursor struct {
	t      *parquetTable
	source *parquet.Column
	target int
	conv   *converter
	check  pageCheck
	names  *namer

	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader // of page
	vals   []parquet.Value
}

// cursors returns one for each declared column of the file.
func (t *parquetTable) cursors() (all []*parquetCursor, err error) {
	defer guard(t.rd.path, &err)
	for f, target := range t.lay.targets {
		if target == skipField {
			continue
		}
		source := t.file.Root().Columns()[f]
		conv, ok := converterOf(source)
		if !ok {
			return nil, t.unsupported(source, target)
		}
		check, err := t.pageCheck(source, t.declared(target))
		if err != nil {
			return nil, err
		}
		all = append(all, &parquetCursor{t: t, source: source, target: target, conv: conv, check: check, names: newNamer(), vals: make([]parquet.Value, 1024)})
	}
	return all, nil
}

// open goes to the beginning of a row group.
func (c *parquetCursor) open(ctx context.Context, index int, group parquet.RowGroup) (err error) {
	defer guard(c.t.rd.path, &err)
	meta := &c.t.file.Metadata().RowGroups[index]
	if c.source.Index() >= len(meta.Columns) {
		return damagedParquet(c.t.rd.path)
	}
	if void(c.source) {
		return nil
	}
	if err := c.check.chunk(ctx, &meta.Columns[c.source.Index()].MetaData, meta.NumRows); err != nil {
		return err
	}
	c.pages = group.ColumnChunks()[c.source.Index()].Pages()
	return nil
}

// read fills the column of cells.
func (c *parquetCursor) read(cells slab, stats *Stats) (err error) {
	defer guard(c.t.rd.path, &err)
	if void(c.source) {
		for row := range cells.rows {
			c.set(cells, stats, row, parquet.Value{})
		}
		return nil
	}
	for row := 0; row < cells.rows; {
		n, err := c.next(min(cells.rows-row, len(c.vals)))
		if err != nil {
			return damagedParquet(c.t.rd.path)
		}
		for k, v := range c.vals[:n] {
			c.set(cells, stats, row+k, v)
		}
		row += n
	}
	return nil
}

// end closes the pages of a row group, which must hold no more values.
func (c *parquetCursor) end() (err error) {
	defer guard(c.t.rd.path, &err)
	if void(c.source) {
		return nil
	}
	if _, err := c.next(1); err != io.EOF {
		return damagedParquet(c.t.rd.path)
	}
	return c.pages.Close()
}

// next reads up to n values, at least one, into vals.
func (c *parquetCursor) next(n int) (int, error) {
	for {
		if c.page == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return 0, err
			}
			c.page, c.values = page, page.Values()
		}
		got, err := c.values.ReadValues(c.vals[:n])
		switch {
		case got > 0:
			return got, nil
		case err == io.EOF:
			parquet.Release(c.page)
			c.page = nil
		case err == nil:
			return 0, io.ErrNoProgress
		default:
			return 0, err
		}
	}
}

// set stores a value as the cell of a row.
func (c *parquetCursor) set(cells slab, stats *Stats, row int, v parquet.Value) {
	switch {
	case c.target == unitField:
		cells.ids[row] = stats.unit(c.names.id(string(c.conv.textOf(v))))
	case cells.floats[c.target] != nil:
		x, what := c.conv.numberOf(v)
		if what != good {
			stats.Columns[c.target].note(what)
			x = c.t.rd.cols[c.target].missing
		}
		cells.floats[c.target][row] = x
	default:
		code, what := c.t.rd.cols[c.target].category(string(c.conv.textOf(v)))
		stats.Columns[c.target].note(what)
		cells.codes[c.target][row] = code
	}
}

func (c *parquetCursor) close() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
	if c.pages != nil {
		c.pages.Close() // again, at worst
	}
	c.check.body.close()
}
