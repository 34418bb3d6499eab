package dataset

import (
	"context"
	"io"

	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// Parquet is streamed with one cursor for each declared column. A cursor holds its pages and a batch.

// storedSegment holds the cells of a batch of a file that stores cells, not text.
type storedSegment struct {
	index int
	room  slab // with room for any batch
	cells slab // the rows of this one
	words [][]string
	stats *Stats
	done  int64
	first int64 // number of records of the table before it
}

func (s storedSegment) segmentIndex() int {
	return s.index
}

// streamParquet is Stream for Parquet.
func streamParquet[T any](
	ctx context.Context,
	rd *reader,
	f io.ReaderAt,
	size int64,
	to Consumer[T],
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, names, err := rd.openTable(f, size)
	if err != nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	cursors, err := t.newCursors(within)
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range cursors {
			c.Close()
		}
	}()
	if err := to.Begin(Head{
		Names: names,
		Size:  size,
	}); err != nil {
		return err
	}
	return streamSegments(ctx, cancel, rd, func(
		free <-chan slab, out chan<- storedSegment,
	) error {
		return t.sendBatches(within, cursors, free, out)
	}, to)
}

// streamSegments passes the batches that send sends to a consumer. The cells of a batch last until
// its result is emitted; then its memory is free.
func streamSegments[T any](
	ctx context.Context,
	cancel func(),
	rd *reader,
	send func(free <-chan slab, out chan<- storedSegment) error,
	to Consumer[T],
) error {
	free := make(chan slab, rd.opts.workerCount())
	out := make(chan storedSegment)
	var leave []func()
	for range cap(free) {
		s, after := roomSlab(rd.cols, rd.hasUnit(), rd.batchRows())
		free <- s
		leave = append(leave, after)
	}
	err := inOrder(ctx, cancel, rd.opts.workerCount(), out,
		func() error { return send(free, out) },
		func() func(storedSegment) (T, error) {
			return func(s storedSegment) (T, error) {
				return to.Work(
					&Batch{
						Table: s.cells.newBatchTable(rd.schema, s.words),
						Stats: s.stats,
						Done:  s.done,
						First: s.first,
						lasts: true,
					})
			}
		},
		func(s storedSegment, result T) error {
			err := to.Emit(result)
			free <- s.room
			return err
		})
	for _, after := range leave { // skipped after a panic, when some are still in use
		after()
	}
	return err
}

