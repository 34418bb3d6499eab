package dataset

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// Parquet is read column by column, each by one worker, in pieces that are joined
// before the next column begins: the peak is the table and one more column per
// worker. Row counts in the footer are believed only once the values are there.
// Whatever the Parquet library reports or panics with becomes "damaged" in words
// of our own, since its messages may quote the content.

// pieceRows is how many cells of a column are read before more are allocated.
const pieceRows = 1 << 16

// openParquet reads the footer. The file that it returns has no row groups of no rows.
func openParquet(path string, f io.ReaderAt, size int64) (pf *parquet.File, err error) {
	defer guard(path, &err)
	footer, ok := readFooter(f, size)
	if !ok {
		return nil, damagedParquet(path)
	}
	f, size = withoutEmptyGroups(f, size, footer)
	pf, err = parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(1<<18))
	if err != nil {
		return nil, damagedParquet(path)
	}
	return pf, nil
}

// guard turns a panic of the Parquet library on a damaged file into an error.
func guard(path string, err *error) {
	if recover() != nil {
		*err = damagedParquet(path)
	}
}

func damagedParquet(path string) error {
	return &FileError{Path: path, Msg: "is not a complete Parquet file", Hint: "copy or write it again", Err: ErrCorrupt}
}

// parquetNames returns and checks the names of the top-level fields.
func parquetNames(path string, pf *parquet.File) (names []string, err error) {
	defer guard(path, &err)
	if len(pf.Root().Columns()) > maxColumns {
		return nil, tooManyColumns(path, 0)
	}
	for _, c := range pf.Root().Columns() {
		names = append(names, c.Name())
	}
	if len(names) == 0 {
		return nil, &FileError{Path: path, Msg: "has no columns", Err: ErrNoHeader}
	}
	return names, checkNames(path, 0, names)
}

// parquetHeader is Header for Parquet.
func parquetHeader(path string, f io.ReaderAt, size int64) ([]string, error) {
	pf, err := openParquet(path, f, size)
	if err != nil {
		return nil, err
	}
	return parquetNames(path, pf)
}

// parquetTable is one Parquet file being read.
type parquetTable struct {
	rd   *reader
	file *parquet.File
	lay  layout
	rows int
	out  slab

	bytes io.ReaderAt
	size  int64
	large sync.Mutex // one column with a large page at a time, whatever the number of workers
}

// parquet reads a Parquet file.
func (rd *reader) parquet(ctx context.Context, f io.ReaderAt, size int64) (*Table, *Stats, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	t, _, err := rd.openTable(f, size)
	if err != nil {
		return nil, nil, err
	}
	stats, err := t.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	stats.Rows = t.rows
	return t.out.table(rd.schema), stats, nil
}

// openTable reads the footer, and returns the names of the columns of the file.
func (rd *reader) openTable(f io.ReaderAt, size int64) (t *parquetTable, names []string, err error) {
	pf, err := openParquet(rd.path, f, size)
	if err != nil {
		return nil, nil, err
	}
	if names, err = parquetNames(rd.path, pf); err != nil {
		return nil, nil, err
	}
	lay, err := rd.bind(header{names: names})
	if err != nil {
		return nil, nil, err
	}
	t = &parquetTable{rd: rd, file: pf, lay: lay, bytes: f, size: size}
	t.rows, err = t.countRows()
	return t, names, err
}

// countRows adds up what the footer says of its row groups.
func (t *parquetTable) countRows() (rows int, err error) {
	defer guard(t.rd.path, &err)
	var total int64
	for _, g := range t.file.RowGroups() {
		n := g.NumRows()
		if n < 0 {
			return 0, damagedParquet(t.rd.path)
		}
		if total += n; total < 0 || total > maxRows {
			return 0, tooLarge(t.rd.path)
		}
	}
	if total != t.file.NumRows() {
		return 0, damagedParquet(t.rd.path)
	}
	if (total-freeRows)/rowsPerByte > t.size {
		return 0, &FileError{Path: t.rd.path, Msg: fmt.Sprintf("holds more than %d rows for each of its bytes", rowsPerByte), Hint: "check that it is the table that was meant", Err: ErrTooLarge}
	}
	return int(total), nil
}

// read reads the declared columns in parallel.
func (t *parquetTable) read(ctx context.Context) (*Stats, error) {
	t.out = slab{rows: t.rows, floats: make([][]float64, len(t.rd.cols)), codes: make([][]int32, len(t.rd.cols))}
	var fields []int
	for f, target := range t.lay.targets {
		if target != skipField {
			fields = append(fields, f)
		}
	}
	workers := max(1, min(t.rd.opts.workers(), len(fields)))
	stats := make([]*Stats, workers)
	for w := range stats {
		stats[w] = newStats(t.rd.schema)
	}
	err := parallel(ctx, workers, len(fields), func(w, k int) error {
		return t.column(ctx, stats[w], fields[k])
	})
	if err != nil {
		return nil, err
	}
	for _, s := range stats[1:] {
		stats[0].merge(s)
	}
	return stats[0], nil
}

