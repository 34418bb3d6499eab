package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/decimals"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Stream is the engine of a table that need not fit into memory: [Open] writes its cells to a scratch
// file, chunk by chunk, and every pass reads those of the columns that it looks at. The cells are the
// bits that a table in memory holds, and the identities of records are the same. So are all sums.
//
// What is held grows with the number of columns, and by a few hundred bytes per chunk.
type Engine struct {
	schema dataset.Schema
	file   *scratch.File
	widths []int // bytes of a cell of each column, and of the name of a unit
	filled []int // widths when the table was written
	most   int   // records of a chunk, the last one fewer
	chunks []chunk
	kept   []scratch.Place // of each chunk: which records units keep, one bit each; nil: all

	rules     []func(float64) float64 // by column, see [Engine.Mapped]; nil: none
	wordBytes int64                   // that the words of all chunks take in memory, those to be found

	passes atomic.Int64 // so far

	mu      sync.Mutex
	states  map[mechanism.State][]shelved // of each chunk
	members map[string][]scratch.Place    // by the cuts of a part: the records of each chunk that belong to it
	resting []*chunkReader                // of passes that have ended
}

// chunk is some consecutive records.
type chunk struct {
	first    uint64
	rows     int
	*written                 // the same for all engines beside
	others   []scratch.Place // of columns that were written again; nil: none
}

// written is where the cells of a chunk are: by column, then the names of units, if there are units, and the lists of words that
// are to be found.
type written struct {
	row   scratch.Row
	forms []decimals.Form // of numbers, the zero Form for what is none
	words int             // bytes of the lists
}

// place returns where a column of a chunk is, or the names of units.
func (e *Engine) place(c *chunk, j int) scratch.Place {
	if j < len(c.others) && c.others[j] != (scratch.Place{}) {
		return c.others[j]
	}
	before := 0
	for k := range j {
		before += e.size(c, k)
	}
	return c.row.Place(j, before, e.size(c, j))
}

// size returns the bytes of a column of a chunk, as it was written at first.
func (e *Engine) size(c *chunk, j int) int {
	if c.forms[j] != (decimals.Form{}) {
		return c.forms[j].Size(e.most)
	}
	return e.filled[j] * e.most
}

// Empty returns an engine without records, by which a plan can be checked before any is read.
func Empty(schema dataset.Schema) *Engine { return &Engine{schema: schema} }

// Schema implements [mechanism.Engine].
func (e *Engine) Schema() dataset.Schema { return e.schema }

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
func (e *Engine) Close() error { return e.file.Close() }

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
		for _, place := range c.lists {
			e.file.Release(place)
		}
		for _, t := range slices.Concat(c.tagged...) {
			e.file.Release(t.place)
		}
	}
	delete(e.states, s)
}

