package mechanism

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/carry"
	"github.com/dptrain/dptrain/internal/decimals"
	"github.com/dptrain/dptrain/internal/scratch"
)

// A Source is a table in a file, and where its cells go.
type Source struct {
	Path    string
	From    io.Reader // of standard input; nil: the file at Path
	Options dataset.ReadOptions
	Folder  string // for the scratch file; empty: that of the system
	Chunk   int    // records of a chunk; 0: by the number of columns
	Most    int64  // records of the table; 0: [MostNarrow]
}

// The cells of a chunk, and its records. Both depend on the schema alone.
const (
	chunkCells = 1 << 21
	chunkMost  = 1 << 15
	chunkLeast = 1 << 12 // the records of a large block of a pass
)

// Spill reads a table once and returns its engine, with what the reader counted, which is private. The
// Errors are those of [dataset.Read] and of the scratch file.
func Spill(ctx context.Context, s Source, schema dataset.Schema) (*Stream, *dataset.Stats, error) {
	var key [scratch.KeySize]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, nil, err
	}
	file, err := scratch.Create(s.Folder, key)
	if err != nil {
		return nil, nil, err
	}
	e := &Stream{schema: schema, file: file, members: map[string][]scratch.Place{}, states: map[State][]shelved{}, most: s.Chunk}
	for _, c := range schema.Columns {
		e.widths = append(e.widths, cellWidth(c))
	}
	if schema.Unit != "" {
		e.widths = append(e.widths, 8)
	}
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

