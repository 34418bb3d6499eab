package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/arrowfile"
	"github.com/dptrain/dptrain/internal/tablefile/sheetfile"
)

// Workbooks are converted to CSV lines, and so are Arrow files when a caller needs records as text, so
// that all rules for cells are those of CSV: the same table has the same cells in either format.
// Stored numbers are written in full. Errors of the decoding packages are replaced by messages of
// this package.

// unpackLines returns the lines of a file, including undeclared columns if whole is set. Column names come from a
// schema if the format has one.
func (rd *reader) unpackLines(
	ctx context.Context,
	f io.ReaderAt,
	size int64,
	whole bool,
) (io.Reader, error) {
	at := stoppableAt{ctx, f}
	comma := rd.opts.Format.Decimal == ','
	if rd.format.packed == tablefile.Sheet {
		lines, err := sheetfile.Open(
			at,
			size,
			sheetfile.Options{
				Sheet: rd.opts.Format.Sheet,
				Comma: comma,
				Width: len(rd.opts.Names),
				Skip:  rd.opts.Format.Skip,
				Most:  rd.opts.maxLine(),
				Gaps:  rd.opts.EveryRow,
			},
		)
		if err != nil {
			return nil, rd.openError(ctx, f, size, err)
		}
		return &packedLines{rd, ctx, lines}, nil
	}
	file, declared, err := rd.openArrow(ctx, f, size)
	if err != nil {
		return nil, err
	}
	numeric := map[string]bool{}
	for j := range rd.schema.Columns {
		numeric[rd.schema.Columns[j].Name] = rd.schema.Columns[j].Kind == Numeric
	}
	want := make([]arrowfile.Want, len(file.Fields))
	for i := range file.Fields {
		switch name := file.Fields[i].Name; {
		case numeric[name]:
			want[i] = arrowfile.AsFullText
		case whole || declared[name]:
			want[i] = arrowfile.AsText
		}
	}
	return &packedLines{rd, ctx, file.Lines(want, comma, rd.opts.maxLine())}, nil
}

// packedLines converts the errors of a decoder to those of this package.
type packedLines struct {
	rd  *reader
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (p *packedLines) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF {
		err = p.rd.packedError(p.ctx, err)
	}
	return n, err
}

// openError converts the error about a file that cannot be opened. It names the actual format of a file in
// another format.
func (rd *reader) openError(
	ctx context.Context,
	f io.ReaderAt,
	size int64,
	err error,
) error {
	known := rd.packedError(ctx, err)
	for _, other := range []error{arrowfile.ErrDamaged, arrowfile.ErrForeign, sheetfile.ErrDamaged,
		sheetfile.ErrForeign} {
		if ctx.Err() == nil && errors.Is(err, other) {
			return misnamedFile(rd.path, f, size, known)
		}
	}
	return known
}

// packedError converts an error of the packages that read such files.
func (rd *reader) packedError(ctx context.Context, err error) error {
	e := &FileError{Path: rd.path, Err: ErrCorrupt}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, arrowfile.ErrDamaged):
		e.Msg = "is not a complete Arrow file"
		e.Hint = "copy or write it again"
	case errors.Is(err, arrowfile.ErrFeather1):
		e.Msg = "is a Feather file of version 1"
		e.Hint = "write it with version 2, or as Parquet"
		e.Err = ErrFormat
	case errors.Is(err, arrowfile.ErrForeign):
		e.Msg = "uses an unsupported variant of Arrow"
		e.Hint = "write it little-endian, with LZ4, Zstandard or no compression, or as Parquet"
		e.Err = ErrFormat
	case errors.Is(err, sheetfile.ErrDamaged):
		e.Msg = "is not a complete workbook"
		e.Hint = "copy or save it again"
	case errors.Is(err, sheetfile.ErrForeign):
		e.Msg = "is not an .xlsx workbook, or is password-protected"
		e.Hint = "save it as .xlsx without a password"
		e.Err = ErrFormat
	case errors.Is(err, sheetfile.ErrNoSheet) && rd.opts.Format.Sheet == "":
		e.Msg = "has no sheet with data"
		e.Hint = "save the table as .xlsx again"
		e.Err = ErrFormat
	case errors.Is(err, sheetfile.ErrNoSheet):
		e.Msg = fmt.Sprintf("has no sheet named %q", rd.opts.Format.Sheet)
		e.Err = ErrFormat
		e.Hint = "name one with --sheet, or in a recipe data.format: {sheet: NAME}; the default is the first one"
	case errors.Is(err, arrowfile.ErrTooLarge), errors.Is(err, sheetfile.ErrTooLarge):
		e.Msg = "expands to far more than its size"
		e.Hint = "check that it is the right file"
		e.Err = ErrTooLarge
	default:
		return unreadableError(rd.path, err)
	}
	return e
}

// counterAt counts the bytes read from a file at offsets, at most its size.
type counterAt struct {
	at   io.ReaderAt
	most int64
	sum  counter
}

func (c *counterAt) counter() *counter {
	return &c.sum
}

// ReadAt implements io.ReaderAt.
func (c *counterAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.at.ReadAt(p, at)
	c.sum.n = min(c.most, c.sum.n+int64(n))
	return n, err
}
