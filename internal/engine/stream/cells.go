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

// A Source is a table in a file, and where its cells go.
type Source struct {
	Path    string
	From    io.Reader // of standard input; nil: the file at Path
	Options dataset.ReadOptions
	Folder  string // for the scratch file; empty: that of the system
	Chunk   int    // records of a chunk; 0: by the number of columns
	Most    int64  // records of the table; 0: [mechanism.MostNarrow]
}

// The cells of a chunk, and its records. Both depend on the schema alone.
const (
	chunkCells = 1 << 20
	chunkMost  = 1 << 14
	chunkLeast = 1 << 12 // the records of a large block of a pass
)

// Open reads a table once and returns its engine, with what the reader counted, which is private. The
// Errors are those of [dataset.Read] and of the scratch file.
func Open(ctx context.Context, s Source, schema dataset.Schema) (*Engine, *dataset.Stats, error) {
	key, err := secret.FreshKey()
	if err != nil {
		return nil, nil, err
	}
	file, err := scratch.Create(s.Folder, key)
	if err != nil {
		return nil, nil, err
	}
	e := &Engine{schema: schema, file: file, members: map[string][]scratch.Place{}, states: map[mechanism.State][]shelved{}, most: s.Chunk}
	for _, c := range schema.Columns {
		e.widths = append(e.widths, cellWidth(c))
	}
	if schema.Unit != "" {
		e.widths = append(e.widths, 8)
	}
	e.filled = e.widths
	if e.most == 0 {
		e.most = max(min(chunkCells/max(len(e.widths), 1)&^(chunkLeast-1), chunkMost), chunkLeast)
	}
	stats := &dataset.Stats{Columns: make([]dataset.ColumnStats, len(schema.Columns))}
	for j, name := range schema.Names() {
		stats.Columns[j].Name = name
	}
	if err := e.fill(ctx, s, stats); err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return e, stats, nil
}

// wordWidth is the bytes of a place in a list of words.
const wordWidth = 4

// cellWidth returns the bytes of a cell: of a number those of a float64, before it is packed, of a category the least that
// hold its code.
func cellWidth(c dataset.Column) int {
	switch n := c.MissingCode(); {
	case c.Kind == dataset.Numeric:
		return 8
	case c.Found: // a place in a list of words
		return wordWidth
	case n <= math.MaxUint8:
		return 1
	case n <= math.MaxUint16:
		return 2
	}
	return 4
}

// columnCells is the cells of some records, column by column.
type columnCells struct {
	rows   int
	floats [][]float64 // numbers; nil for other columns
	bytes  [][]byte    // all others, each at its width
	leave  func()      // gives memory of numbers back; nil if it is another one's
}

// encoded is the cells of a batch.
type encoded struct {
	columnCells
	own   [][]float64 // memory of numbers that do not last
	words []batchWords
	stats *dataset.Stats
	cells *written // where the batch was written as a whole; nil if it was not
}

// batchWords is the words in a column of some records.
type batchWords struct {
	codes []int32  // per record, a place in the list; below 1 where there is no word. Nil if no record has one
	list  []string // the first is none
}

// encode copies the cells of a batch that do not last, in memory of one that is no longer needed.
func (e *Engine) encode(b *dataset.Batch, used *sync.Pool) *encoded {
	out, ok := used.Get().(*encoded)
	if !ok {
		n := len(e.widths)
		out = &encoded{columnCells: columnCells{floats: make([][]float64, n), bytes: make([][]byte, n)}, own: make([][]float64, n), words: make([]batchWords, n)}
	}
	out.empty()
	clear(out.words)
	for j, width := range e.widths {
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
			out.words[j] = batchWords{slices.Clone(b.Table.Data(j).Codes), list} // the batch is used again
		}
	}
	out.rows, out.stats, out.cells = b.Table.Len(), b.Stats, nil
	return out
}

// room returns memory for so many records.
func (e *Engine) room(rows int) columnCells {
	out := columnCells{bytes: make([][]byte, len(e.widths))}
	out.floats, out.leave = buffers.GetColumns(len(e.widths), rows, e.number)
	for j, width := range e.widths {
		if !e.number(j) {
			out.bytes[j] = make([]byte, 0, rows*width)
		}
	}
	return out
}

// number reports whether a column holds numbers.
func (e *Engine) number(j int) bool {
	return j < len(e.schema.Columns) && e.schema.Columns[j].Kind == dataset.Numeric
}

// appendCode writes a code at its width.
func appendCode(to []byte, width, k int) []byte {
	switch width {
	case 1:
		return append(to, uint8(k))
	case 2:
		return binary.LittleEndian.AppendUint16(to, uint16(k))
	}
	return binary.LittleEndian.AppendUint32(to, uint32(k))
}

// cells returns a column of the current chunk.
func (r *chunkReader) cells(j int) dataset.ColumnData {
	c := &r.chunks[r.at]
	if r.loaded[j] != r.at+1 {
		r.load(j, c)
		r.loaded[j] = r.at + 1
	}
	if r.number(j) {
		return dataset.ColumnData{Floats: r.floats[j][:c.rows]}
	}
	return dataset.ColumnData{Codes: r.codes[j][:c.rows]}
}

// load reads a column of a chunk. After an error the cells are those of another one, and nothing is made
// of them.
func (r *chunkReader) load(j int, c *chunk) {
	if r.schema.Columns[j].Kind == dataset.Numeric {
		if r.floats == nil {
			r.floats, _ = buffers.GetColumns(len(r.widths), r.most, r.number) // as long as the table is used
		}
		if err := r.numbers(r.floats[j], r.place(c, j), c.forms[j], c.rows); err != nil {
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
		r.codes[j] = make([]int32, r.most)
	}
	data, err := r.file.Read(r.place(c, j), r.room)
	if err != nil {
		r.err = err
		return
	}
	r.room = data
	for i := range r.codes[j] {
		switch r.widths[j] {
		case 1:
			r.codes[j][i] = int32(data[i])
		case 2:
			r.codes[j][i] = int32(binary.LittleEndian.Uint16(data[2*i:]))
		default:
			r.codes[j][i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
	}
}

// numbers reads the numbers of a chunk of so many records.
func (r *chunkReader) numbers(to []float64, p scratch.Place, f decimals.Form, rows int) error {
	if f == decimals.AsTheyAre {
		return scratch.ReadNumbers(r.file, p, to)
	}
	data, err := r.file.Read(p, r.room)
	if err != nil {
		return err
	}
	r.room = data
	f.Unpack(to[:rows], data)
	return nil
}
