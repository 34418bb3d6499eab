package dataset

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// ReadOptions changes how a file is read. The zero value suits most files.
type ReadOptions struct {
	// Format describes how the text of the file is written. For Parquet it only applies to numbers in text
	// columns.
	Format Format
	// Names are the columns of a file without a header line, in its order. For JSON Lines they are the keys, and if
	// they are nil, the columns of the schema are; a CSV file has no header line if they are not nil.
	Names []string
	// Known are names that the caller knows to be in the header, such as that of the target. They resolve
	// ambiguous header lines: a header that consists of numbers is accepted if it contains them, and so is a
	// separator that is not declared.
	Known []string
	// EveryRow makes a record of every row of a workbook between the header and the last row, so that
	// predictions are in the order of rows. Otherwise a row without cells is not a record, because whether it
	// is one would depend on whether others follow it.
	EveryRow bool
	// Workers is the number of goroutines; zero means GOMAXPROCS.
	Workers int
	// ForceSlow reads CSV with encoding/csv alone. The table is the same; tests
	// compare the two.
	ForceSlow bool
	// Groups are the row groups of one Parquet file that [ReadOptions.Batches] reads, from the first up to but
	// excluding the second; zero means all. Groups without rows do not count.
	Groups [2]int
	// BatchRows is the maximum number of records of a batch of [Stream] and [ReadOptions.Batches]; zero means
	// as many as fit. Batches of Parquet are full, except at the end of the last file and of files that do not
	// end at the end of a batch.
	BatchRows int
	// NameKey is the secret key of the digests that identify privacy units; zero means a key of the process.
	// Processes that read parts of one table must use the same key.
	NameKey [32]byte

	chunk int // bytes per task; zero means defaultChunk. Tests reduce it.
	line  int // maximum number of bytes read of a line; zero means longestLine. Tests reduce it; at least 2.
	page  int // maximum size of a Parquet page held in memory; zero means parquetfile.WholePage. Tests reduce it.
	least int // minimum number of rows of a Parquet file for compact numbers; zero means leastCompact. Tests reduce it.

	before int64 // number of records of the files before this one
	noText bool  // [Batch.Text] is not needed
	joined bool  // the table is part of another one, which joins columns that are not compact
}

// longestLine is the number of bytes read of a CSV line. The rest of a longer line is skipped, as if the line
// ended there; a header of that length is rejected. If quotes may contain newlines, a record also ends with the
// line in which it reaches longestLine. The rule depends on one line only, so it does not affect other records,
// and it bounds the memory that one line can take.
const longestLine = 1 << 24

// defaultChunk is the size of the pieces of a file that workers take. A piece fits into a second-level cache
// and costs far more to parse than to distribute.
const defaultChunk = 1 << 20

// unitNamer returns the function that maps unit names to identities.
func (o ReadOptions) unitNamer() *namer {
	if o.NameKey == [32]byte{} {
		return newNamer(secret.NameKey())
	}
	return newNamer(o.NameKey)
}

func (o ReadOptions) workerCount() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o ReadOptions) chunkBytes() int {
	if o.chunk > 0 {
		return o.chunk
	}
	return defaultChunk
}

func (o ReadOptions) maxLine() int {
	if o.line > 0 {
		return o.line
	}
	return longestLine
}

func (o ReadOptions) wholePage() int {
	if o.page > 0 {
		return o.page
	}
	return parquetfile.WholePage
}

func (o ReadOptions) leastCompact() int {
	if o.least > 0 {
		return o.least
	}
	return leastCompact
}

// fileKind is a table format, inferred from the suffix of a file name.
type fileKind struct {
	comma   byte
	coding  string // as in [tablefile.Kind], with decode
	decode  func(io.Reader) (io.Reader, error)
	parquet bool
	json    bool
	packed  tablefile.Packed
}

// needsOffsets reports whether the file is read at offsets.
func (k fileKind) needsOffsets() bool {
	return k.parquet || k.packed != tablefile.NotPacked
}

// formatOf reads the suffix of a path, in either case.
func formatOf(path string) (fileKind, error) {
	if k, _, ok := tablefile.ParsePath(path); ok {
		return fileKind{k.Comma, k.Coding, k.Decode, k.Parquet, k.JSON, k.Packed}, nil
	}
	hint := "name it " + tablefile.Names
	switch strings.ToLower(filepath.Ext(path)) {
	case ".xls", ".xlsb", ".ods":
		hint = "save it as .xlsx, or the sheet as CSV in UTF-8"
	case ".json":
		hint = "write it as JSON Lines, one object per line, and name it .jsonl"
	case ".txt", ".dat", ".data":
		hint = "name it .csv, and set the separator (--separator)"
	}
	return fileKind{},
		&FileError{
			Path: path,
			Msg:  "has an unknown file format",
			Hint: hint,
			Err:  ErrFormat,
		}
}

