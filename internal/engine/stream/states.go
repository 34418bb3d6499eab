package stream

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// storedState locates the state of the records of a chunk in the scratch file.
type storedState struct {
	begun   bool
	steps   int // that the state has taken
	rows    int // records that a column has space for
	columns []scratch.Place
	groups  [][]taggedGroup // by group and block
}

// taggedGroup locates the columns of a group for one block.
type taggedGroup struct {
	tag   int
	place scratch.Place
}

// storedState returns the location of a state of a chunk.
func (e *Engine) storedState(s mechanism.State, chunk int) *storedState {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.states[s] == nil {
		e.states[s] = make([]storedState, len(e.chunks))
	}
	return &e.states[s][chunk]
}

// columnStore implements [mechanism.ColumnStore] in the scratch file, for the blocks of one chunk
// after the other.
type columnStore struct {
	file   *scratch.File
	buffer []byte
	err    error // the first error of the file; values returned after it must not be used

	state    *storedState
	block    int // index of the current block in the chunk
	firstRow int // of the block in the chunk
	rows     int // of the block
	columns  []storedColumn

	cells  []byte // of the group that is written
	groups [][][]int16
}

// storedColumn is a column of the current chunk.
type storedColumn struct {
	cells  []byte // of all records that the column has space for
	floats []float64
	shorts []int16
	loaded bool
	dirty  bool
}

// sizeClasses is the number of different sizes of the columns of a chunk.
const sizeClasses = 8

// stateRows returns the number of records that the columns of a state have space for in chunk i, for a part
// with the given number of records there. It depends on the number of records, rounded up, only if
// coins alone select the part; otherwise it is that of a whole chunk. The size of the file reveals
// no more than the coins then.
func (r *chunkReader) stateRows(p mechanism.Part, i, rows int) int {
	if i == len(r.chunks)-1 ||
		r.unitMarks != nil || slices.ContainsFunc(p.Cuts, func(c mechanism.Cut) bool {
		return c.Coin == nil
	}) {
		return r.chunkRows
	}
	grain := (r.chunkRows + sizeClasses - 1) / sizeClasses
	return min((rows+grain-1)/grain*grain, r.chunkRows)
}

// blockStates returns two functions for the blocks of a chunk: kept returns the current state of a block, and
// flush writes changed columns to the file. A column has space for the given number of records.
func (cs *columnStore) blockStates(
	s mechanism.StorableState,
	c *storedState,
	rows int,
) (kept func(int, dataset.Block) mechanism.Kept, flush func() error) {
	cs.state = c
	if !c.begun {
		c.rows = rows
	}
	for k := range cs.columns {
		cs.columns[k].loaded = false
		cs.columns[k].dirty = false
	}
	kept = func(i int, b dataset.Block) mechanism.Kept {
		cs.block, cs.firstRow, cs.rows = i, b.Start(), b.Len()
		var k mechanism.StorableBlock
		if c.begun {
			k = s.Open(b.Len(), c.steps, cs)
		} else {
			k = s.BeginStorable(b)
		}
		mechanism.Advance(s, k, c.steps, b)
		k.Store(cs)
		return k
	}
	flush = func() error {
		c.begun = true
		c.steps = s.Steps()
		return cs.writeChanged()
	}
	return kept, flush
}

// writeChanged writes the columns that differ from those in the file.
func (cs *columnStore) writeChanged() error {
	for k := range cs.columns {
		column := &cs.columns[k]
		if !column.dirty {
			continue
		}
		for len(cs.state.columns) <= k {
			cs.state.columns = append(cs.state.columns, scratch.Place{})
		}
		place := &cs.state.columns[k]
		if *place == (scratch.Place{}) {
			*place = cs.file.Reserve(len(column.cells))
		}
		var err error
		if cs.buffer, err = cs.file.Write(place, column.cells, cs.buffer); err != nil {
			return err
		}
	}
	return cs.err
}

// loadColumn returns column k of the current chunk, with cells of width bytes. It reads the column
// if the file has it.
func (cs *columnStore) loadColumn(k, width int) *storedColumn {
	for len(cs.columns) <= k {
		cs.columns = append(cs.columns, storedColumn{})
	}
	column := &cs.columns[k]
	if size := cs.state.rows * width; cap(column.cells) < size+scratch.Overhead {
		*column = storedColumn{cells: make([]byte, size, size+scratch.Overhead)}
	} else {
		column.cells = column.cells[:size]
	}
	if !column.loaded && k < len(cs.state.columns) && cs.state.columns[k] != (scratch.Place{}) {
		data, err := cs.file.Read(cs.state.columns[k], column.cells)
		if err != nil {
			cs.err = err
		} else {
			column.cells = data
		}
	}
	column.loaded = true
	return column
}

