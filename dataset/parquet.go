package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// Parquet is read column by column, each by one worker, in pieces that are joined before the next column
// starts: the peak memory is the table and one more column per worker. Row counts in the footer are trusted
// only once the values have been read. Package parquetfile reads the pages and holds only a few in memory. Its
// errors and those of the Parquet library become "damaged", since messages may quote the content.

// pieceRows is the number of cells of a column that are read before more memory is allocated.
const pieceRows = 1 << 16

// The public limit on rows per byte of the file, and the number of rows that is exempt from it. A run of equal
// values takes the same few bytes regardless of its length, so without a limit a file of two thousand bytes
// could claim the memory of a table of 2^31 rows. The output of gzip for the shortest lines has half as many
// rows per byte.
const (
	rowsPerByte = 1 << 10
	freeRows    = 1 << 20
)

// openParquet reads the footer and the types of the columns.
func openParquet(
	path string,
	f io.ReaderAt,
	size int64,
) (footer *parquetfile.Footer, fields []parquetfile.Field, err error) {
	defer recoverPanic(path, &err)
	footer, ok := parquetfile.ReadFooter(f, size)
	if !ok {
		return nil, nil, misnamedFile(path, f, size, damagedParquet(path))
	}
	if fields, ok = footer.Fields(); !ok {
		return nil, nil, damagedParquet(path)
	}
	return footer, fields, nil
}

// recoverPanic turns a panic of the Parquet library on a damaged file into an error.
func recoverPanic(path string, err *error) {
	if recover() != nil {
		*err = damagedParquet(path)
	}
}

func damagedParquet(path string) error {
	return &FileError{
		Path: path,
		Msg:  "is not a complete Parquet file",
		Hint: "copy or write it again",
		Err:  ErrCorrupt,
	}
}

// parquetNames returns and checks the names of the top-level fields.
func parquetNames(
	path string,
	fields []parquetfile.Field,
) (names []string, err error) {
	if len(fields) > maxColumns {
		return nil, tooManyColumns(path, 0)
	}
	for k := range fields {
		names = append(names, fields[k].Name)
	}
	if len(names) == 0 {
		return nil, &FileError{
			Path: path,
			Msg:  "has no columns",
			Err:  ErrNoHeader,
		}
	}
	return names, checkNames(path, 0, names)
}

// parquetHeader is Header for Parquet.
func parquetHeader(path string, f io.ReaderAt, size int64) ([]string, error) {
	_, fields, err := openParquet(path, f, size)
	if err != nil {
		return nil, err
	}
	return parquetNames(path, fields)
}

// parquetTable is one Parquet file being read.
type parquetTable struct {
	rd      *reader
	footer  *parquetfile.Footer
	columns []parquetfile.Field // the fields of the file's schema
	lay     layout
	rows    int
	out     slab
	small   []*colblock.Packed        // of the columns that are missing from out
	zones   map[string]*time.Location // by column; nil before the first use

	bytes io.ReaderAt
	size  int64
	long  sync.Mutex // one long text at a time, for any number of workers
	large sync.Mutex // one column with a large page at a time
}

// readParquet reads a Parquet file.
func (rd *reader) readParquet(
	ctx context.Context,
	f io.ReaderAt,
	size int64,
) (*Table, *Stats, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	t, _, err := rd.openTable(f, size)
	if err != nil {
		return nil, nil, err
	}
	stats, err := t.readColumns(ctx)
	if err != nil {
		return nil, nil, err
	}
	stats.Rows = t.rows
	out := t.out.newTable(rd.schema, rd.cols)
	out.small = t.small
	return out, stats, nil
}

// openTable reads the footer, and returns the names of the columns of the file.
func (rd *reader) openTable(
	f io.ReaderAt,
	size int64,
) (t *parquetTable, names []string, err error) {
	t = &parquetTable{
		rd:    rd,
		bytes: f,
		size:  size,
	}
	if t.footer, t.columns, err = openParquet(rd.path, f, size); err != nil {
		return nil, nil, err
	}
	if names, err = parquetNames(rd.path, t.columns); err != nil {
		return nil, nil, err
	}
	if t.lay, err = rd.bindColumns(header{names: names}); err != nil {
		return nil, nil, err
	}
	if err := t.checkZones(); err != nil {
		return nil, nil, err
	}
	t.rows, err = t.countRows()
	return t, names, err
}

// showsZone reports whether a column holds moments that may be shown in a time zone.
func showsZone(source *parquetfile.Field) bool {
	stamp, ok := source.Logical.(*format.TimestampType)
	return ok && stamp.IsAdjustedToUTC || source.Type.Kind == format.Int96
}