// column reads the field at position f of the file's schema.
func (t *parquetTable) column(ctx context.Context, stats *Stats, f int) (err error) {
	defer guard(t.rd.path, &err)
	target := t.lay.targets[f]
	source := t.file.Root().Columns()[f]
	conv, ok := converterOf(source)
	if !ok {
		return t.unsupported(source, target)
	}
	alone := false
	defer func() {
		if alone {
			t.large.Unlock()
		}
	}()
	err = t.checkColumn(ctx, source, t.declared(target), func() {
		if !alone {
			t.large.Lock()
			alone = true
		}
	})
	if err != nil {
		return err
	}
	switch {
	case target == unitField:
		names := newNamer()
		t.out.ids, err = fillColumn(ctx, t, source, func(v parquet.Value) uint64 {
			return stats.unit(names.id(string(conv.textOf(v))))
		})
	case t.rd.cols[target].kind == Numeric:
		t.out.floats[target], err = fillColumn(ctx, t, source, func(v parquet.Value) float64 {
			x, what := conv.numberOf(v)
			if what != good {
				stats.Columns[target].note(what)
				return t.rd.cols[target].missing
			}
			return x
		})
	default:
		t.out.codes[target], err = fillColumn(ctx, t, source, func(v parquet.Value) int32 {
			code, what := t.rd.cols[target].category(string(conv.textOf(v)))
			stats.Columns[target].note(what)
			return code
		})
	}
	return err
}

// checkColumn scans the pages of a column, which errors call by name, and calls large before a
// large one, if it is set.
func (t *parquetTable) checkColumn(ctx context.Context, source *parquet.Column, name string, large func()) error {
	if void(source) {
		return nil
	}
	check, err := t.pageCheck(source, name)
	if err != nil {
		return err
	}
	defer check.body.close()
	check.large = large
	for _, g := range t.file.Metadata().RowGroups {
		if source.Index() >= len(g.Columns) {
			return damagedParquet(t.rd.path)
		}
		if err := check.chunk(ctx, &g.Columns[source.Index()].MetaData, g.NumRows); err != nil {
			return err
		}
	}
	return nil
}

// pageCheck prepares the check of a column, which errors call by name.
func (t *parquetTable) pageCheck(source *parquet.Column, name string) (pageCheck, error) {
	page := t.rd.opts.pageBytes()
	if c := source.Compression(); c != nil && !readable(c.CompressionCodec()) {
		return pageCheck{}, &FileError{Path: t.rd.path, Msg: fmt.Sprintf("column %q is compressed with %v, which is not supported", name, c.CompressionCodec()),
			Hint: "write it with zstd, snappy or gzip", Err: ErrColumnType}
	}
	return pageCheck{path: t.rd.path, file: t.bytes, size: t.size, width: plainWidth(source.Type()), page: page, body: newPageBody(source, page)}, nil
}

// declared is the name under which the schema knows a column.
func (t *parquetTable) declared(target int) string {
	if target == unitField {
		return t.rd.schema.Unit
	}
	return t.rd.schema.Columns[target].Name
}

// unsupported names a declared column and the type the file gives it.
func (t *parquetTable) unsupported(source *parquet.Column, target int) error {
	typ := "a list or group"
	if source.Leaf() && source.MaxRepetitionLevel() == 0 {
		typ = source.Type().String()
	}
	return &FileError{Path: t.rd.path, Msg: fmt.Sprintf("column %q has the Parquet type %s, which is not supported", t.declared(target), typ),
		Hint: "store it as a number, a boolean or a string", Err: ErrColumnType}
}

// fillColumn converts every value of a column. It fails unless each row group holds
// as many values as it says it has rows.
func fillColumn[T any](ctx context.Context, t *parquetTable, source *parquet.Column, conv func(parquet.Value) T) ([]T, error) {
	if void(source) {
		out := make([]T, t.rows)
		for i := range out {
			out[i] = conv(parquet.Value{})
		}
		return out, nil
	}
	var pieces [][]T
	var piece []T
	total := 0
	add := func(vals []parquet.Value) {
		for _, v := range vals {
			if len(piece) == cap(piece) {
				piece = make([]T, 0, pieceRows)
				pieces = append(pieces, piece)
			}
			piece = append(piece, conv(v))
			pieces[len(pieces)-1] = piece
		}
		total += len(vals)
	}
	want := 0
	for _, g := range t.file.RowGroups() {
		want += int(g.NumRows())
		err := eachPage(ctx, g.ColumnChunks()[source.Index()].Pages(), want-total, add)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || total != want {
			return nil, damagedParquet(t.rd.path)
		}
	}
	out := make([]T, 0, total)
	for k, p := range pieces {
		out = append(out, p...)
		pieces[k] = nil
	}
	return out, nil
}

// eachPage hands the values of a column chunk to add, and stops with an error
// when there are more than limit.
func eachPage(ctx context.Context, pages parquet.Pages, limit int, add func([]parquet.Value)) error {
	defer pages.Close()
	vals := make([]parquet.Value, 1024)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		values := page.Values()
		for err == nil {
			var n int
			n, err = values.ReadValues(vals)
			if limit -= n; limit < 0 || (n == 0 && err == nil) {
				err = io.ErrUnexpectedEOF
				break
			}
			add(vals[:n])
		}
		parquet.Release(page)
		if err != io.EOF {
			return err
		}
	}
}