// sendBatches sends the rows of all groups to out. A batch may contain the end of one group and the start of
// the next.
func (t *parquetTable) sendBatches(
	ctx context.Context, cursors []cursor, free <-chan slab, out chan<- storedSegment,
) error {
	most := t.rd.batchRows()
	next := most - int(t.rd.opts.before%int64(most)) // number of rows of the next batch
	s := storedSegment{}
	rows := 0
	read := int64(0)
	send := func() error {
		s.cells, s.words = s.room.subSlab(0, rows), t.wordLists(cursors)
		s.first = t.rd.opts.before + read
		s.stats.Rows = rows
		read += int64(rows)
		s.done = int64(float64(t.size) * (float64(read) / float64(t.rows)))
		select {
		case out <- s:
		case <-ctx.Done():
			return ctx.Err()
		}
		s = storedSegment{index: s.index + 1}
		rows = 0
		next = most
		return nil
	}
	for g, left := range t.footer.Groups {
		if of := t.rd.opts.Groups; of[1] > 0 && (g < of[0] || g >= of[1]) {
			continue
		}
		if err := forEachCursor(ctx, cursors, t.rd.opts, func(c cursor) error {
			return c.open(g, left)
		}); err != nil {
			return t.pageError(ctx, err)
		}
		for left > 0 {
			if rows == 0 {
				s.stats = newStats(t.rd.schema)
				select {
				case s.room = <-free:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			n := int(min(left, int64(next-rows)))
			to := s.room.subSlab(rows, rows+n)
			begins := rows == 0
			if err := forEachCursor(ctx, cursors, t.rd.opts, func(c cursor) error {
				return c.fill(to, s.stats, begins)
			}); err != nil {
				return t.pageError(ctx, err)
			}
			left -= int64(n)
			if rows += n; rows == next {
				if err := send(); err != nil {
					return err
				}
			}
		}
		if err := forEachCursor(ctx, cursors, t.rd.opts, cursor.end); err != nil {
			return t.pageError(ctx, err)
		}
	}
	if rows > 0 {
		return send()
	}
	return nil
}

// wordLists returns, by column, the lists of text categories that the codes index so far.
func (t *parquetTable) wordLists(cursors []cursor) [][]string {
	out := make([][]string, len(t.rd.cols))
	for _, c := range cursors {
		if target, r := c.reads(); r != nil {
			out[target] = r.all.list
		}
	}
	return out
}

// forEachCursor calls do for all cursors, in parallel: each has its own column of the cells and of the counts.
func forEachCursor(
	ctx context.Context,
	cursors []cursor,
	opts ReadOptions,
	do func(cursor) error,
) error {
	return runTasks(ctx, opts.workerCount(), len(cursors), func(_, k int) error {
		return do(cursors[k])
	})
}

// cursor reads a column from the first row to the last.
type cursor interface {
	open(group int, rows int64) error
	fill(to slab, stats *Stats, begins bool) error
	end() error
	reads() (target int, words *wordReader) // nil for a column that keeps no text categories
	Close()
}

// cellCursor reads cells into one of the columns of a slab.
type cellCursor[T any] struct {
	*cells[T]
	target int
	of     func(slab) []T
}

// newCursors returns one cursor for each declared column of the file.
func (t *parquetTable) newCursors(ctx context.Context) (all []cursor, err error) {
	fields, targets := t.fieldTargets()
	columns, err := t.openFields(ctx, fields, t.declaredName)
	if err != nil {
		return nil, err
	}
	for k, c := range columns {
		switch target := targets[k]; {
		case target == unitField:
			all = append(all,
				&cellCursor[uint64]{unitCells(c, t.rd.opts.unitNamer()), target,
					func(s slab) []uint64 {
						return s.ids
					}})
		case t.rd.cols[target].kind == Numeric:
			all = append(all,
				batchCursor(
					&cellCursor[float64]{t.readNumbers(c, target), target, func(s slab) []float64 {
						return s.floats[target]
					}}))
		default:
			all = append(all,
				batchCursor(
					&cellCursor[int32]{codeCells(c, &t.rd.cols[target]), target,
						func(s slab) []int32 {
							return s.codes[target]
						}}))
		}
	}
	return all, nil
}

// batchCursor gives a cursor its own list of text categories. The entries of a dictionary are converted only
// once, so their text categories are pinned.
func batchCursor[T any](c *cellCursor[T]) *cellCursor[T] {
	if r := c.words; r != nil {
		r.useOwnList()
		c.Made = func() { r.pinned = len(r.all.list) }
	}
	return c
}

// open moves to the start of a row group, which has a dictionary of its own.
func (c *cellCursor[T]) open(group int, rows int64) error {
	if c.words != nil {
		c.words.pinned = 0
	}
	return c.cells.openGroup(group, rows)
}

func (c *cellCursor[T]) reads() (int, *wordReader) {
	return c.target, c.words
}

// fill reads the column of to, which may be the start of a batch.
func (c *cellCursor[T]) fill(to slab, stats *Stats, begins bool) error {
	if c.words != nil && begins {
		c.words.renewList()
	}
	for dst := c.of(to); len(dst) > 0; {
		n, err := c.readCells(dst)
		if err != nil {
			return err
		}
		dst = dst[n:]
	}
	stats.addTally(c.target, &c.Tally)
	c.Tally = [parquetfile.Classes]int{}
	return nil
}

// end returns an error unless a row group is at its end.
func (c *cellCursor[T]) end() error {
	if _, err := c.readCells(make([]T, 1)); err != io.EOF {
		return parquetfile.ErrDamaged
	}
	return nil
}