// cellWidth returns the bytes of a cell: of a number the bits of a float64, of a category the least that
// hold its code.
func cellWidth(c dataset.Column) int {
	switch n := len(c.Categories); {
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
}

// encoded is the cells of a batch.
type encoded struct {
	columnCells
	words []batchWords
	stats *dataset.Stats
}

// batchWords is the words in a column of some records.
type batchWords struct {
	codes []int32  // per record, a place in the list; below 1 where there is no word. Nil if no record has one
	list  []string // the first is none
}

// encode copies the cells of a batch, in memory of one that is no longer needed.
func (e *Stream) encode(b *dataset.Batch, used *sync.Pool) *encoded {
	out, ok := used.Get().(*encoded)
	if !ok {
		out = &encoded{columnCells: e.room(b.Table.Len()), words: make([]batchWords, len(e.widths))}
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
		out.floats[j] = append(out.floats[j], b.Table.Float(j)...)
		for _, k := range b.Table.Codes(j) {
			out.bytes[j] = appendCode(out.bytes[j], width, int(k))
		}
		if list := b.Table.Words(j); len(list) > 1 {
			out.words[j] = batchWords{slices.Clone(b.Table.Data(j).Codes), list} // the batch is used again
		}
	}
	out.rows, out.stats = b.Table.Len(), b.Stats
	return out
}

// room returns memory for so many records.
func (e *Stream) room(rows int) columnCells {
	out := columnCells{floats: make([][]float64, len(e.widths)), bytes: make([][]byte, len(e.widths))}
	for j, width := range e.widths {
		if e.number(j) {
			out.floats[j] = make([]float64, 0, rows)
		} else {
			out.bytes[j] = make([]byte, 0, rows*width)
		}
	}
	return out
}

// number reports whether a column holds numbers.
func (e *Stream) number(j int) bool {
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

// fill writes the whole table. Chunks are encrypted and written by goroutines beside the reader.
func (e *Stream) fill(ctx context.Context, s Source, stats *dataset.Stats) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := runtime.GOMAXPROCS(0)
	full := make(chan filled)
	free := make(chan columnCells, workers+1)
	for range cap(free) {
		free <- e.room(e.most)
	}
	group := carry.Group{Panicked: func() { cancel(context.Canceled) }}
	for range workers {
		group.Go(func() {
			w := cellWriter{file: e.file, most: e.most}
			for c := range full {
				if err := w.write(&c); err != nil {
					cancel(err)
				}
				free <- c.columnCells
			}
		})
	}
	w := &chunkWriter{Stream: e, ctx: within, full: full, free: free, stats: stats, path: s.Path, limit: cmp.Or(s.Most, MostNarrow), words: make([]*wordList, len(e.widths))}
	for j, c := range e.schema.Columns {
		if c.Found {
			w.words[j], w.found = &wordList{codes: map[string]int32{}}, true
		}
	}
	var used sync.Pool
	err := s.Options.Batches(within, s.Path, s.From, e.schema, func(b *dataset.Batch) (any, error) { return e.encode(b, &used), nil }, func(batch any) error {
		defer used.Put(batch)
		return w.append(batch.(*encoded))
	})
	if err == nil && w.cells.rows > 0 {
		err = w.flush()
	}
	close(full)
	group.Wait()
	if cause := context.Cause(within); cause != nil && ctx.Err() == nil {
		return cause
	}
	return err
}

// filled is a chunk to be written, and where it goes.
type filled struct {
	columnCells
	words []byte // packed; nil if none are kept
	chunk chunk  // whose lists are written to
}

// cellWriter writes chunks for one goroutine.
type cellWriter struct {
	file   *scratch.File
	most   int // records of a chunk
	packer decimals.Packer
	packed []byte
	sealed []byte
}

// write writes a chunk at its full length, so that the size of the file tells the number of records less exactly.
func (w *cellWriter) write(c *filled) error {
	for j := range c.chunk.columns {
		data := c.words
		switch {
		case j == len(c.bytes):
		case c.floats[j] != nil:
			data = w.pack(c.floats[j], &c.chunk.forms[j])
		default:
			data = c.bytes[j][:cap(c.bytes[j])]
		}
		c.chunk.columns[j] = w.file.Reserve(len(data))
		var err error
		if w.sealed, err = w.file.Write(&c.chunk.columns[j], data, w.sealed); err != nil {
			return err
		}
	}
	return nil
}

// pack returns the bytes of numbers, and how they are kept.
func (w *cellWriter) pack(x []float64, f *decimals.Form) []byte {
	if w.packed == nil {
		w.packed = make([]byte, decimals.MostSize(w.most))
	}
	form, data := w.packer.Pack(w.packed, x, decimals.Form{})
	*f = form
	if form == decimals.AsTheyAre {
		scratch.Put(w.packed, x)
		data = w.packed[:decimals.MostSize(len(x))]
	}
	size := form.Size(w.most)
	clear(w.packed[len(data):size])
	return w.packed[:size]
}

// chunkWriter puts records together to chunks.
type chunkWriter struct {
	*Stream
	ctx   context.Context // of one call of fill
	full  chan<- filled
	free  <-chan columnCells
	cells columnCells // of the chunk that is being filled; without columns before there is one
	words []*wordList // of the chunk; nil for columns whose words are not kept
	found bool        // whether some are
	total int64
	limit int64 // of total
	stats *dataset.Stats
	path  string
}

// append adds the records of a batch.
func (w *chunkWriter) append(b *encoded) error {
	w.stats.Merge(b.stats)
	for from := 0; from < b.rows; {
		if w.cells.floats == nil {
			select {
			case w.cells = <-w.free:
				w.cells.empty()
			case <-w.ctx.Done():
				return w.ctx.Err()
			}
		}
		n := min(b.rows-from, w.most-w.cells.rows)
		for j, width := range w.widths {
			if w.cells.floats[j] != nil {
				w.cells.floats[j] = append(w.cells.floats[j], b.floats[j][from:from+n]...)
			} else {
				w.cells.bytes[j] = append(w.cells.bytes[j], b.bytes[j][from*width:(from+n)*width]...)
			}
			if words := &b.words[j]; words.codes != nil {
				w.words[j].place(words, from, &w.cells, j)
			}
		}
		w.cells.rows += n
		from += n
		if w.cells.rows == w.most {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// empty makes room for other records.
func (c *columnCells) empty() {
	c.rows = 0
	for j := range c.floats {
		c.floats[j], c.bytes[j] = c.floats[j][:0], c.bytes[j][:0]
	}
}

// flush hands the chunk on.
func (w *chunkWriter) flush() error {
	c := chunk{first: uint64(w.total), rows: w.cells.rows, columns: make([]scratch.Place, len(w.widths)), forms: make([]decimals.Form, len(w.widths))}
	if w.total += int64(c.rows); w.total > w.limit {
		return TooMany(w.path, w.limit)
	}
	out := filled{columnCells: w.cells}
	if w.found {
		out.words = w.pack()
		c.columns = append(c.columns, scratch.Place{})
	}
	out.chunk = c
	select {
	case w.full <- out:
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
	w.chunks = append(w.chunks, c)
	w.cells = columnCells{}
	return nil
}

// cells returns a column of the current chunk.
func (r *chunkReader) cells(j int) dataset.ColumnData {
	c := &r.chunks[r.at]
	if r.loaded[j] != r.at+1 {
		r.load(j, c)
		r.loaded[j] = r.at + 1
	}
	if r.floats[j] != nil {
		return dataset.ColumnData{Floats: r.floats[j][:c.rows]}
	}
	return dataset.ColumnData{Codes: r.codes[j][:c.rows]}
}

// load reads a column of a chunk. After an error the cells are those of another one, and nothing is made
// of them.
func (r *chunkReader) load(j int, c *chunk) {
	if r.schema.Columns[j].Kind == dataset.Numeric {
		if r.floats[j] == nil {
			r.floats[j] = scratch.Make[float64](r.most)
		}
		if err := r.numbers(r.floats[j], c.columns[j], c.forms[j], c.rows); err != nil {
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
	data, err := r.file.Read(c.columns[j], r.room)
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