// zoneOf returns the time zone in which a column is shown, or nil without a known one.
func (t *parquetTable) zoneOf(source *parquetfile.Field) *time.Location {
	if !showsZone(source) {
		return nil
	}
	if t.zones == nil {
		t.zones = timeZones(t.footer)
	}
	return t.zones[source.Name]
}

// checkZones rejects unknown time zones of columns that are read as dates.
func (t *parquetTable) checkZones() error {
	for f, target := range t.lay.targets {
		if target > dateField || !showsZone(&t.columns[f]) {
			continue
		}
		t.zoneOf(&t.columns[f])
		if zone, ok := t.zones[t.columns[f].Name]; ok && zone == nil {
			return &FileError{Path: t.rd.path,
				Msg: fmt.Sprintf("column %q contains times in an unknown time zone",
					t.declaredName(f)),
				Hint: "use an IANA time zone, such as Europe/Berlin, or an offset from UTC, such as +02:00",
				Err:  ErrColumnType}
		}
	}
	return nil
}

// countRows returns the sum of the row counts of the row groups in the footer.
func (t *parquetTable) countRows() (int, error) {
	var total int64
	for _, n := range t.footer.Groups {
		if n < 0 {
			return 0, damagedParquet(t.rd.path)
		}
		if total += n; total < 0 || total > maxRows {
			return 0, tooLarge(t.rd.path)
		}
	}
	if total != t.footer.Rows {
		return 0, damagedParquet(t.rd.path)
	}
	if (total-freeRows)/rowsPerByte > t.size {
		return 0, tooManyPerByte(t.rd.path)
	}
	return int(total), nil
}

// tooManyPerByte reports a file with more rows than its size permits.
func tooManyPerByte(path string) error {
	return &FileError{
		Path: path,
		Msg:  fmt.Sprintf("has more than %d rows for each of its bytes", rowsPerByte),
		Hint: "check that it is the right file",
		Err:  ErrTooLarge,
	}
}

// fieldTargets returns the positions of the fields of the file's schema to read, and for each the table column it is
// read for, or unitField. A field with dates is read once for each part.
func (t *parquetTable) fieldTargets() (fields, targets []int) {
	for f, target := range t.lay.targets {
		switch {
		case target <= dateField:
			for _, p := range t.lay.dates[dateField-target].parts {
				fields = append(fields, f)
				targets = append(targets, p.target)
			}
		case target != skipField:
			fields = append(fields, f)
			targets = append(targets, target)
		}
	}
	return fields, targets
}

// readColumns reads the declared columns in parallel.
func (t *parquetTable) readColumns(ctx context.Context) (*Stats, error) {
	t.out = slab{
		rows:   t.rows,
		floats: make([][]float64, len(t.rd.cols)),
		codes:  make([][]int32, len(t.rd.cols)),
	}
	if t.keepsCompact() {
		t.small = make([]*colblock.Packed, len(t.rd.cols))
	}
	fields, targets := t.fieldTargets()
	columns, err := t.openFields(ctx, fields, t.declaredName)
	if err != nil {
		return nil, err
	}
	workers := max(1, min(t.rd.opts.workerCount(), len(fields)))
	stats := make([]*Stats, workers)
	for w := range stats {
		stats[w] = newStats(t.rd.schema)
	}
	rooms := make([]columnScratch, workers)
	for w := range rooms {
		rooms[w].small.Slab = min(slabBytes, colblock.MaxSize(t.rows)*len(fields)/workers)
	}
	err = runTasks(ctx, workers, len(fields), func(w, k int) error {
		return t.readColumn(ctx, stats[w], columns[k], targets[k], &rooms[w])
	})
	if err != nil {
		return nil, err
	}
	for _, s := range stats[1:] {
		stats[0].addStats(s)
	}
	return stats[0], nil
}

// keepsCompact reports whether numbers are stored in fewer than eight bytes.
func (t *parquetTable) keepsCompact() bool {
	return t.rows >= t.rd.opts.leastCompact() && !t.rd.opts.joined
}

// parquetColumn is a column of a Parquet file.
type parquetColumn struct {
	conv   *converter
	void   bool
	kind   parquetfile.Type
	file   parquetfile.File
	long   *sync.Mutex
	chunks []parquetfile.Chunk // of each row group
}

