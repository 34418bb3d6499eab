package dataset

import (
	"bytes"
	"context"
	"io"
)

// Parquet, Arrow and Excel files are read at offsets, so such a table that comes from a stream is held in memory as a whole.

// holdTable reads r to its end. A table that [HeadingFrom] has held is returned as it is.
func (rd *reader) holdTable(ctx context.Context, r io.Reader) (*bytes.Reader, error) {
	if held, ok := r.(*bytes.Reader); ok && held.Size() == int64(held.Len()) {
		return held, nil
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	all, err := io.ReadAll(newPump(within, r))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, unreadableError(rd.path, err)
	}
	return bytes.NewReader(all), nil
}

// headingAt reads the header of a table that is read at offsets.
func (rd *reader) headingAt(f io.ReaderAt, size int64) (Heading, error) {
	if rd.format.parquet {
		names, err := parquetHeader(rd.path, f, size)
		return Heading{Names: names}, err
	}
	text, err := rd.unpackLines(context.Background(), f, size, false)
	if err != nil {
		return Heading{}, err
	}
	return rd.readHeading(text)
}