// Bytes implements [mechanism.ColumnStore].
func (cs *columnStore) Bytes(k int) []uint8 {
	return cs.loadColumn(k, 1).cells[cs.firstRow : cs.firstRow+cs.rows]
}

// Floats implements [mechanism.ColumnStore].
func (cs *columnStore) Floats(k int) []float64 {
	column := cs.loadColumn(k, 8)
	if cap(column.floats) < cs.rows {
		column.floats = make([]float64, cs.rows)
	}
	column.floats = column.floats[:cs.rows]
	colblock.GetNumbers(column.floats, column.cells[8*cs.firstRow:])
	return column.floats
}

// PutBytes implements [mechanism.ColumnStore].
func (cs *columnStore) PutBytes(k int, x []uint8) {
	column := cs.loadColumn(k, 1)
	column.dirty = true
	copy(column.cells[cs.firstRow:cs.firstRow+cs.rows], x)
}

// PutFloats implements [mechanism.ColumnStore].
func (cs *columnStore) PutFloats(k int, x []float64) {
	column := cs.loadColumn(k, 8)
	column.dirty = true
	colblock.PutNumbers(column.cells[8*cs.firstRow:], x)
}

// Shorts implements [mechanism.ColumnStore].
func (cs *columnStore) Shorts(k int) []int16 {
	column := cs.loadColumn(k, 2)
	if cap(column.shorts) < cs.rows {
		column.shorts = make([]int16, cs.rows)
	}
	column.shorts = column.shorts[:cs.rows]
	colblock.GetNumbers(column.shorts, column.cells[2*cs.firstRow:])
	return column.shorts
}

// PutShorts implements [mechanism.ColumnStore].
func (cs *columnStore) PutShorts(k int, x []int16) {
	column := cs.loadColumn(k, 2)
	column.dirty = true
	colblock.PutNumbers(column.cells[2*cs.firstRow:], x)
}

// Group implements [mechanism.ColumnStore].
func (cs *columnStore) Group(group, tag, columns int) [][]int16 {
	if group >= len(cs.state.groups) || cs.block >= len(cs.state.groups[group]) {
		return nil
	}
	t := cs.state.groups[group][cs.block]
	if t.tag != tag || t.place == (scratch.Place{}) {
		return nil
	}
	data, err := cs.file.Read(t.place, cs.buffer)
	if err != nil {
		cs.err = err
		return nil
	}
	cs.buffer = data
	for len(cs.groups) <= group {
		cs.groups = append(cs.groups, nil)
	}
	to := cs.groups[group]
	for len(to) < columns {
		to = append(to, nil)
	}
	cs.groups[group] = to
	for k := range to[:columns] {
		if cap(to[k]) < cs.rows {
			to[k] = make([]int16, cs.rows)
		}
		to[k] = to[k][:cs.rows]
		colblock.GetNumbers(to[k], data)
		data = data[2*cs.rows:]
	}
	return to[:columns]
}

// PutGroup implements [mechanism.ColumnStore].
func (cs *columnStore) PutGroup(group, tag int, x [][]int16) {
	for len(cs.state.groups) <= group {
		cs.state.groups = append(cs.state.groups, nil)
	}
	blocks := &cs.state.groups[group]
	for len(*blocks) <= cs.block {
		*blocks = append(*blocks, taggedGroup{})
	}
	if size := 2 * len(x) * cs.rows; cap(cs.cells) < size {
		cs.cells = make([]byte, size)
	} else {
		cs.cells = cs.cells[:size]
	}
	for k, column := range x {
		colblock.PutNumbers(cs.cells[2*k*cs.rows:], column)
	}
	t := &(*blocks)[cs.block]
	cs.file.Release(t.place)
	*t = taggedGroup{tag, cs.file.Reserve(len(cs.cells))}
	buffer, err := cs.file.Write(&t.place, cs.cells, cs.buffer)
	if err != nil {
		cs.err = err
	}
	cs.buffer = buffer
}