// Sum implements [mechanism.Engine]: goroutines take one chunk after the other, each with an accumulator of
// its own. Every other pass, the first too, begins at the end, with what the system still has in memory. Errors are those
// of the context and of the scratch file.
func (e *Engine) Sum(ctx context.Context, p mechanism.Pass) ([]int64, error) {
	none := slices.ContainsFunc(p.Part.Cuts, func(c mechanism.Cut) bool { return c.None })
	workers := max(min(runtime.GOMAXPROCS(0), len(e.chunks)), 1)
	values, errs := make([][]int64, workers), make([]error, workers)
	var next atomic.Int64
	var group parallel.Group
	last := -1
	if !none && e.passes.Add(1)%2 == 1 {
		last = len(e.chunks) - 1
	}
	for w := range workers {
		group.Go(func() {
			total := p.Total()
			defer func() { values[w] = total.Values() }()
			if none {
				return
			}
			r := e.reader()
			for ctx.Err() == nil && errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(e.chunks) {
					e.rest(r)
					return
				}
				if last >= 0 {
					i = last - i
				}
				errs[w] = r.add(ctx, p, i, total)
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

// Gather implements [mechanism.Capabilities.Gather], for parts that are known to have few records: it copies their cells.
func (e *Engine) Gather(ctx context.Context, p mechanism.Part) (dataset.View, error) {
	schema := p.Schema(e.schema)
	columns := make([]dataset.ColumnData, len(schema.Columns))
	for j, c := range schema.Columns {
		columns[j] = dataset.ColumnData{Floats: []float64{}}
		if c.Kind == dataset.Category {
			columns[j] = dataset.ColumnData{Codes: []int32{}}
		}
	}
	ids := []uint64{}
	r := e.reader()
	for i := range e.chunks {
		v, err := r.part(ctx, p, i)
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
	return schema.Piece(len(ids), 0, ids, func(j int) dataset.ColumnData { return columns[j] }).All(), nil
}

// chunkReader reads chunks for one goroutine.
type chunkReader struct {
	*Engine
	at     int            // the chunk that cells are of
	piece  *dataset.Table // a chunk
	room   []byte
	rows   []int32     // of a part
	marks  []byte      // of them
	others []byte      // marks of those of the opposite part
	sides  []uint8     // of the records that a coin deals
	loaded []int       // of each column: the chunk that is loaded, from 1
	floats [][]float64 // nil before one is read
	codes  [][]int32
	ids    []uint64
	err    error // the first of a read
	shelf  columnStore
}

// reader returns a reader whose last pass has ended, or a new one.
func (e *Engine) reader() *chunkReader {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last := len(e.resting) - 1; last >= 0 {
		r := e.resting[last]
		e.resting = e.resting[:last]
		return r
	}
	n := len(e.schema.Columns)
	return &chunkReader{Engine: e, shelf: columnStore{file: e.file}, loaded: make([]int, n), codes: make([][]int32, n)}
}

// rest keeps a reader, which has met no error, for another pass: its memory is that of a chunk.
func (e *Engine) rest(r *chunkReader) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.resting = append(e.resting, r)
}

// add adds the records of chunk i to a total of the pass.
func (r *chunkReader) add(ctx context.Context, p mechanism.Pass, i int, total *mechanism.Total) error {
	v, err := r.part(ctx, p.Part, i)
	if err != nil {
		return err
	}
	var kept func(block int, b dataset.Block) mechanism.Kept // nil: computed
	flush := func() error { return nil }
	if x, ok := p.Statistic.(mechanism.Stateful); ok {
		if state, ok := x.State().(mechanism.StorableState); ok && v.Len() > 0 {
			kept, flush = r.shelf.of(state, r.shelved(state, i), r.shelfSpace(p.Part, i, v.Len()))
		}
	}
	for k := range p.Blocks(v) {
		if err := ctx.Err(); err != nil {
			return err
		}
		total.AddBlock(v, k, kept)
		if err := errors.Join(r.err, r.shelf.err); err != nil {
			return err
		}
	}
	return flush()
}

// part returns the records of a chunk that belong to a part, with its columns.
func (r *chunkReader) part(ctx context.Context, p mechanism.Part, i int) (dataset.View, error) {
	v, err := r.all(i)
	if err != nil {
		return v, err
	}
	if len(p.Cuts) > 0 || r.kept != nil {
		if v, err = r.cut(ctx, p.Cuts, v, i); err != nil {
			return v, err
		}
	}
	for _, c := range p.Recoded {
		if slices.Contains(p.Columns, c.Column) {
			v = v.Recode(c.Column, c.As, c.Values)
		}
	}
	return v.Columns(p.Columns), errors.Join(r.err, ctx.Err())
}

// all returns all records of a chunk.
func (r *chunkReader) all(i int) (dataset.View, error) {
	r.at = i
	c := &r.chunks[i]
	ids, err := r.units(c)
	if r.piece == nil {
		r.piece = r.schema.Piece(0, 0, nil, r.cells)
	}
	return r.piece.Another(c.rows, c.first, ids).All(), err
}

// units returns the identities of the units of a chunk, nil if there are none.
func (r *chunkReader) units(c *chunk) ([]uint64, error) {
	if r.schema.Unit == "" {
		return nil, nil
	}
	data, err := r.file.Read(r.place(c, len(r.schema.Columns)), r.room)
	if err != nil {
		return nil, err
	}
	r.room, r.ids = data, r.ids[:0]
	for k := range c.rows {
		r.ids = append(r.ids, binary.LittleEndian.Uint64(data[8*k:]))
	}
	return r.ids, nil
}

// cut returns the records of a chunk that units keep and all cuts. Which these are is found out once, and
// kept as one bit per record.
func (r *chunkReader) cut(ctx context.Context, cuts []mechanism.Cut, v dataset.View, i int) (dataset.View, error) {
	key := ""
	for _, c := range cuts {
		key += c.Key()
	}
	place := r.member(key, i)
	if len(cuts) == 0 {
		place = r.kept[i]
	}
	if place != (scratch.Place{}) {
		marks, err := r.file.Read(place, r.marks)
		if err != nil {
			return v, err
		}
		r.marks = marks
		v, r.rows = v.Marked(marks, r.rows)
		return v, nil
	}
	of := v
	if r.kept != nil {
		marks, err := r.file.Read(r.kept[i], nil)
		if err != nil {
			return v, err
		}
		of, _ = v.Marked(marks, nil)
	}
	for _, c := range cuts {
		if c.Coin == nil || c.None {
			var err error
			if of, _, err = c.Deal(ctx, of); err != nil {
				return v, err
			}
			r.marks = r.noMarks(r.marks)
			of.Mark(r.marks)
			continue
		}
		r.sides, r.marks, r.others = c.Sides(of, r.sides), r.noMarks(r.marks), r.noMarks(r.others)
		of.MarkSides(r.sides, r.marks, r.others)
		of, r.rows = v.Marked(r.marks, r.rows)
	}
	if err := errors.Join(r.err, ctx.Err()); err != nil {
		return v, err
	}
	if err := r.remember(key, i, r.marks); err != nil {
		return v, err
	}
	if last := len(cuts) - 1; last >= 0 && cuts[last].Coin != nil && !cuts[last].None { // the same coins tell who is in the opposite part
		if err := r.remember(strings.TrimSuffix(key, cuts[last].Key())+cuts[last].Opposite().Key(), i, r.others); err != nil {
			return v, err
		}
	}
	return of, nil
}

// noMarks returns marks of no record of a chunk, in room if it has space.
func (r *chunkReader) noMarks(room []byte) []byte {
	marks := slices.Grow(room[:0], (r.most+7)/8)[:(r.most+7)/8]
	clear(marks)
	return marks
}

// remember keeps which records of a chunk belong to a part, by the keys of its cuts.
func (r *chunkReader) remember(key string, i int, marks []byte) error {
	if r.member(key, i) != (scratch.Place{}) {
		return nil
	}
	place := r.file.Reserve(len(marks))
	var err error
	if r.room, err = r.file.Write(&place, marks, r.room); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members[key][i] = place
	return nil
}

// member returns the place of the bits of a chunk, the zero place before they are known.
func (e *Engine) member(key string, chunk int) scratch.Place {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.members[key] == nil {
		e.members[key] = make([]scratch.Place, len(e.chunks))
	}
	return e.members[key][chunk]
}

func setBit(bits []byte, k int) { bits[k/8] |= 1 << (k % 8) }