// openFields prepares the fields of the file's schema at the given positions; name returns the name of a field in
// errors.
func (t *parquetTable) openFields(
	ctx context.Context,
	fields []int,
	name func(f int) string,
) ([]parquetColumn, error) {
	var leaves []int
	place := map[int]int{} // of a leaf among leaves
	out := make([]parquetColumn, len(fields))
	rule := t.rd.opts.Format.numberRule()
	for k, f := range fields {
		source := &t.columns[f]
		conv, ok := converterOf(source, &rule)
		if !ok {
			return nil, t.unsupportedError(source, name(f))
		}
		zone := t.zoneOf(source)
		conv.stored = storedDates(source, zone)
		if text := storedText(source, zone); text != nil {
			conv.readAsText(text)
		}
		conv.applyRule(&rule)
		out[k] = parquetColumn{
			conv: conv,
			void: isVoid(source),
			long: &t.long,
			kind: source.Type,
			file: parquetfile.File{
				At:    stoppableAt{ctx, t.bytes},
				Size:  t.size,
				Whole: t.rd.opts.wholePage(),
			},
		}
		if _, twice := place[source.Leaf]; !twice {
			place[source.Leaf] = len(leaves)
			leaves = append(leaves, source.Leaf)
		}
	}
	chunks, ok := t.footer.Chunks(leaves)
	if !ok {
		return nil, changedError(t.rd.path)
	}
	for k, f := range fields {
		of := chunks[place[t.columns[f].Leaf]]
		for _, c := range of {
			if !out[k].void && !parquetfile.Readable(c.Codec) {
				return nil,
					&FileError{
						Path: t.rd.path,
						Msg: fmt.Sprintf("column %q uses the unsupported compression %v",
							name(f), c.Codec),
						Hint: "write it with zstd, snappy or gzip",
						Err:  ErrColumnType,
					}
			}
		}
		out[k].chunks = of
	}
	return out, nil
}

// columnScratch is memory that is reused for one column after another of a worker.
type columnScratch struct {
	pages parquetfile.Room[float64]
	small colblock.Packer
}

// readColumn reads a column of the table.
func (t *parquetTable) readColumn(
	ctx context.Context,
	stats *Stats,
	c parquetColumn,
	target int,
	room *columnScratch,
) (err error) {
	alone := false
	c.file.Large = func() {
		if !alone {
			t.large.Lock()
			alone = true
		}
	}
	defer func() {
		if alone {
			t.large.Unlock()
		}
	}()
	switch {
	case target == unitField:
		names := unitCells(c, t.rd.opts.unitNamer())
		t.out.ids, err = fillColumn(ctx, t, names)
		stats.addTally(target, &names.Tally)
	case t.rd.cols[target].kind == Numeric:
		numbers := t.readNumbers(c, target)
		numbers.Room = &room.pages
		if numbers.words == nil && t.small != nil {
			t.small[target], err = fillCompact(ctx, t, numbers, &room.small)
		} else {
			t.out.floats[target], err = fillColumn(ctx, t, numbers)
		}
		stats.addTally(target, &numbers.Tally)
	default:
		codes := codeCells(c, &t.rd.cols[target])
		t.out.codes[target], err = fillColumn(ctx, t, codes)
		stats.addTally(target, &codes.Tally)
	}
	return err
}

// readNumbers reads a numeric column of the table.
func (t *parquetTable) readNumbers(
	c parquetColumn,
	target int,
) *cells[float64] {
	if of := &t.rd.schema.Columns[target]; of.isDate() {
		return dateCells(c, of.Date, of.Part, &t.rd.cols[target])
	}
	return numberCells(c, &t.rd.cols[target])
}

// declaredName returns the schema name of a field.
func (t *parquetTable) declaredName(f int) string {
	target := t.lay.targets[f]
	if target <= dateField {
		return t.rd.schema.Columns[t.lay.dates[dateField-target].parts[0].target].Source
	}
	if target == unitField {
		return t.rd.schema.Unit
	}
	return t.rd.schema.Columns[target].Name
}

// unsupportedError returns the error for a declared column whose type in the file is not supported.
func (t *parquetTable) unsupportedError(
	source *parquetfile.Field,
	name string,
) error {
	return &FileError{Path: t.rd.path,
		Msg: fmt.Sprintf("column %q has the unsupported Parquet type %v", name,
			source),
		Hint: "store it as a number, a boolean, a date or a string, or leave the column out with --exclude",
		Err:  ErrColumnType}
}

// pageError converts a failure to read pages to an error about the file.
func (t *parquetTable) pageError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, parquetfile.ErrDictionary):
		return &FileError{
			Path: t.rd.path,
			Hint: "write it again without dictionaries",
			Err:  ErrTooLarge,
			Msg: fmt.Sprintf("has a dictionary of more than %d values for fewer rows",
				parquetfile.MaxDictionary),
		}
	}
	return damagedParquet(t.rd.path)
}