// reader is one call of Read, ReadFrom or Header.
type reader struct {
	path   string
	format fileKind
	schema Schema
	cols   []column
	opts   ReadOptions
	rule   cell.Rule

	dialect dialect // declared, and completed from the header
	each    bool    // every line is a record, even an empty one; known after the header
	notes   []Note  // about the header
	begins  *head   // the first bytes of a text file, once it is open
	// nameless is whether the text comes without a file name, so messages do not advise another one.
	nameless bool
}

func newReader(
	path string,
	fm fileKind,
	schema Schema,
	opts ReadOptions,
) (*reader, error) {
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	opts.Format = opts.Format.fillNumbers(schema.Numbers)
	if err := opts.Format.validate(); err != nil {
		return nil, err
	}
	if fm.json { // it is self-describing, except for the character set; texts may contain numbers in any notation
		f := opts.Format
		opts.Format = Format{
			Escape:   '"',
			Encoding: f.Encoding,
		}
		opts.Format.SetNumbers(f.Numbers())
		if opts.Names == nil {
			opts.Names = sourcesOf(schema)
		}
	}
	if fm.packed != tablefile.NotPacked { // also self-describing; texts may contain numbers in any notation
		f := opts.Format
		opts.Format = Format{
			Escape: '"',
			Skip:   f.Skip,
			Sheet:  f.Sheet,
		}
		opts.Format.SetNumbers(f.Numbers())
	}
	rd := &reader{
		path:    path,
		format:  fm,
		schema:  schema.Clone(),
		cols:    newColumns(schema, opts.Format.Decimal),
		opts:    opts,
		rule:    opts.Format.numberRule(),
		dialect: opts.Format.dialect(),
	}
	if rd.dialect.comma == 0 {
		rd.dialect.comma = fm.comma
	}
	return rd, nil
}

// hasUnit reports whether rows carry the identity of a declared unit.
func (rd *reader) hasUnit() bool {
	return rd.schema.Unit != ""
}

// Header returns the column names of a file: the first record of a CSV file or sheet, without the blanks around
// names, or the top-level fields of the schema of Parquet or Arrow. It reads no data row. Errors are those of
// [Read] about the header.
func Header(path string, opts ReadOptions) ([]string, error) {
	h, err := ReadHeading(path, opts)
	return h.Names, err
}

// A Heading is the information in the header of a file.
type Heading struct {
	Names []string // of the columns
	Notes []Note   // settings inferred from the header, and warnings
}

// ReadHeading is [Header] with the notes about it.
func ReadHeading(path string, opts ReadOptions) (Heading, error) {
	paths, err := filesOf(path)
	if err != nil {
		return Heading{}, err
	}
	return sameHeader(paths, opts)
}

// fileHeading is ReadHeading for one file.
func fileHeading(path string, opts ReadOptions) (Heading, error) {
	if info, err := os.Stat(path); err == nil &&
		info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeCharDevice) != 0 {
		return Heading{},
			&FileError{
				Path: path,
				Msg:  "cannot be read twice",
				Hint: "copy it to a file first",
				Err:  ErrUnreadable,
			}
	}
	fm, err := formatOf(path)
	if err != nil {
		return Heading{}, err
	}
	rd, err := newReader(path, fm, Schema{}, opts)
	if err != nil {
		return Heading{}, err
	}
	f, size, _, err := openFile(path)
	if err != nil {
		return Heading{}, err
	}
	defer f.Close()
	if fm.needsOffsets() {
		return rd.headingAt(f, size)
	}
	text, err := rd.newSource(f)
	if err != nil {
		return Heading{}, err
	}
	return rd.readHeading(text)
}

// readHeading reads the header of decoded text.
func (rd *reader) readHeading(text io.Reader) (Heading, error) {
	if rd.format.json && len(rd.opts.Names) == 0 {
		return Heading{},
			&FileError{
				Path: rd.path,
				Msg:  "has no header line, and the keys of records are private",
				Hint: "list the columns with --header a,b,c, or in a recipe data.header: [a, b, c]",
				Err:  ErrNoHeader,
			}
	}
	h, err := rd.readHeader(rd.newRecords(text))
	if err != nil {
		return Heading{}, err
	}
	return Heading{Names: h.names, Notes: rd.notes}, nil
}

