package stream

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
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
	free := make(chan *colblock.Cells, workers+1)
	writers := sync.Pool{New: func() any { return &cellWriter{Engine: e} }}
	write := func(c *colblock.Cells, words []byte, to *layout) error {
		w := writers.Get().(*cellWriter)
		defer writers.Put(w)
		return w.writeChunk(c, words, to)
	}
	group := parallel.Group{Panicked: func() { cancel(context.Canceled) }}
	for range workers {
		group.Go(func() {
			for c := range full {
				if err := write(c.cells, c.words, c.layout); err != nil {
					cancel(err)
				}
				free <- c.cells
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
		found:  e.findsWords(),
	}
	var used sync.Pool
	options := s.Options
	options.BatchRows = e.chunkRows
	err := options.Batches(within, s.Path, s.From, e.schema, func(b *dataset.Batch) (any, error) {
		out, ok := used.Get().(*storedBatch)
		if !ok {
			out = &storedBatch{cells: colblock.NewTableCells(e.columns)}
		}
		out.cells.SetTable(b.Table, b.Lasts())
		out.stats = b.Stats
		out.layout = nil
		rows := b.Table.Len()
		if rows < e.chunkRows || b.First < 0 || b.First%int64(e.chunkRows) > 0 || w.found {
			return out, nil
		}
		out.layout = e.newLayout()
		return out, write(out.cells, nil, out.layout)
	}, func(batch any) error {
		defer used.Put(batch)
		return w.appendBatch(batch.(*storedBatch))
	})
	if err == nil && w.cells != nil && w.cells.Rows() > 0 {
		err = w.sendChunk()
	}
	close(full)
	group.Wait()
	for len(free) > 0 {
		(<-free).Release()
	}
	if cause := context.Cause(within); cause != nil && ctx.Err() == nil {
		return cause
	}
	return err
}

// storedBatch contains the cells of a batch.
type storedBatch struct {
	cells  *colblock.Cells
	stats  *dataset.Stats
	layout *layout // of the chunk, if the batch was written as one; else nil
}

// pendingChunk is a chunk that is to be written.
type pendingChunk struct {
	cells  *colblock.Cells
	words  []byte  // encoded lists of words; nil if there are no words to be found
	layout *layout // is filled in
}

// cellWriter writes chunks for one goroutine.
type cellWriter struct {
	*Engine
	encoder colblock.Encoder
	row     scratch.RowWriter
}

// writeChunk writes cells, padded to a full chunk so that the size of the file reveals the number of records less exactly, and
// fills in the layout of the chunk.
func (w *cellWriter) writeChunk(
	c *colblock.Cells,
	words []byte,
	to *layout,
) (err error) {
	places := len(w.columns)
	if words != nil {
		places++
	}
	w.row.Start(w.file, places)
	for j := range w.columns {
		room := w.row.Buffer(colblock.MaxSize(w.chunkRows))
		to.encodings[j] = c.Encode(room, j, w.chunkRows, &w.encoder)
		w.row.Seal(to.encodings[j].Size(w.chunkRows))
	}
	if words != nil {
		w.row.Add(words)
		to.words = len(words)
	}
	to.row, err = w.row.Write()
	return err
}

// chunkWriter assembles records to chunks.
type chunkWriter struct {
	*Engine
	ctx   context.Context // of one call of writeTable
	full  chan<- pendingChunk
	free  chan *colblock.Cells // blocks that can be reused
	made  int                  // number of blocks in use or free
	cells *colblock.Cells      // of the chunk that is assembled; nil if there is none
	found bool                 // whether a column has words to be found
	total int64
	limit int64 // of total
	stats *dataset.Stats
	path  string
}

// appendBatch adds the records of a batch.
func (w *chunkWriter) appendBatch(b *storedBatch) error {
	w.stats.Merge(b.stats)
	if b.layout != nil {
		return w.addChunk(w.chunkRows, b.layout)
	}
	for from := 0; from < b.cells.Rows(); {
		if w.cells == nil {
			if len(w.free) == 0 && w.made < cap(w.free) {
				w.made++
				w.free <- colblock.NewBlock(w.columns, w.chunkRows)
			}
			select {
			case w.cells = <-w.free:
				w.cells.Clear()
			case <-w.ctx.Done():
				return w.ctx.Err()
			}
		}
		n := min(b.cells.Rows()-from, w.chunkRows-w.cells.Rows())
		w.cells.Append(b.cells, from, from+n)
		from += n
		if w.cells.Rows() == w.chunkRows {
			if err := w.sendChunk(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendChunk hands the chunk to a writer.
func (w *chunkWriter) sendChunk() error {
	out := pendingChunk{
		cells:  w.cells,
		layout: w.newLayout(),
	}
	if w.found {
		out.words = w.packWords(w.cells)
	}
	if err := w.addChunk(w.cells.Rows(), out.layout); err != nil {
		return err
	}
	select {
	case w.full <- out:
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
	w.cells = nil
	return nil
}

// newLayout returns the layout of a chunk that is not written yet.
func (e *Engine) newLayout() *layout {
	return &layout{encodings: make([]colblock.Encoding, len(e.columns))}
}

// addChunk adds a chunk to the table.
func (w *chunkWriter) addChunk(rows int, c *layout) error {
	first := uint64(w.total)
	if w.total += int64(rows); w.total > w.limit {
		return mechanism.TooMany(w.path, w.limit)
	}
	w.chunks = append(w.chunks, chunk{
		first:  first,
		rows:   rows,
		layout: c,
	})
	return nil
}
