package mechanism

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/carry"
	"github.com/dptrain/dptrain/internal/decimals"
	"github.com/dptrain/dptrain/internal/scratch"
)

// fill writes the whole table. A batch that is a chunk is written where it was read. What else there is, is put together to
// chunks, which are encrypted and written by goroutines beside the reader.
func (e *Stream) fill(ctx context.Context, s Source, stats *dataset.Stats) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := runtime.GOMAXPROCS(0)
	full := make(chan filled)
	free := make(chan columnCells, workers+1)
	group := carry.Group{Panicked: func() { cancel(context.Canceled) }}
	for range workers {
		group.Go(func() {
			w := cellWriter{Stream: e}
			for c := range full {
				if err := w.write(&c.columnCells, c.words, &c.chunk); err != nil {
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
	used, writers := sync.Pool{}, sync.Pool{New: func() any { return &cellWriter{Stream: e} }}
	options := s.Options
	options.BatchRows = e.most
	err := options.Batches(within, s.Path, s.From, e.schema, func(b *dataset.Batch) (any, error) {
		out := e.encode(b, &used)
		if out.rows < e.most || b.First < 0 || b.First%int64(e.most) > 0 || w.found {
			return out, nil
		}
		out.chunk = e.newChunk(e.most, len(e.widths))
		writer := writers.Get().(*cellWriter)
		defer writers.Put(writer)
		return out, writer.write(&out.columnCells, nil, &out.chunk)
	}, func(batch any) error {
		defer used.Put(batch)
		return w.append(batch.(*encoded))
	})
	if err == nil && w.cells.rows > 0 {
		err = w.flush()
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

// filled is a chunk to be written, and where it goes.
type filled struct {
	columnCells
	words []byte // packed; nil if none are kept
	chunk chunk  // whose lists are written to
}

// cellWriter writes chunks for one goroutine.
type cellWriter struct {
	*Stream
	packer decimals.Packer
	packed []byte
	sealed []byte
}

// write writes cells at the full length of a chunk, so that the size of the file tells the number of records less exactly. Where
// they are goes to the lists of the chunk.
func (w *cellWriter) write(c *columnCells, words []byte, to *chunk) error {
	for j := range to.columns {
		data := words
		switch {
		case j == len(c.bytes):
		case c.floats[j] != nil:
			data = w.pack(c.floats[j], &to.forms[j])
		default:
			data = c.bytes[j][:w.most*w.widths[j]]
		}
		to.columns[j] = w.file.Reserve(len(data))
		var err error
		if w.sealed, err = w.file.Write(&to.columns[j], data, w.sealed); err != nil {
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
	free  chan columnCells // what was used before
	made  int              // that many are in use or free
	cells columnCells      // of the chunk that is being filled; without columns before there is one
	words []*wordList      // of the chunk; nil for columns whose words are not kept
	found bool             // whether some are
	total int64
	limit int64 // of total
	stats *dataset.Stats
	path  string
}

// append adds the records of a batch.
func (w *chunkWriter) append(b *encoded) error {
	w.stats.Merge(b.stats)
	if b.chunk.columns != nil {
		return w.add(&b.chunk)
	}
	for from := 0; from < b.rows; {
		if w.cells.floats == nil {
			if len(w.free) == 0 && w.made < cap(w.free) {
				w.made++
				w.free <- w.room(w.most)
			}
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
	out, columns := filled{columnCells: w.cells}, len(w.widths)
	if w.found {
		out.words = w.pack()
		columns++
	}
	out.chunk = w.newChunk(w.cells.rows, columns)
	if err := w.add(&out.chunk); err != nil {
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

// newChunk returns a chunk of so many records, which have no places yet.
func (e *Stream) newChunk(rows, columns int) chunk {
	return chunk{rows: rows, columns: make([]scratch.Place, columns), forms: make([]decimals.Form, len(e.widths))}
}

// add adds a chunk to the table.
func (w *chunkWriter) add(c *chunk) error {
	c.first = uint64(w.total)
	if w.total += int64(c.rows); w.total > w.limit {
		return TooMany(w.path, w.limit)
	}
	w.chunks = append(w.chunks, *c)
	return nil
}