// Read reads the declared columns of a file. Its suffix determines the format: .csv, .tsv or .jsonl, each
// optionally with .gz, .parquet, .xlsx, or .arrow and .feather. Columns are found by name in the header; others
// are skipped unparsed. A path with *, ? or [ denotes all files that match it. They must have the same header,
// and their records are concatenated in the order of the names. The counts are private, see [Stats].
//
// Errors are a [*FileError], the context's error, or wrap [ErrSchema]. The content of a data row never causes
// one.
func Read(
	ctx context.Context,
	path string,
	schema Schema,
	opts ReadOptions,
) (*Table, *Stats, error) {
	paths, err := filesOf(path)
	if err != nil {
		return nil, nil, err
	}
	if len(paths) > 1 {
		return readFiles(ctx, paths, schema, opts)
	}
	return readFile(ctx, paths[0], schema, opts, nil)
}

// readFile is Read for one file, into columns that may be shared with other files; nil creates them.
func readFile(
	ctx context.Context,
	path string,
	schema Schema,
	opts ReadOptions,
	cols []column,
) (*Table, *Stats, error) {
	fm, err := formatOf(path)
	if err != nil {
		return nil, nil, err
	}
	rd, err := newReader(path, fm, schema, opts)
	if err != nil {
		return nil, nil, err
	}
	if cols != nil {
		rd.cols = cols
	}
	f, size, regular, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if !regular && !fm.needsOffsets() {
		return rd.readPipe(ctx, f)
	}
	var t *Table
	var stats *Stats
	if fm.needsOffsets() {
		t, stats, err = rd.readAtOffsets(ctx, f, size)
	} else {
		t, stats, err = rd.readCSV(ctx, f, f, size)
	}
	if err == nil {
		err = checkUnchanged(path, f, size)
	}
	if err != nil {
		return nil, nil, err
	}
	return t, stats, nil
}

// readAtOffsets reads a table at offsets. f has the given number of bytes.
func (rd *reader) readAtOffsets(
	ctx context.Context,
	f io.ReaderAt,
	size int64,
) (*Table, *Stats, error) {
	switch {
	case rd.format.parquet:
		return rd.readParquet(ctx, f, size)
	case rd.format.packed == tablefile.Arrow && !rd.opts.ForceSlow:
		return rd.readArrow(ctx, f, size)
	}
	lines, err := rd.unpackLines(ctx, f, size, false)
	if err != nil {
		return nil, nil, err
	}
	return rd.readCSV(ctx, lines, nil, 0)
}

// checkUnchanged returns an error if the size of a file differs from its size at opening, for instance because
// another program is appending records.
func checkUnchanged(path string, f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return unreadableError(path, err)
	}
	if info.Size() != size {
		return changedError(path)
	}
	return nil
}

// ReadFrom reads the declared columns of a stream to its end, like [Read]. A name that ends as a path of [Read], such as
// "stdin.tsv", determines the format; any other name means CSV. Parquet, Arrow and Excel files are held in memory. Errors use
// name as the path. A cancelled context ends ReadFrom at once, even while r blocks; one read of r may then still be in
// progress.
func ReadFrom(
	ctx context.Context,
	r io.Reader,
	name string,
	schema Schema,
	opts ReadOptions,
) (*Table, *Stats, error) {
	rd, err := streamReader(name, schema, opts)
	if err != nil {
		return nil, nil, err
	}
	if !rd.format.needsOffsets() {
		return rd.readPipe(ctx, r)
	}
	held, err := rd.holdTable(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	return rd.readAtOffsets(ctx, held, held.Size())
}

// readPipe reads CSV from a source that may block.
func (rd *reader) readPipe(
	ctx context.Context,
	r io.Reader,
) (*Table, *Stats, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	return rd.readCSV(ctx, newPump(within, r), nil, 0)
}

// openFile opens a file for reading. regular is false for pipes and devices, which
// have no size and cannot be read at an offset.
func openFile(path string) (f *os.File, size int64, regular bool, err error) {
	f, err = os.Open(path)
	if err != nil {
		return nil, 0, false, unreadableError(path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &FileError{
			Path: path,
			Msg:  "is a folder",
			Hint: "give the path of a file",
			Err:  ErrUnreadable,
		}
	}
	if err != nil {
		f.Close()
		return nil, 0, false, unreadableError(path, err)
	}
	return f, info.Size(), info.Mode().IsRegular(), nil
}
