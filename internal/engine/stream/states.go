package stream

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// shelved is what is kept of a state about the records of a chunk.
type shelved struct {
	begun bool
	done  int // steps
	space int // records of the lists, fewer of which are used
	lists []scratch.Place

	tagged [][]tagged // of each group, of each block
}

// tagged is the shorts of a group in a block, as put under a tag.
type tagged struct {
	tag   int
	place scratch.Place
}

// shelved returns what is kept of a state about a chunk.
func (e *Engine) shelved(s mechanism.State, chunk int) *shelved {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.states[s] == nil {
		e.states[s] = make([]shelved, len(e.chunks))
	}
	return &e.states[s][chunk]
}

// columnStore implements [mechanism.ColumnStore] in the scratch file, for the blocks of one chunk after the other.
type columnStore struct {
	file *scratch.File
	room []byte
	err  error // the first of the file; what is returned after it is of no use

	chunk *shelved
	block int // its number in the chunk
	from  int // its first record, in the chunk
	rows  int // of it
	lists []shelfList

	cells  []byte // of a group
	groups [][][]int16
}

// shelfList is a list of one chunk.
type shelfList struct {
	cells  []byte // of all records that there is space for
	floats []float64
	shorts []int16
	loaded bool
	dirty  bool
}

// spaces is how many sizes the lists of a chunk may have.
const spaces = 8

// shelfSpace returns for how many records of a chunk the lists of a state have space, of a part with so many there. Where coins alone
// say who is in the part, these are few more, and else all: the size of the file tells no more than the coins.
func (r *chunkReader) shelfSpace(p mechanism.Part, i, rows int) int {
	if i == len(r.chunks)-1 || r.kept != nil || slices.ContainsFunc(p.Cuts, func(c mechanism.Cut) bool { return c.Coin == nil }) {
		return r.most
	}
	grain := (r.most + spaces - 1) / spaces
	return min((rows+grain-1)/grain*grain, r.most)
}

// of returns what returns what is kept of the blocks of a chunk, up to date, and what writes the changes. Lists have space for so many
// records.
func (h *columnStore) of(s mechanism.StorableState, c *shelved, space int) (kept func(int, dataset.Block) mechanism.Kept, flush func() error) {
	if h.chunk = c; !c.begun {
		c.space = space
	}
	for k := range h.lists {
		h.lists[k].loaded, h.lists[k].dirty = false, false
	}
	kept = func(i int, b dataset.Block) mechanism.Kept {
		h.block, h.from, h.rows = i, b.Start(), b.Len()
		var k mechanism.StorableBlock
		if c.begun {
			k = s.Open(b.Len(), c.done, h)
		} else {
			k = s.BeginStorable(b)
		}
		mechanism.Advance(s, k, c.done, b)
		k.Store(h)
		return k
	}
	return kept, func() error {
		c.begun, c.done = true, s.Steps()
		return h.flush()
	}
}

// flush writes the lists that differ from those in the file.
func (h *columnStore) flush() error {
	for k := range h.lists {
		l := &h.lists[k]
		if !l.dirty {
			continue
		}
		for len(h.chunk.lists) <= k {
			h.chunk.lists = append(h.chunk.lists, scratch.Place{})
		}
		place := &h.chunk.lists[k]
		if *place == (scratch.Place{}) {
			*place = h.file.Reserve(len(l.cells))
		}
		var err error
		if h.room, err = h.file.Write(place, l.cells, h.room); err != nil {
			return err
		}
	}
	return h.err
}

// list returns list k of the current chunk, cells of so many bytes.
func (h *columnStore) list(k, width int) *shelfList {
	for len(h.lists) <= k {
		h.lists = append(h.lists, shelfList{})
	}
	l := &h.lists[k]
	if size := h.chunk.space * width; cap(l.cells) < size+scratch.Overhead {
		*l = shelfList{cells: make([]byte, size, size+scratch.Overhead)}
	} else {
		l.cells = l.cells[:size]
	}
	if !l.loaded && k < len(h.chunk.lists) && h.chunk.lists[k] != (scratch.Place{}) {
		data, err := h.file.Read(h.chunk.lists[k], l.cells)
		if err != nil {
			h.err = err
		} else {
			l.cells = data
		}
	}
	l.loaded = true
	return l
}

