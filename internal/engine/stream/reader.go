package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// chunkReader reads chunks for one goroutine.
type chunkReader struct {
	*Engine
	current       int            // index of the chunk of table
	table         *dataset.Table // of the current chunk
	buffer        []byte
	rows          []int32     // of a part
	marks         []byte      // one bit per record of a part
	oppositeMarks []byte      // likewise of the opposite part
	sides         []uint8     // of records under a cut by coins
	loaded        []int       // of each column: the chunk that is loaded, from 1
	floats        [][]float64 // nil before a column is read
	codes         [][]int32
	ids           []uint64
	err           error // the first error of a read
	store         columnStore
}

// acquireReader returns an idle reader or a new one.
func (e *Engine) acquireReader() *chunkReader {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last := len(e.idle) - 1; last >= 0 {
		r := e.idle[last]
		e.idle = e.idle[:last]
		return r
	}
	n := len(e.schema.Columns)
	return &chunkReader{
		Engine: e,
		store:  columnStore{file: e.file},
		loaded: make([]int, n),
		codes:  make([][]int32, n),
	}
}

// releaseReader keeps a reader without an error for another pass, because its buffers are as large as a chunk.
func (e *Engine) releaseReader(r *chunkReader) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.idle = append(e.idle, r)
}

// addChunk adds the records of chunk i to a total of the pass.
func (r *chunkReader) addChunk(
	ctx context.Context,
	p mechanism.Pass,
	i int,
	total *mechanism.Total,
) error {
	v, err := r.readPart(ctx, p.Part, i)
	if err != nil {
		return err
	}
	var kept func(block int, b dataset.Block) mechanism.Kept // nil: computed
	flush := func() error { return nil }
	if x, ok := p.Statistic.(mechanism.Stateful); ok {
		if state, ok := x.State().(mechanism.StorableState); ok && v.Len() > 0 {
			kept, flush = r.store.blockStates(
				state,
				r.storedState(state, i),
				r.stateRows(p.Part, i, v.Len()),
			)
		}
	}
	for k := range p.Blocks(v) {
		if err := ctx.Err(); err != nil {
			return err
		}
		total.AddBlock(v, k, kept)
		if err := errors.Join(r.err, r.store.err); err != nil {
			return err
		}
	}
	return flush()
}

// readPart returns the records of chunk i that belong to a part, with the columns of the part.
func (r *chunkReader) readPart(
	ctx context.Context,
	p mechanism.Part,
	i int,
) (dataset.View, error) {
	v, err := r.readChunk(i)
	if err != nil {
		return v, err
	}
	if len(p.Cuts) > 0 || r.unitMarks != nil {
		if v, err = r.applyCuts(ctx, p.Cuts, v, i); err != nil {
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

// readChunk returns all records of chunk i, whose cells are read when they are needed.
func (r *chunkReader) readChunk(i int) (dataset.View, error) {
	r.current = i
	c := &r.chunks[i]
	ids, err := r.readUnits(c)
	if r.table == nil {
		r.table = r.schema.Piece(0, 0, nil, r.columnData)
	}
	return r.table.Another(c.rows, c.first, ids).View(), err
}

// readUnits returns the identities of the units of a chunk, or nil for a table without units.
func (r *chunkReader) readUnits(c *chunk) ([]uint64, error) {
	if r.schema.Unit == "" {
		return nil, nil
	}
	place, _ := r.columnPlace(c, len(r.schema.Columns))
	data, err := r.file.Read(place, r.buffer)
	if err != nil {
		return nil, err
	}
	r.buffer = data
	r.ids = r.ids[:0]
	for k := range c.rows {
		r.ids = append(r.ids, binary.LittleEndian.Uint64(data[8*k:]))
	}
	return r.ids, nil
}

// applyCuts returns the records of chunk i that units and all cuts keep. They are determined once per part and
// then stored as one bit per record.
func (r *chunkReader) applyCuts(
	ctx context.Context,
	cuts []mechanism.Cut,
	v dataset.View,
	i int,
) (dataset.View, error) {
	key := ""
	for _, c := range cuts {
		key += c.Key()
	}
	place := r.markPlace(key, i)
	if len(cuts) == 0 {
		place = r.unitMarks[i]
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
	if r.unitMarks != nil {
		marks, err := r.file.Read(r.unitMarks[i], nil)
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
			r.marks = r.clearedMarks(r.marks)
			of.Mark(r.marks)
			continue
		}
		r.sides, r.marks, r.oppositeMarks = c.Sides(of, r.sides), r.clearedMarks(r.marks),
			r.clearedMarks(r.oppositeMarks)
		of.MarkSides(r.sides, r.marks, r.oppositeMarks)
		of, r.rows = v.Marked(r.marks, r.rows)
	}
	if err := errors.Join(r.err, ctx.Err()); err != nil {
		return v, err
	}
	if err := r.saveMarks(key, i, r.marks); err != nil {
		return v, err
	}
	if last := len(cuts) - 1; last >= 0 && cuts[last].Coin != nil && !cuts[last].None { // the same coins determine the opposite part
		if err := r.saveMarks(strings.TrimSuffix(key, cuts[last].Key())+cuts[last].Opposite().Key(),
			i, r.oppositeMarks); err != nil {
			return v, err
		}
	}
	return of, nil
}

// clearedMarks returns zero bits for the records of a chunk. It uses buffer if that has the capacity.
func (r *chunkReader) clearedMarks(buffer []byte) []byte {
	marks := slices.Grow(buffer[:0], (r.chunkRows+7)/8)[:(r.chunkRows+7)/8]
	clear(marks)
	return marks
}

// saveMarks stores the marks of chunk i of a part, which is identified by the keys of its cuts.
func (r *chunkReader) saveMarks(key string, i int, marks []byte) error {
	if r.markPlace(key, i) != (scratch.Place{}) {
		return nil
	}
	place := r.file.Reserve(len(marks))
	var err error
	if r.buffer, err = r.file.Write(&place, marks, r.buffer); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partMarks[key][i] = place
	return nil
}

// markPlace returns the place of the marks of a chunk of a part, or the zero place before they are saved.
func (e *Engine) markPlace(key string, chunk int) scratch.Place {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.partMarks[key] == nil {
		e.partMarks[key] = make([]scratch.Place, len(e.chunks))
	}
	return e.partMarks[key][chunk]
}

// setBit sets bit k.
func setBit(bits []byte, k int) {
	bits[k/8] |= 1 << (k % 8)
}
