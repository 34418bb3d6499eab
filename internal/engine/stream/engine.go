package stream

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Engine is the engine of a table that need not fit into memory. [Open] writes the cells to a
// scratch file, chunk by chunk, and every pass reads the columns that it needs. Cells have the
// same bits as in a table in memory, and records have the same identities, so all sums are
// equal too.
//
// Memory grows with the number of columns, and by a few hundred bytes per chunk.
type Engine struct {
	schema    dataset.Schema
	file      *scratch.File
	columns   []colblock.Column // of the schema, and of the identities of units if it has a unit
	chunkRows int               // records of a chunk; the last one may have fewer
	chunks    []chunk
	unitMarks []scratch.Place // of each chunk: one bit per record that units keep; nil for all

	rules     []func(float64) float64 // by column, see [Engine.Mapped]; nil for none
	wordBytes int64                   // memory of the words to be found in all chunks

	passes atomic.Int64 // number so far

	mu        sync.Mutex
	states    map[mechanism.State][]storedState // by state: of each chunk
	partMarks map[string][]scratch.Place        // by the cuts of a part: one bit per record of each chunk
	idle      []*chunkReader                    // readers of passes that have ended
}

// chunk is a run of consecutive records.
type chunk struct {
	first     uint64
	rows      int
	*layout                   // shared by all engines of the file
	rewritten []scratch.Place // of columns that were written again, see [Engine.Resolve]; nil for none
}

// layout locates the cells of a chunk: those of each column, then the identities of units, if
// there are units, and the lists of words to be found.
type layout struct {
	row       scratch.Row
	encodings []colblock.Encoding // of the cells of each column
	words     int                 // bytes of the lists of words
}

// columnPlace returns the place and the encoding of column j of a chunk; behind the last column
// those of the identities of units.
func (e *Engine) columnPlace(
	c *chunk,
	j int,
) (scratch.Place, colblock.Encoding) {
	if j < len(c.rewritten) && c.rewritten[j] != (scratch.Place{}) {
		return c.rewritten[j], e.columns[j].Encoding()
	}
	of := c.encodings[j]
	return c.row.Place(j, e.sizeBefore(c, j), of.Size(e.chunkRows)), of
}

// sizeBefore returns the number of bytes of the columns before column j of a chunk as it was
// written.
func (e *Engine) sizeBefore(c *chunk, j int) int {
	n := 0
	for _, of := range c.encodings[:j] {
		n += of.Size(e.chunkRows)
	}
	return n
}

// Empty returns an engine without records. A plan can be checked with it before the table is read.
func Empty(schema dataset.Schema) *Engine {
	return &Engine{schema: schema}
}

// Schema implements [mechanism.Engine].
func (e *Engine) Schema() dataset.Schema {
	return e.schema
}

// Capabilities implements [mechanism.CapableEngine].
func (e *Engine) Capabilities() mechanism.Capabilities {
	return mechanism.Capabilities{
		Gather:      e.Gather,
		GatherLimit: mechanism.FewBytes,
		Buckets:     e.Buckets,
		Concordance: e.Concordance,
		LimitUnits:  e.LimitUnits,
		Lexicon:     e.Lexicon,
		Resolve:     e.Resolve,
		Mapped:      e.Mapped,
	}
}

// Close removes the scratch file. The engine must not be used any more.
func (e *Engine) Close() error {
	return e.file.Close()
}

// Rows returns the number of all records.
func (e *Engine) Rows() int {
	n := 0
	for _, c := range e.chunks {
		n += c.rows
	}
	return n
}

// Forget implements [mechanism.Engine].
func (e *Engine) Forget(s mechanism.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.states[s] {
		for _, place := range c.columns {
			e.file.Release(place)
		}
		for _, t := range slices.Concat(c.groups...) {
			e.file.Release(t.place)
		}
	}
	delete(e.states, s)
}

// Sum implements [mechanism.Engine]. Goroutines take one chunk after the other, each with a total of
// its own. Every other pass, from the first on, runs from the last chunk to the first, which the
// operating system is more likely to have in memory. Errors are those of the context and of the
// scratch file.
func (e *Engine) Sum(ctx context.Context, p mechanism.Pass) ([]int64, error) {
	none := slices.ContainsFunc(p.Part.Cuts, func(c mechanism.Cut) bool {
		return c.None
	})
	workers := max(min(runtime.GOMAXPROCS(0), len(e.chunks)), 1)
	values := make([][]int64, workers)
	errs := make([]error, workers)
	var next atomic.Int64
	var group parallel.Group
	last := -1
	if !none && e.passes.Add(1)%2 == 1 {
		last = len(e.chunks) - 1
	}
	for w := range workers {
		group.Go(func() {
			total := p.Total()
			defer func() {
				values[w] = total.Values()
			}()
			if none {
				return
			}
			r := e.acquireReader()
			for ctx.Err() == nil && errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(e.chunks) {
					e.releaseReader(r)
					return
				}
				if last >= 0 {
					i = last - i
				}
				errs[w] = r.addChunk(ctx, p, i, total)
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p.Merge(values...), nil
}

// Gather implements [mechanism.Capabilities.Gather]. It copies the cells of the part.
func (e *Engine) Gather(
	ctx context.Context,
	p mechanism.Part,
) (dataset.View, error) {
	schema := p.Schema(e.schema)
	columns := make([]dataset.ColumnData, len(schema.Columns))
	for j, c := range schema.Columns {
		columns[j] = dataset.ColumnData{Floats: []float64{}}
		if c.Kind == dataset.Category {
			columns[j] = dataset.ColumnData{Codes: []int32{}}
		}
	}
	ids := []uint64{}
	r := e.acquireReader()
	for i := range e.chunks {
		v, err := r.readPart(ctx, p, i)
		if err != nil {
			return v, err
		}
		b := v.Block(0, v.Len())
		for j := range columns {
			columns[j].Floats = append(columns[j].Floats, b.Float(j, nil)...)
			columns[j].Codes = append(columns[j].Codes, b.Labels(j, nil)...)
		}
		for k := range b.Len() {
			ids = append(ids, b.ID(k))
		}
		if r.err != nil {
			return v, r.err
		}
	}
	return schema.Piece(len(ids), 0, ids, func(j int) dataset.ColumnData {
		return columns[j]
	}).View(), nil
}