// Bytes returns the block of list k.
func (h *columnStore) Bytes(k int) []uint8 {
	return h.list(k, 1).cells[h.from : h.from+h.rows]
}

// Floats returns the block of list k.
func (h *columnStore) Floats(k int) []float64 {
	l := h.list(k, 8)
	if cap(l.floats) < h.rows {
		l.floats = make([]float64, h.rows)
	}
	l.floats = l.floats[:h.rows]
	scratch.GetNumbers(l.floats, l.cells[8*h.from:])
	return l.floats
}

// PutBytes replaces the block of list k.
func (h *columnStore) PutBytes(k int, x []uint8) {
	l := h.list(k, 1)
	l.dirty = true
	copy(l.cells[h.from:h.from+h.rows], x)
}

// PutFloats replaces the block of list k.
func (h *columnStore) PutFloats(k int, x []float64) {
	l := h.list(k, 8)
	l.dirty = true
	scratch.PutNumbers(l.cells[8*h.from:], x)
}

// Shorts returns the block of list k.
func (h *columnStore) Shorts(k int) []int16 {
	l := h.list(k, 2)
	if cap(l.shorts) < h.rows {
		l.shorts = make([]int16, h.rows)
	}
	l.shorts = l.shorts[:h.rows]
	scratch.GetNumbers(l.shorts, l.cells[2*h.from:])
	return l.shorts
}

// PutShorts replaces the block of list k.
func (h *columnStore) PutShorts(k int, x []int16) {
	l := h.list(k, 2)
	l.dirty = true
	scratch.PutNumbers(l.cells[2*h.from:], x)
}

// Group returns the lists of a group, from 0, that were put under a tag for the block, nil if there are none. They are
// valid until the next block.
func (h *columnStore) Group(group, tag, lists int) [][]int16 {
	if group >= len(h.chunk.tagged) || h.block >= len(h.chunk.tagged[group]) {
		return nil
	}
	t := h.chunk.tagged[group][h.block]
	if t.tag != tag || t.place == (scratch.Place{}) {
		return nil
	}
	data, err := h.file.Read(t.place, h.room)
	if err != nil {
		h.err = err
		return nil
	}
	h.room = data
	for len(h.groups) <= group {
		h.groups = append(h.groups, nil)
	}
	to := h.groups[group]
	for len(to) < lists {
		to = append(to, nil)
	}
	h.groups[group] = to
	for k := range to[:lists] {
		if cap(to[k]) < h.rows {
			to[k] = make([]int16, h.rows)
		}
		to[k] = to[k][:h.rows]
		scratch.GetNumbers(to[k], data)
		data = data[2*h.rows:]
	}
	return to[:lists]
}

// PutGroup puts lists of the block under a tag, in the place of those of the group under any other.
func (h *columnStore) PutGroup(group, tag int, x [][]int16) {
	for len(h.chunk.tagged) <= group {
		h.chunk.tagged = append(h.chunk.tagged, nil)
	}
	blocks := &h.chunk.tagged[group]
	for len(*blocks) <= h.block {
		*blocks = append(*blocks, tagged{})
	}
	if size := 2 * len(x) * h.rows; cap(h.cells) < size {
		h.cells = make([]byte, size)
	} else {
		h.cells = h.cells[:size]
	}
	for k, list := range x {
		scratch.PutNumbers(h.cells[2*k*h.rows:], list)
	}
	t := &(*blocks)[h.block]
	h.file.Release(t.place)
	*t = tagged{tag, h.file.Reserve(len(h.cells))}
	room, err := h.file.Write(&t.place, h.cells, h.room)
	if err != nil {
		h.err = err
	}
	h.room = room
}
