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

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/carry"
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
	chunkMost  = 1 << 16
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

// cellWidth returns the bytes of a cell: of a number the bits of a float64, of a category the least that
// hold its code.
func cellWidth(c dataset.Column) int {
	switch n := len(c.Categories); {
	case c.Kind == dataset.Numeric:
		return 8
	case c.Found: // a place in a list of words
		return 4
	case n <= math.MaxUint8:
		return 1
	case n <= math.MaxUint16:
		return 2
	}
	return 4
}

// encoded is the cells of some records, column by column.
type encoded struct {
	rows    int
	columns [][]byte
	words   []batchWords
	stats   *dataset.Stats
}

// batchWords is the words in a column of some records.
type batchWords struct {
	codes []int32  // per record, a place in the list; below 1 where there is no word. Nil if no record has one
	list  []string // the first is none
}

// encode copies the cells of a batch.
func (e *Stream) encode(b *dataset.Batch) (any, error) {
	out := &encoded{b.Table.Len(), make([][]byte, len(e.widths)), make([]batchWords, len(e.widths)), b.Stats}
	for j, width := range e.widths {
		to := make([]byte, 0, out.rows*width)
		if j == len(e.schema.Columns) {
			for k := range out.rows {
				to = binary.LittleEndian.AppendUint64(to, b.Table.ID(k))
			}
			out.columns[j] = to
			continue
		}
		if x := b.Table.Float(j); x != nil {
			to = to[:cap(to)]
			scratch.Put(to, x)
		}
		for _, k := range b.Table.Codes(j) {
			to = appendCode(to, width, int(k))
		}
		out.columns[j] = to
		if list := b.Table.Words(j); len(list) > 1 {
			out.words[j] = batchWords{slices.Clone(b.Table.Data(j).Codes), list} // the batch is used again
		}
	}
	return out, nil
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
	free := make(chan [][]byte, workers+1)
	for range cap(free) {
		free <- e.emptyChunk()
	}
	group := carry.Group{Panicked: func() { cancel(context.Canceled) }}
	for range workers {
		group.Go(func() {
			var room []byte
			for c := range full {
				for j := range c.places {
					data := c.words
					if j < len(c.cells) {
						data = c.cells[j][:cap(c.cells[j])]
					}
					var err error
					if room, err = e.file.Write(&c.places[j], data, room); err != nil {
						cancel(err)
					}
				}
				free <- c.cells
			}
		})
	}
	w := &chunkWriter{Stream: e, ctx: within, full: full, free: free, stats: stats, path: s.Path, limit: cmp.Or(s.Most, MostNarrow), words: make([]*wordList, len(e.widths))}
	for j, c := range e.schema.Columns {
		if c.Found {
			w.words[j], w.found = &wordList{codes: map[string]int32{}}, true
		}
	}
	err := s.Options.Batches(within, s.Path, s.From, e.schema, func(b *dataset.Batch) (any, error) { return e.encode(b) }, w.append)
	if err == nil && w.rows > 0 {
		err = w.flush()
	}
	close(full)
	group.Wait()
	if cause := context.Cause(within); cause != nil && ctx.Err() == nil {
		return cause
	}
	return err
}

// emptyChunk returns memory for the cells of a chunk.
func (e *Stream) emptyChunk() [][]byte {
	out := make([][]byte, len(e.widths))
	for j, width := range e.widths {
		out[j] = make([]byte, 0, e.most*width)
	}
	return out
}

// filled is a chunk to be written.
type filled struct {
	cells  [][]byte
	words  []byte // packed
	places []scratch.Place
}

// chunkWriter puts records together to chunks.
type chunkWriter struct {
	*Stream
	ctx   context.Context // of one call of fill
	full  chan<- filled
	free  <-chan [][]byte
	cells [][]byte // of the chunk that is being filled
	rows  int
	words []*wordList // of the chunk; nil for columns whose words are not kept
	found bool        // whether some are
	total int64
	limit int64 // of total
	stats *dataset.Stats
	path  string
}

// append adds the records of a batch.
func (w *chunkWriter) append(batch any) error {
	b := batch.(*encoded)
	w.stats.Merge(b.stats)
	for from := 0; from < b.rows; {
		if w.cells == nil {
			select {
			case w.cells = <-w.free:
				for j := range w.cells {
					w.cells[j] = w.cells[j][:0]
				}
			case <-w.ctx.Done():
				return w.ctx.Err()
			}
		}
		n := min(b.rows-from, w.most-w.rows)
		for j, width := range w.widths {
			w.cells[j] = append(w.cells[j], b.columns[j][from*width:(from+n)*width]...)
			if words := &b.words[j]; words.codes != nil {
				w.words[j].place(words, from, w.cells[j][w.rows*width:], width)
			}
		}
		w.rows += n
		from += n
		if w.rows == w.most {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush hands the chunk on. It is written at its full length, so that the size of the file tells the
// number of records less exactly.
func (w *chunkWriter) flush() error {
	c := chunk{first: uint64(w.total), rows: w.rows, columns: make([]scratch.Place, len(w.widths))}
	if w.total += int64(w.rows); w.total > w.limit {
		return TooMany(w.path, w.limit)
	}
	for j, width := range w.widths {
		c.columns[j] = w.file.Reserve(w.most * width)
	}
	out := filled{cells: w.cells}
	if w.found {
		out.words = w.pack()
		c.columns = append(c.columns, w.file.Reserve(len(out.words)))
	}
	out.places = c.columns
	select {
	case w.full <- out:
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
	w.chunks = append(w.chunks, c)
	w.cells, w.rows = nil, 0
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
		if err := scratch.ReadNumbers(r.file, c.columns[j], r.floats[j]); err != nil {
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
