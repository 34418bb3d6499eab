package stream

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/decimals"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// writeTable reads and writes the whole table. A batch that is exactly one chunk is written by the goroutine that parsed it.
// Other batches are assembled to chunks, which separate goroutines encrypt and write.
func (e *Engine) writeTable(ctx context.Context, s Source, stats *dataset.Stats) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := runtime.GOMAXPROCS(0)
	full := make(chan pendingChunk)
	free := make(chan columnCells, workers+1)
	writers := sync.Pool{New: func() any { return &cellWriter{Engine: e} }}
	write := func(c *columnCells, words []byte, to *layout) error {
		w := writers.Get().(*cellWriter)
		defer writers.Put(w)
		return w.writeChunk(c, words, to)
	}
	group := parallel.Group{Panicked: func() { cancel(context.Canceled) }}
	for range workers {
		group.Go(func() {
			for c := range full {
				if err := write(&c.columnCells, c.words, c.cells); err != nil {
					cancel(err)
				}
				free <- c.columnCells
			}
		})
	}
	w := &chunkWriter{
		Engine: e,
		ctx:    within,
		full:   full,
		free:   free,
		stats:  stats,
		path:   s.Path,
		limit:  cmp.Or(s.Most, mechanism.MostNarrow),
		words:  make([]*wordList, len(e.cellWidths)),
	}
	for j, c := range e.schema.Columns {
		if c.Found {
			w.words[j] = &wordList{codes: map[string]int32{}}
			w.found = true
		}
	}
	var used sync.Pool
	options := s.Options
	options.BatchRows = e.chunkRows
	err := options.Batches(within, s.Path, s.From, e.schema, func(b *dataset.Batch) (any, error) {
		out := e.encodeBatch(b, &used)
		if out.rows < e.chunkRows || b.First < 0 || b.First%int64(e.chunkRows) > 0 || w.found {
			return out, nil
		}
		out.cells = e.newLayout()
		return out, write(&out.columnCells, nil, out.cells)
	}, func(batch any) error {
		defer used.Put(batch)
		return w.appendBatch(batch.(*encodedBatch))
	})
	if err == nil && w.cells.rows > 0 {
		err = w.sendChunk()
	}
	close(full)
	group.Wait()
	for len(free) > 0 {
		(<-free).leave()
	}
	if cause := context.Cause(within); cause != nil && ctx.Err() == nil {
		return cause
	}
	return err
}

// pendingChunk is a chunk that is to be written.
type pendingChunk struct {
	columnCells
	words []byte  // encoded lists of words; nil if there are no words to be found
	cells *layout // is filled in
}

// cellWriter writes chunks for one goroutine.
type cellWriter struct {
	*Engine
	packer decimals.Packer
	row    scratch.RowWriter
}

// writeChunk writes cells, padded to a full chunk so that the size of the file reveals the number of records less exactly, and
// fills in the layout of the chunk.
func (w *cellWriter) writeChunk(c *columnCells, words []byte, to *layout) (err error) {
	places := len(w.cellWidths)
	if words != nil {
		places++
	}
	w.row.Start(w.file, places)
	for j := range w.cellWidths {
		if c.floats[j] != nil {
			to.forms[j] = w.addNumbers(c.floats[j])
		} else {
			w.row.Add(c.bytes[j][:w.chunkRows*w.cellWidths[j]])
		}
	}
	if words != nil {
		w.row.Add(words)
		to.words = len(words)
	}
	to.row, err = w.row.Write()
	return err
}

// addNumbers adds a column of numbers to the row and returns their encoding.
func (w *cellWriter) addNumbers(x []float64) decimals.Form {
	room := w.row.Buffer(decimals.MostSize(w.chunkRows))
	form, data := w.packer.Pack(room, x, decimals.Form{})
	if form == decimals.AsTheyAre {
		scratch.PutNumbers(room, x)
		data = room[:decimals.MostSize(len(x))]
	}
	size := form.Size(w.chunkRows)
	clear(room[len(data):size])
	w.row.Seal(size)
	return form
}

// chunkWriter assembles records to chunks.
type chunkWriter struct {
	*Engine
	ctx   context.Context // of one call of writeTable
	full  chan<- pendingChunk
	free  chan columnCells // columns that can be reused
	made  int              // number of columnCells in use or free
	cells columnCells      // of the chunk that is assembled; without columns if there is none
	words []*wordList      // of the chunk; nil for columns without words to be found
	found bool             // whether a column has words to be found
	total int64
	limit int64 // of total
	stats *dataset.Stats
	path  string
}

// appendBatch adds the records of a batch.
func (w *chunkWriter) appendBatch(b *encodedBatch) error {
	w.stats.Merge(b.stats)
	if b.cells != nil {
		return w.addChunk(w.chunkRows, b.cells)
	}
	for from := 0; from < b.rows; {
		if w.cells.floats == nil {
			if len(w.free) == 0 && w.made < cap(w.free) {
				w.made++
				w.free <- w.newColumns(w.chunkRows)
			}
			select {
			case w.cells = <-w.free:
				w.cells.reset()
			case <-w.ctx.Done():
				return w.ctx.Err()
			}
		}
		n := min(b.rows-from, w.chunkRows-w.cells.rows)
		for j, width := range w.cellWidths {
			if w.cells.floats[j] != nil {
				w.cells.floats[j] = append(w.cells.floats[j], b.floats[j][from:from+n]...)
			} else {
				w.cells.bytes[j] = append(w.cells.bytes[j],
					b.bytes[j][from*width:(from+n)*width]...)
			}
			if words := &b.words[j]; words.codes != nil {
				w.words[j].writeIndices(words, from, &w.cells, j)
			}
		}
		w.cells.rows += n
		from += n
		if w.cells.rows == w.chunkRows {
			if err := w.sendChunk(); err != nil {
				return err
			}
		}
	}
	return nil
}

// reset removes all records and keeps the memory.
func (c *columnCells) reset() {
	c.rows = 0
	for j := range c.floats {
		c.floats[j] = c.floats[j][:0]
		c.bytes[j] = c.bytes[j][:0]
	}
}

// sendChunk hands the chunk to a writer.
func (w *chunkWriter) sendChunk() error {
	out := pendingChunk{columnCells: w.cells, cells: w.newLayout()}
	if w.found {
		out.words = w.packWords()
	}
	if err := w.addChunk(w.cells.rows, out.cells); err != nil {
		return err
	}
	select {
	case w.full <- out:
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
	w.cells = columnCells{}
	return nil
}

// newLayout returns the layout of a chunk that is not written yet.
func (e *Engine) newLayout() *layout {
	return &layout{forms: make([]decimals.Form, len(e.cellWidths))}
}

// addChunk adds a chunk to the table.
func (w *chunkWriter) addChunk(rows int, c *layout) error {
	first := uint64(w.total)
	if w.total += int64(rows); w.total > w.limit {
		return mechanism.TooMany(w.path, w.limit)
	}
	w.chunks = append(w.chunks, chunk{first: first, rows: rows, layout: c})
	return nil
}
