package dataset

import (
	"context"
	"io"
)

// eachBatch passes the cells of a column to add, in batches that are valid during the call.
func eachBatch[T any](
	ctx context.Context,
	t *parquetTable,
	c *cells[T],
	add func([]T),
) error {
	some := make([]T, 1<<10)
	return eachRead(ctx, t, c, func() []T {
		return some
	}, add)
}

// eachRead reads the cells of a column into the buffer that room returns, which must have space for at least
// one, and passes them to add. It fails unless each row group holds as many values as its row count declares.
func eachRead[T any](
	ctx context.Context,
	t *parquetTable,
	c *cells[T],
	room func() []T,
	add func([]T),
) error {
	defer c.Close()
	for g, rows := range t.footer.Groups {
		err := c.openGroup(g, rows)
		for err == nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			some := room()
			var n int
			if n, err = c.readCells(some); err == nil {
				add(some[:n])
			}
		}
		if err != io.EOF {
			return t.pageError(ctx, err)
		}
	}
	return nil
}

// fillColumn reads every cell of a column, directly into the final slice if the file is large enough for the
// declared rows (see plausible), otherwise piece by piece.
func fillColumn[T any](
	ctx context.Context,
	t *parquetTable,
	c *cells[T],
) ([]T, error) {
	if !t.isPlausible(&c.column) {
		return joinColumn(ctx, t, c)
	}
	out := make([]T, t.rows)
	at := 0
	more := make([]T, 1)
	err := eachRead(ctx, t, c, func() []T {
		if at == len(out) {
			return more // the end, or a surplus row, which is an error of its group
		}
		return out[at:min(at+pieceRows, len(out))]
	}, func(some []T) { at += len(some) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// cellsPerByte is the number of cells per byte of its pages that is accepted before the cells are read. An
// index into a dictionary of two entries takes one bit.
const cellsPerByte = 8

// isPlausible reports whether the pages of a column are large enough for the declared number of rows.
func (t *parquetTable) isPlausible(c *parquetColumn) bool {
	var bytes int64
	for _, chunk := range c.chunks {
		if chunk.Size < 0 || chunk.Size > t.size {
			return false
		}
		bytes += chunk.Size
	}
	return int64(t.rows)/cellsPerByte <= min(bytes, t.size)
}

// joinColumn reads every cell of a column in pieces, and joins them.
func joinColumn[T any](
	ctx context.Context,
	t *parquetTable,
	c *cells[T],
) ([]T, error) {
	var pieces [][]T
	err := eachBatch(ctx, t, c, func(some []T) {
		last := len(pieces) - 1
		if last < 0 || len(some) > cap(pieces[last])-len(pieces[last]) {
			pieces = append(pieces, make([]T, 0, pieceRows))
			last++
		}
		pieces[last] = append(pieces[last], some...)
	})
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, t.rows)
	for k, p := range pieces {
		out = append(out, p...)
		pieces[k] = nil
	}
	return out, nil
}
