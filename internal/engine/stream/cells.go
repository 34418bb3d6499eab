package stream

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/numeric/decimals"
	"github.com/dptrain/dptrain/internal/sys/buffers"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Source is a table to be read, and where its cells are written.
type Source struct {
	Path    string
	From    io.Reader // the content; nil for the file at Path
	Options dataset.ReadOptions
	Folder  string // of the scratch file; empty for the temporary folder of the system
	Chunk   int    // records of a chunk; 0 chooses them by the number of columns
	Most    int64  // limit of the number of records; 0 means [mechanism.MostNarrow]
}

// Limits of the size of a chunk. The size depends on the schema only.
const (
	chunkCells = 1 << 20
	chunkMost  = 1 << 14
	chunkLeast = 1 << 12 // the records of a large block of a pass
)

// Open reads a table once into a scratch file. It returns the engine and the statistics of the reader, which are
// private. The errors are those of [dataset.Read] and of the scratch file.
func Open(ctx context.Context, s Source, schema dataset.Schema) (*Engine, *dataset.Stats, error) {
	key, err := secret.FreshKey()
	if err != nil {
		return nil, nil, err
	}
	file, err := scratch.Create(s.Folder, key)
	if err != nil {
		return nil, nil, err
	}
	e := &Engine{
		schema:    schema,
		file:      file,
		partMarks: map[string][]scratch.Place{},
		states:    map[mechanism.State][]storedState{},
		chunkRows: s.Chunk,
	}
	for _, c := range schema.Columns {
		e.cellWidths = append(e.cellWidths, cellWidth(c))
	}
	if schema.Unit != "" {
		e.cellWidths = append(e.cellWidths, 8)
	}
	e.writtenWidths = e.cellWidths
	if e.chunkRows == 0 {
		e.chunkRows = max(
			min(chunkCells/max(len(e.cellWidths), 1)&^(chunkLeast-1), chunkMost),
			chunkLeast,
		)
	}
	stats := &dataset.Stats{Columns: make([]dataset.ColumnStats, len(schema.Columns))}
	for j, name := range schema.Names() {
		stats.Columns[j].Name = name
	}
	if err := e.writeTable(ctx, s, stats); err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return e, stats, nil
}

// wordWidth is the number of bytes of an index into a list of words.
const wordWidth = 4

// cellWidth returns the number of bytes of a cell: 8 for a number, before compression, and otherwise the fewest bytes that
// hold the code of a category.
func cellWidth(c dataset.Column) int {
	switch n := c.MissingCode(); {
	case c.Kind == dataset.Numeric:
		return 8
	case c.Found: // an index into a list of words
		return wordWidth
	case n <= math.MaxUint8:
		return 1
	case n <= math.MaxUint16:
		return 2
	}
	return 4
}

// columnCells contains the cells of some records, column by column.
type columnCells struct {
	rows   int
	floats [][]float64 // numbers; nil for other columns
	bytes  [][]byte    // all others, each at its width
	leave  func()      // releases the memory of floats; nil if it is owned elsewhere
}

// encodedBatch contains the cells of a batch.
type encodedBatch struct {
	columnCells
	own   [][]float64 // copies of numbers that the batch does not keep
	words []batchWords
	stats *dataset.Stats
	cells *layout // of the chunk, if the batch was written as one; else nil
}

// batchWords contains the words in a column of some records.
type batchWords struct {
	codes []int32  // by record, an index into list; below 1 for a cell without a word. Nil if there is no word
	list  []string // the first entry is not a word
}

