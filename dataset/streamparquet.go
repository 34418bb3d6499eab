package dataset

import (
	"context"
	"io"
	"sync"

	"github.com/dptrain/dptrain/internal/parquetfile"
)

// Parquet is streamed with one cursor for each declared column: of each there is what a reader of
// its pages holds, and a batch.

// parquetSegment is the cells of a batch.
type parquetSegment struct {
	index int
	room  slab // for any batch
	cells slab // the rows of this one
	words [][]string
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
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	cursors, err := t.cursors(within)
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range cursors {
			c.Close()
		}
	}()
	if err := to.Begin(Head{Names: names, Size: size}); err != nil {
		return err
	}
	free, out := make(chan slab, rd.opts.workers()+2), make(chan parquetSegment)
	for range cap(free) {
		free <- rd.spareSlab()
	}
	defer func() {
		for len(free) > 0 {
			spare := <-free
			spares.Put(&spare)
		}
	}()
	return inOrder(ctx, cancel, rd.opts.workers(), out,
		func() error { return t.batches(within, cursors, free, out) },
		func() func(parquetSegment) (T, error) {
			return func(s parquetSegment) (T, error) {
				return to.Work(&Batch{Table: s.cells.batch(rd.schema, s.words), Stats: s.stats, Done: s.done, lasts: true})
			}
		},
		func(s parquetSegment, result T) error {
			err := to.Emit(result)
			free <- s.room
			return err
		})
}

// spares are slabs of streams that have ended. A table of many files has one stream after the other.
var spares sync.Pool

// spareSlab returns a slab for a batch.
func (rd *reader) spareSlab() slab {
	if s, ok := spares.Get().(*slab); ok && s.fits(rd.cols, rd.unit(), rd.batchRows()) {
		return *s
	}
	return newSlab(rd.cols, rd.unit(), rd.batchRows())
}

// batches sends the rows of all groups to out.
func (t *parquetTable) batches(ctx context.Context, cursors []cursor, free <-chan slab, out chan<- parquetSegment) error {
	index, read := 0, int64(0)
	for g, left := range t.footer.Groups {
		if of := t.rd.opts.Groups; of[1] > 0 && (g < of[0] || g >= of[1]) {
			continue
		}
		if err := each(ctx, cursors, t.rd.opts, func(c cursor) error { return c.open(g, left) }); err != nil {
			return t.pageError(ctx, err)
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
			err := each(ctx, cursors, t.rd.opts, func(c cursor) error { return c.fill(s.cells, s.stats) })
			if err != nil {
				return t.pageError(ctx, err)
			}
			s.words = t.words(cursors)
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
		if err := each(ctx, cursors, t.rd.opts, cursor.end); err != nil {
			return t.pageError(ctx, err)
		}
	}
	return nil
}

// words returns the lists that the codes of words are of so far.
func (t *parquetTable) words(cursors []cursor) [][]string {
	out := make([][]string, len(t.rd.cols))
	for _, c := range cursors {
		if target, r := c.reads(); r != nil {
			out[target] = r.all.list
		}
	}
	return out
}

// each calls do for all cursors, in parallel: each has its own column of the cells
// and of the counts.
func each(ctx context.Context, cursors []cursor, opts ReadOptions, do func(cursor) error) error {
	return parallel(ctx, opts.workers(), len(cursors), func(_, k int) error { return do(cursors[k]) })
}

// cursor reads a column from the first row to the last.
type cursor interface {
	open(group int, rows int64) error
	fill(to slab, stats *Stats) error
	end() error
	reads() (target int, words *wordReader) // nil for a column whose words are not kept
	Close()
}

// cellCursor is the cursor of cells that go to one of the columns of a slab.
type cellCursor[T any] struct {
	*cells[T]
	target int
	of     func(slab) []T
}

// cursors returns one for each declared column of the file.
func (t *parquetTable) cursors(ctx context.Context) (all []cursor, err error) {
	fields, targets := t.fields()
	columns, err := t.open(ctx, fields, t.declared)
	if err != nil {
		return nil, err
	}
	for k, c := range columns {
		switch target := targets[k]; {
		case target == unitField:
			all = append(all, &cellCursor[uint64]{unitCells(c, t.rd.opts.namer()), target, func(s slab) []uint64 { return s.ids }})
		case t.rd.cols[target].kind == Numeric:
			all = append(all, batches(&cellCursor[float64]{t.numbers(c, target), target, func(s slab) []float64 { return s.floats[target] }}))
		default:
			all = append(all, batches(&cellCursor[int32]{codeCells(c, &t.rd.cols[target]), target, func(s slab) []int32 { return s.codes[target] }}))
		}
	}
	return all, nil
}

// batches gives a cursor a list of words of its own. The cells of a dictionary are made once, and so its words are
// pinned.
func batches[T any](c *cellCursor[T]) *cellCursor[T] {
	if r := c.words; r != nil {
		r.own()
		c.Made = func() { r.pinned = len(r.all.list) }
	}
	return c
}

// open goes to the beginning of a row group, which has a dictionary of its own.
func (c *cellCursor[T]) open(group int, rows int64) error {
	if c.words != nil {
		c.words.pinned = 0
	}
	return c.cells.open(group, rows)
}

func (c *cellCursor[T]) reads() (int, *wordReader) { return c.target, c.words }

// fill reads the column of to.
func (c *cellCursor[T]) fill(to slab, stats *Stats) error {
	if c.words != nil {
		c.words.renew()
	}
	for dst := c.of(to); len(dst) > 0; {
		n, err := c.read(dst)
		if err != nil {
			return err
		}
		dst = dst[n:]
	}
	stats.add(c.target, &c.Tally)
	c.Tally = [parquetfile.Classes]int{}
	return nil
}

// end fails unless a row group is at its end.
func (c *cellCursor[T]) end() error {
	if _, err := c.read(make([]T, 1)); err != io.EOF {
		return parquetfile.ErrDamaged
	}
	return nil
}
