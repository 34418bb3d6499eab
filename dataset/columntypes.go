package dataset

import (
	"context"
	"errors"
	"io"

	"github.com/dptrain/dptrain/internal/tablefile"
)

// CheckColumns returns the error, which wraps [ErrColumnType], of a Parquet or Arrow file whose schema gives a
// declared column an unsupported type or compression, such as lists. A path may be a pattern. Other formats
// have no types. No record is read, so that a run can be rejected before any budget is spent; all other errors
// are left to [Read].
func (o ReadOptions) CheckColumns(
	ctx context.Context,
	path string,
	schema Schema,
) error {
	paths, err := filesOf(path)
	if err != nil {
		return nil
	}
	for _, one := range paths {
		if err := checkColumns(ctx, one, schema, o); errors.Is(err, ErrColumnType) {
			return err
		}
	}
	return ctx.Err()
}

// checkColumns is CheckColumns for one file. It returns all errors.
func checkColumns(
	ctx context.Context,
	path string,
	schema Schema,
	opts ReadOptions,
) error {
	format, err := formatOf(path)
	if err != nil || !format.parquet && format.packed != tablefile.Arrow {
		return err
	}
	rd, err := newReader(path, format, schema, opts)
	if err != nil {
		return err
	}
	f, size, regular, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if !regular {
		return nil
	}
	return rd.checkTypes(ctx, f, size)
}

// CheckColumnsFrom is [ReadOptions.CheckColumns] for the rest of a stream that [HeadingFrom] returned, of the same name. The
// rest stays complete.
func (o ReadOptions) CheckColumnsFrom(
	ctx context.Context,
	rest io.Reader,
	name string,
	schema Schema,
) error {
	rd, err := streamReader(name, schema, o)
	if err != nil || !rd.format.parquet && rd.format.packed != tablefile.Arrow {
		return ctx.Err()
	}
	held, err := rd.holdTable(ctx, rest)
	if err != nil {
		return err
	}
	if err := rd.checkTypes(ctx, held, held.Size()); errors.Is(err, ErrColumnType) {
		return err
	}
	return ctx.Err()
}

// checkTypes is CheckColumns for an open file. It returns all errors.
func (rd *reader) checkTypes(ctx context.Context, f io.ReaderAt, size int64) error {
	if !rd.format.parquet {
		_, err := rd.unpackLines(ctx, f, size, false)
		return err
	}
	table, _, err := rd.openTable(f, size)
	if err != nil {
		return err
	}
	fields, _ := table.fieldTargets()
	_, err = table.openFields(ctx, fields, table.declaredName)
	return err
}