// encodeBatch converts the cells of a batch, and copies numbers that the batch does not keep. It reuses memory from used.
func (e *Engine) encodeBatch(b *dataset.Batch, used *sync.Pool) *encodedBatch {
	out, ok := used.Get().(*encodedBatch)
	if !ok {
		n := len(e.cellWidths)
		out = &encodedBatch{
			columnCells: columnCells{
				floats: make([][]float64, n),
				bytes:  make([][]byte, n),
			},
			own:   make([][]float64, n),
			words: make([]batchWords, n),
		}
	}
	out.reset()
	clear(out.words)
	for j, width := range e.cellWidths {
		if j == len(e.schema.Columns) {
			for k := range b.Table.Len() {
				out.bytes[j] = binary.LittleEndian.AppendUint64(out.bytes[j], b.Table.ID(k))
			}
			continue
		}
		if out.floats[j] = b.Table.Float(j); !b.Lasts() {
			out.own[j] = append(out.own[j][:0], out.floats[j]...)
			out.floats[j] = out.own[j]
		}
		for _, k := range b.Table.Labels(j) {
			out.bytes[j] = appendCode(out.bytes[j], width, int(k))
		}
		if list := b.Table.Words(j); len(list) > 1 {
			out.words[j] = batchWords{slices.Clone(b.Table.Data(j).Codes), list} // the batch is reused
		}
	}
	out.rows = b.Table.Len()
	out.stats = b.Stats
	out.cells = nil
	return out
}

// newColumns returns empty columns with capacity for the given number of records.
func (e *Engine) newColumns(rows int) columnCells {
	out := columnCells{bytes: make([][]byte, len(e.cellWidths))}
	out.floats, out.leave = buffers.GetColumns(len(e.cellWidths), rows, e.isNumeric)
	for j, width := range e.cellWidths {
		if !e.isNumeric(j) {
			out.bytes[j] = make([]byte, 0, rows*width)
		}
	}
	return out
}

// isNumeric reports whether column j is numeric.
func (e *Engine) isNumeric(j int) bool {
	return j < len(e.schema.Columns) && e.schema.Columns[j].Kind == dataset.Numeric
}

// appendCode appends code k in width bytes.
func appendCode(to []byte, width, k int) []byte {
	switch width {
	case 1:
		return append(to, uint8(k))
	case 2:
		return binary.LittleEndian.AppendUint16(to, uint16(k))
	}
	return binary.LittleEndian.AppendUint32(to, uint32(k))
}

// columnData returns column j of the current chunk.
func (r *chunkReader) columnData(j int) dataset.ColumnData {
	c := &r.chunks[r.current]
	if r.loaded[j] != r.current+1 {
		r.loadColumn(j, c)
		r.loaded[j] = r.current + 1
	}
	if r.isNumeric(j) {
		return dataset.ColumnData{Floats: r.floats[j][:c.rows]}
	}
	return dataset.ColumnData{Codes: r.codes[j][:c.rows]}
}

// loadColumn reads column j of a chunk. After an error, which it stores in r.err, the cells must not be used.
func (r *chunkReader) loadColumn(j int, c *chunk) {
	if r.schema.Columns[j].Kind == dataset.Numeric {
		if r.floats == nil {
			r.floats, _ = buffers.GetColumns(len(r.cellWidths), r.chunkRows, r.isNumeric) // kept as long as the table
		}
		if err := r.readNumbers(r.floats[j], r.columnPlace(c, j), c.forms[j], c.rows); err != nil {
			r.err = err
			return
		}
		if j < len(r.rules) && r.rules[j] != nil {
			for i, x := range r.floats[j][:c.rows] {
				r.floats[j][i] = r.rules[j](x)
			}
		}
		return
	}
	if r.codes[j] == nil {
		r.codes[j] = make([]int32, r.chunkRows)
	}
	data, err := r.file.Read(r.columnPlace(c, j), r.buffer)
	if err != nil {
		r.err = err
		return
	}
	r.buffer = data
	for i := range r.codes[j] {
		switch r.cellWidths[j] {
		case 1:
			r.codes[j][i] = int32(data[i])
		case 2:
			r.codes[j][i] = int32(binary.LittleEndian.Uint16(data[2*i:]))
		default:
			r.codes[j][i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
	}
}

// readNumbers reads the numbers of a column of a chunk.
func (r *chunkReader) readNumbers(to []float64, p scratch.Place, f decimals.Form, rows int) error {
	if f == decimals.AsTheyAre {
		return scratch.ReadNumbers(r.file, p, to)
	}
	data, err := r.file.Read(p, r.buffer)
	if err != nil {
		return err
	}
	r.buffer = data
	f.Unpack(to[:rows], data)
	return nil
}
